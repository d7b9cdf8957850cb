// Tasks done where they are read: on a page of exercises each answer cell can become an editor with a check.
// Answers and verdicts are kept in this browser. Until somebody presses a button, nothing is loaded.

import { ask, load, script, start, stop } from "./engine.js";

const KEEP = "softlookup-in-page";
const facts = globalThis.softlookupFacts; // tasks that can be done here, why others cannot, what the download weighs
const make = (tag, text = "", more = {}) => Object.assign(document.createElement(tag), { textContent: text, ...more });

function kept() {
  try { return JSON.parse(localStorage.getItem(KEEP)) ?? {}; } catch { return {}; }
}
function keep(id, more) {
  const all = kept();
  all[id] = { ...all[id], ...more };
  try { localStorage.setItem(KEEP, JSON.stringify(all)); } catch { /* a browser that keeps nothing still checks */ }
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
  if (parts.html) place.append(Object.assign(make("div"), { innerHTML: parts.html })); // the judge's own page, escaped by it
  return place;
}

function box(place) {
  const { id } = place;
  const form = make("div", "", { className: "slp-box" });
  const code = make("div", "", { className: "slp-code" });
  const check = make("button", "Check", { type: "button", className: "slp-check", title: "Ctrl+Enter" });
  const halt = make("button", "Stop", { type: "button", className: "slp-stop", disabled: true });
  const again = make("button", "Begin again", { type: "button", className: "slp-again" });
  const state = make("span", "", { className: "slp-state" });
  state.setAttribute("role", "status");
  const said = make("div");
  said.setAttribute("aria-live", "polite");
  const bar = make("div", "", { className: "slp-bar" });
  bar.append(check, halt, again, state);
  form.append(code, bar, said);
  let running = false;

  async function run() {
    if (running) return;
    running = true;
    check.disabled = true;
    halt.disabled = false;
    const source = editor.text();
    keep(id, { source });
    try {
      state.textContent = globalThis.softlookupPython ? "Starting Python …" : `Loading Python (${facts.size}, once) …`;
      await start();
      state.textContent = "Loading the questions …";
      await load(Number(id.split(".")[0]));
      state.textContent = "Checking …";
      const found = await ask({ do: "check", task_id: id, cells: [...before(place), { task: id, source }] });
      const verdict = found.record?.verdict ?? "error";
      keep(id, { verdict, points: found.record?.points ?? 0, said: found.record?.message ?? "" });
      said.replaceChildren(output(found));
      if (facts.gradients.includes(id) && verdict === "pass") {
        said.append(make("p", "The notebook also checks the gradients of this task; that needs torch.", { className: "slp-note" }));
      }
      state.textContent = "";
      mark(place);
    } catch (error) {
      said.replaceChildren(output({ error: error.message }));
      state.textContent = "";
    } finally {
      running = false;
      check.disabled = false;
      halt.disabled = true;
    }
  }

  const editor = globalThis.softlookupEditor.edit(code, {
    text: kept()[id]?.source || place.text,
    label: `Your answer to task ${id}. Press Escape and then Tab to leave the editor.`,
    changed: (source) => keep(id, { source, verdict: "unchecked" }),
    check: run,
  });
  check.onclick = run;
  halt.onclick = () => stop();
  again.onclick = () => {
    editor.put(place.text);
    said.replaceChildren();
    editor.focus();
  };
  return { form, editor };
}

function mark(place) {
  const { verdict } = kept()[place.id] ?? {};
  place.door.dataset.verdict = verdict ?? "";
  place.door.textContent = { pass: "✓ Done here", partial: "◐ Go on here", wrong: "✗ Go on here" }[verdict] ?? "Do it here";
}

async function open(place) {
  place.door.disabled = true;
  place.door.textContent = "Loading the editor …";
  try {
    await script("editor.js");
  } catch (error) {
    place.door.textContent = error.message;
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
    line.append(place.door);
    mark(place);
  } else if (facts.not[place.id]) {
    line.textContent = `This task is for the notebook: ${facts.not[place.id]}.`;
  }
  place.cell.before(line);
}
