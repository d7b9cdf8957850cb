// Cells of a chapter that can be run and changed: the page's earlier cells run before them.

import { make } from "./answers.js";
import { box, opener } from "./box.js";
import { ask } from "./engine.js";
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
  const [button, state] = opener(() => script(`cells_${page}.js`), () => {
    const sources = globalThis.softlookupSources[page];
    const blank = sources[number];
    const printed = input.parentElement.querySelector(":scope > .cell_output:not(:has(img, svg))"); // not said twice
    const run = async (source, say) => {
      say("Running …");
      const found = await ask({ do: "run", cells: [...sources.slice(0, number), source] });
      if (printed && !found.error) printed.hidden = true;
      const nothing = !found.printed && !found.error && !found.tables.length;
      return { ...found, ...(nothing ? { state: "It ran, and shows nothing." } : {}) };
    };
    const { form, editor, begin } = box({ id: `cell-${number}`, text: blank, blank, label: `Code of cell ${number + 1} of the page`, verb: "Run", run });
    input.hidden = true;
    line.replaceWith(form);
    editor.focus();
    begin();
  });
  button.textContent = "Try it";
  line.append(button, state);
  input.after(line);
}
