// Tasks done where they are read: on a page of exercises each answer cell can become an editor with a check.
// Answers and verdicts are kept in this browser. Until somebody presses a button, nothing is loaded.

import { ask, load, script, start, stop } from "./engine.js";

const KEEP = "softlookup-in-page";
const facts = globalThis.softlookupFacts; // tasks that can be done here, why others cannot, what the download weighs
const make = (tag, text = "", more = {}) => Object.assign(document.createElement(tag), { textContent: text, ...more });

let held = {}; // what a browser that keeps nothing still knows until the page is left
function kept() {
  try { return { ...held, ...JSON.parse(localStorage.getItem(KEEP)) }; } catch { return held; }
}
function keep(id, record) {
  held = { ...kept(), [id]: record };
  if (!record) delete held[id];
  try { localStorage.setItem(KEEP, JSON.stringify(held)); } catch { /* kept until the page is left */ }
}

// The page's code cells in their order: those that are given, and those to be answered.
const cells = [...document.querySelectorAll("div.cell:not(.tag_check-cell)")].map((cell) => ({
  cell,
  id: cell.closest("section")?.querySelector(":scope > span[id^='exercise-']")?.id.slice("exercise-".length).replace("-", "."),
  answer: cell.classList.contains("tag_answer-cell"),
  text: cell.querySelector("pre")?.textContent.replace(/\n$/, "") ?? "",
}));

// What runs before a task: given cells, and the reader's answers to earlier tasks.
function before(place) {
  const answers = kept();
  const found = [];
  for (const one of cells) {
    if (one === place) break;
    if (!one.answer) found.push({ task: "", source: one.text });
    else if (answers[one.id]?.source) found.push({ task: one.id, source: answers[one.id].source });
  }
  return found;
}

function output(parts) {
  const place = make("div", "", { className: "slp-out" });
  if (parts.printed) place.append(make("pre", parts.printed, { className: "slp-printed" }));
  if (parts.error) place.append(make("pre", parts.error, { className: "slp-error" }));
  if (parts.html) place.append(...cleaned(new DOMParser().parseFromString(parts.html, "text/html").body));
  return place;
}

// The judge escapes what it shows, but an answer runs beside it: of its page only these elements and attributes are taken.
const ELEMENTS = new Set("DIV P SPAN CODE PRE TABLE CAPTION TBODY TR TD DETAILS SUMMARY A STYLE".split(" "));
function cleaned(from) {
  return [...from.childNodes].flatMap((node) => {
    if (node.nodeType === Node.TEXT_NODE) return [document.createTextNode(node.data)];
    if (!ELEMENTS.has(node.tagName)) return [];
    const one = make(node.tagName.toLowerCase());
    for (const name of ["class", "style", "aria-label"]) {
      if (node.hasAttribute(name)) one.setAttribute(name, node.getAttribute(name));
    }
    const address = node.tagName === "A" ? node.getAttribute("href") : null;
    if (address?.startsWith(document.documentElement.dataset.content_root || "./")) one.setAttribute("href", address);
    one.append(...cleaned(node));
    return [one];
  });
}

function box(place) {
  const { id } = place;
  const form = make("div", "", { className: "slp-box" });
  const code = make("div", "", { className: "slp-code" });
  const check = make("button", "Check", { type: "button", className: "slp-check", title: "Ctrl+Enter" });
  const halt = make("button", "Stop", { type: "button", className: "slp-stop" });
  halt.setAttribute("aria-disabled", "true");
  const again = make("button", "Begin again", { type: "button", className: "slp-again" });
  const state = make("span", "", { className: "slp-state" });
  state.setAttribute("role", "status");
  const said = make("div");
  const leave = make("p", "Escape, then Tab, leaves the editor; Ctrl+Enter checks.", { className: "slp-leave", id: `leave-${id}` });
  const bar = make("div", "", { className: "slp-bar" });
  bar.append(check, halt, again, state);
  form.append(code, leave, bar, said);
  let running = false;

  async function run() {
    if (running) return;
    busy(true);
    const source = editor.text();
    keep(id, { source, verdict: "unchecked" });
    let found = null;
    try {
      state.textContent = globalThis.softlookupPython ? "Starting Python …" : `Loading Python (${facts.size}, once) …`;
      await start();
      state.textContent = "Loading the questions …";
      await load(Number(id.split(".")[0]));
      state.textContent = "Checking …";
      found = await ask({ do: "check", task_id: id, cells: [...before(place), { task: id, source }] });
    } catch (error) {
      found = { error: error.message };
    }
    said.replaceChildren(output(found));
    state.textContent = found.text?.split("\n")[0] ?? "Your code raised an exception, or was stopped.";
    const { verdict = "error", points = 0, message = "" } = found.record ?? {};
    if (editor.text() === source) keep(id, { source, verdict, points, said: message });
    else said.append(make("p", "You have changed your answer meanwhile: check it again.", { className: "slp-note" }));
    if (facts.gradients.includes(id) && verdict === "pass") {
      said.append(make("p", "The notebook also checks the gradients of this task; that needs torch.", { className: "slp-note" }));
    }
    mark(place);
    busy(false);
  }

  // Buttons keep the focus: a disabled one would hand it to the page's beginning.
  function busy(is) {
    running = is;
    check.setAttribute("aria-disabled", String(is));
    halt.setAttribute("aria-disabled", String(!is));
  }

  const editor = globalThis.softlookupEditor.edit(code, {
    text: kept()[id]?.source || place.text,
    label: `Your answer to task ${id}`,
    describedBy: leave.id,
    changed: (source) => keep(id, source === place.text ? null : { source, verdict: "unchecked" }),
    check: run,
  });
  check.onclick = run;
  halt.onclick = () => running && stop();
  again.onclick = () => {
    if (editor.text() !== place.text && !window.confirm("Delete this answer and begin again?")) return;
    editor.put(place.text);
    said.replaceChildren();
    editor.focus();
  };
  return { form, editor };
}

function mark(place) {
  const { verdict } = kept()[place.id] ?? {};
  place.door.textContent = { pass: "✓ Done here", partial: "◐ Go on here", wrong: "✗ Go on here" }[verdict] ?? "Do it here";
}

async function open(place) {
  place.door.disabled = true;
  place.door.nextElementSibling.textContent = "Loading the editor …";
  try {
    await script("editor.js");
  } catch (error) {
    place.door.disabled = false;
    mark(place);
    place.door.nextElementSibling.textContent = error.message;
    return;
  }
  const { form, editor } = box(place);
  place.cell.hidden = true;
  const check = place.cell.nextElementSibling;
  if (check?.classList.contains("tag_check-cell")) check.hidden = true;
  place.door.parentElement.hidden = true;
  place.cell.before(form);
  editor.focus();
}

for (const place of cells.filter((one) => one.answer)) {
  const line = make("p", "", { className: "slp-doors" });
  if (facts.tasks.includes(place.id)) {
    place.door = make("button", "", { type: "button", className: "slp-open" });
    place.door.onclick = () => open(place);
    line.append(place.door, make("span", "", { className: "slp-state", role: "status" }));
    mark(place);
  } else if (facts.not[place.id]) {
    line.textContent = `This task is for the notebook: ${facts.not[place.id]}.`;
  }
  place.cell.before(line);
}
