// Cells of a chapter that can be run and changed get a door.

import { make } from "./answers.js";
import { opener } from "./door.js";
import { script } from "./scripts.js";

// Give the cells that run without torch their buttons; `softlookupCells` says which of those shown they are.
export function cells() {
  const { page, shown, at } = globalThis.softlookupCells ?? {};
  const inputs = [...document.querySelectorAll(".bd-article div.cell_input")];
  if (inputs.length !== shown) return;
  for (const [place, number] of Object.entries(at)) door(inputs[place], page, number);
}

function door(input, page, number) {
  const line = make("p", "", { className: "slp-doors slp-try" });
  const load = () => script(`cells_${page}.js`);
  const [button, state] = opener(line, load, null, ({ cellBox }) => cellBox(input, line, page, number));
  button.textContent = "Try it";
  line.append(button, state);
  input.after(line);
}
