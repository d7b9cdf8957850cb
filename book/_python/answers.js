// Answers and verdicts of tasks, kept in this browser.

const KEEP = "softlookup-in-page";

export const make = (tag, text = "", more = {}) => Object.assign(document.createElement(tag), { textContent: text, ...more });

// The notebook's number in a task's id.
export const chapter = (id) => Number(id.split(".")[0]);

let held = {}; // what a browser that keeps nothing still knows until the page is left
export function kept() {
  try { return JSON.parse(localStorage.getItem(KEEP)) ?? {}; } catch { return held; }
}
export function keep(id, record) {
  held = { ...kept(), [id]: record };
  if (!record) delete held[id];
  try { localStorage.setItem(KEEP, JSON.stringify(held)); } catch { /* kept until the page is left */ }
}

// Call something when answers have changed elsewhere: in another tab, or while this page waited in the browser's memory.
export function whenChanged(call) {
  window.addEventListener("storage", (event) => (event.key === KEEP || event.key === null) && call());
  window.addEventListener("pageshow", (event) => event.persisted && call());
}
