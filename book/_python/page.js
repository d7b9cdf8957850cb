// Tasks done where they are read: on a page of exercises each answer cell can become an editor with a check, and in a
// chapter the boxes "Now you" open the tasks that they name. Until somebody presses a button, nothing is loaded.

import { chapter, kept, make, whenChanged } from "./answers.js";
import { cells } from "./cell.js";
import { editing, opener } from "./door.js";
import { script } from "./scripts.js";

const facts = globalThis.softlookupFacts;
const root = document.documentElement.dataset.content_root || "./";
const marks = []; // what brings each button up to date
const linked = new URLSearchParams(location.search).get("do"); // a link may open one task's editor
const editors = new Map(); // the boxes that are open, with their editors
const doors = new Map(); // the buttons that open tasks, by their ids
let going = ""; // the task that a reader is on the way to

const STATES = { pass: "✓ Done here", partial: "◐ Go on here", wrong: "✗ Go on here" };

// Go to another task of this page, and open it; gives false where it has none.
function go(id) {
  going = id;
  if (editors.has(id)) arrive(id);
  else doors.get(id)?.click();
  return doors.has(id);
}

// A page that is loaded again opens the task that was opened last.
function comeBack(id) {
  const here = new URL(location.href);
  here.searchParams.set("do", id);
  try { history.replaceState(history.state, "", here); } catch { /* some browsers refuse it on the disk */ }
}

function arrive(id) {
  const { form, editor } = editors.get(id);
  form.closest("section").scrollIntoView(); // an editor's focus does not scroll
  editor.focus();
  going = "";
}

// A button that opens a task's editor, with a line for what happens meanwhile. It is near where the pointer is in `place`.
function door(id, place, says, opened) {
  const line = make("span", "", { className: "slp-door" });
  const number = chapter(id);
  const [button, state] = opener(place, () => script(`notebook_${number}.js`), number, async (all) => {
    const book = await all.notebook(number);
    const { form, editor } = all.task(id, book, mark, go);
    editors.set(id, { form, editor });
    opened(form, book.texts[id]);
    if (going === id) arrive(id);
    else editor.focus();
    comeBack(id);
  });
  doors.set(id, button);
  const mark = () => { button.textContent = says(STATES[kept()[id]?.verdict]); };
  marks.push(mark);
  mark();
  line.append(button, state);
  if (id === linked) button.click();
  return line;
}

// A page of exercises: the door stands at the answer's cell, and the editor takes its place.
function onCell(cell) {
  const span = cell.closest("section")?.querySelector(":scope > span[id^='exercise-']");
  const id = span?.id.slice("exercise-".length).replace("-", ".") ?? "";
  const line = make("p", "", { className: "slp-doors" });
  if (facts.tasks.includes(id)) {
    line.append(door(id, cell.closest("section"), (state) => state ?? "Do it here", (form) => {
      cell.hidden = true;
      const check = cell.nextElementSibling;
      if (check?.classList.contains("tag_check-cell")) check.hidden = true;
      line.hidden = true;
      cell.before(form);
    }));
  } else if (facts.not[id]) {
    line.textContent = `This task is for the notebook: ${facts.not[id]}.`;
  }
  cell.before(line);
}

// A chapter: a door for each task that the box names; its text and its editor open below.
function inBox(admonition) {
  const named = [...admonition.querySelectorAll("a.task-name")].map((one) => one.textContent);
  const ids = [...new Set(named)].filter((id) => facts.tasks.includes(id));
  if (!ids.length) return;
  const line = make("p", "", { className: "slp-doors" });
  for (const id of ids) {
    const one = door(id, line, (state) => `${state ?? "Do it here"}: ${id}`, (form, { title, html, page }) => {
      const place = make("section", "", { className: "slp-task" });
      place.setAttribute("aria-label", title);
      const close = make("button", "Close", { type: "button", className: "slp-close" });
      const head = make("p", title, { className: "slp-title" });
      head.append(close);
      const text = make("div", "", { className: "slp-text", innerHTML: html });
      for (const link of text.querySelectorAll("a[href]")) {
        const address = link.getAttribute("href");
        if (!/^[a-z]+:/.test(address)) link.setAttribute("href", root + address);
      }
      const more = make("a", "On its own page, with the cells before it", { href: root + page });
      const there = make("p", "", { className: "slp-there" });
      there.append(more);
      place.append(head, text, there, form);
      one.hidden = true;
      close.onclick = () => {
        place.remove();
        editors.delete(id);
        one.hidden = false;
        for (const mark of marks) mark();
        one.querySelector("button").focus();
      };
      admonition.append(place);
      globalThis.MathJax?.typesetPromise?.([text]);
    });
    line.append(one);
  }
  admonition.append(line);
}

// Answers taken along, as the assignment's notebook, and back.
function shelf(head, number) {
  const line = make("p", "", { className: "slp-doors slp-shelf" });
  const write = make("button", "Save your answers as a notebook", { type: "button" });
  const read = make("button", "Open a notebook with answers", { type: "button" });
  const file = make("input", "", { type: "file", accept: ".ipynb", hidden: true });
  const state = make("span", "", { className: "slp-state" });
  state.setAttribute("role", "status");
  const told = (doing) => async () => {
    try { state.textContent = await doing(); } catch (error) { state.textContent = error.message; }
  };
  write.onclick = told(async () => {
    const { file: name, count, gradients } = await (await editing()).save(number);
    const more = gradients.length ? `. There, these tasks ask for gradients, too, in torch: ${gradients.join(", ")}` : "";
    return `${name} with ${count} ${count === 1 ? "answer" : "answers"}${more}`;
  });
  read.onclick = () => file.click();
  file.onchange = told(async () => {
    const [chosen] = file.files;
    file.value = ""; // the same file may be chosen again
    if (!chosen) return "";
    const all = await editing();
    const { found, others: otherwise, whole } = await all.taken(number, chosen);
    const ids = Object.keys(found);
    const others = ids.filter((id) => kept()[id]?.source && kept()[id].source !== found[id]);
    if (others.length && !window.confirm(`Replace your answers to ${others.join(", ")}?`)) return "Nothing was changed.";
    all.takeOver(number, found, whole);
    refresh();
    const more = otherwise.length ? ` Your course asks for other values than this page in ${otherwise.join(", ")}.` : "";
    return `Answers taken over: ${ids.length}. Check them one by one.${more}`;
  });
  line.append(write, read, file, state);
  head.append(line);
}

// Show what is kept, where it was changed elsewhere.
function refresh() {
  for (const [id, { editor }] of editors) {
    const { source } = kept()[id] ?? {};
    if (source && source !== editor.text()) editor.put(source);
  }
  for (const mark of marks) mark();
}

whenChanged(refresh);
const answers = document.querySelectorAll("div.cell.tag_answer-cell");
for (const cell of answers) onCell(cell);
for (const one of document.querySelectorAll(".admonition.task")) inBox(one);
if (globalThis.softlookupCells) cells();
const head = document.querySelector(".exr-head");
const first = document.querySelector("span[id^='exercise-']");
if (head && first && answers.length) shelf(head, Number(first.id.split("-")[1]));
