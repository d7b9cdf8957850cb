// Answers and verdicts of tasks, kept in this browser.

const NAME = "in-page";
const storage = globalThis.softlookupKept; // of _static/kept.js

export const make = (tag, text = "", more = {}) => Object.assign(document.createElement(tag), { textContent: text, ...more });

// The notebook's number in a task's id.
export const chapter = (id) => Number(id.split(".")[0]);

export const kept = () => storage.read(NAME);
export function keep(id, record) {
  const all = { ...kept(), [id]: record };
  if (!record) delete all[id];
  storage.write(NAME, all);
}

// The answer that counts: the one that passed, whatever was tried after it.
export const sound = (answer) => answer?.passed ?? answer?.source;

// Call something when answers have changed elsewhere: in another tab, or while this page waited in the browser's memory.
export function whenChanged(call) {
  window.addEventListener("storage", (event) => (event.key === storage.key(NAME) || event.key === null) && call());
  window.addEventListener("pageshow", (event) => event.persisted && call());
}
