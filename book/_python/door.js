// The door to an editor: a button that loads it, and Python beforehand when a reader comes near.

import { make } from "./answers.js";
import { script } from "./scripts.js";

const RESTING = 150; // milliseconds for which a pointer that only passes by is not near

// The editors and what belongs to them.
export const editing = () => script("editor.js").then(() => globalThis.softlookupEditor);

// Load Python, and the questions of a notebook, unless the reader's browser is to save data.
const warm = (chapter) => {
  if (!navigator.connection?.saveData) editing().then((all) => all.warm(chapter), () => {}); // said at the press
};

// Do so once a pointer or the focus is near a place.
export function near(place, chapter) {
  let timer = 0;
  place.addEventListener("pointerenter", () => { timer = setTimeout(warm, RESTING, chapter); });
  place.addEventListener("pointerleave", () => clearTimeout(timer));
  place.addEventListener("focusin", () => warm(chapter));
}

// A button in a place, with a line for what happens meanwhile: pressed, it loads the editor and what `load` asks for
// besides, and hands both to `open`.
export function opener(place, load, chapter, open) {
  const button = make("button", "", { type: "button", className: "slp-open" });
  const state = make("span", "", { className: "slp-state" });
  state.setAttribute("role", "status");
  button.onclick = async () => {
    button.disabled = true;
    state.textContent = "Loading the editor …";
    try {
      const [all] = await Promise.all([editing(), load()]);
      state.textContent = "";
      warm(chapter);
      await open(all);
    } catch (error) {
      state.textContent = error.message;
    }
    button.disabled = false;
  };
  near(place, chapter);
  return [button, state];
}
