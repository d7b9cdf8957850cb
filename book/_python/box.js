// An editor with its buttons, and what comes back when its code has run.

import { make } from "./answers.js";
import { edit } from "./editor.js";
import { start, stop, whileStarting } from "./engine.js";

const facts = globalThis.softlookupFacts; // tasks that can be done here, why others cannot, what the download weighs

function output(parts) {
  const place = make("div", "", { className: "slp-out" });
  if (parts.printed) place.append(make("pre", parts.printed, { className: "slp-printed" }));
  if (parts.error) place.append(make("pre", parts.error, { className: "slp-error" }));
  for (const rows of parts.tables ?? []) place.append(table(rows));
  if (parts.html) place.append(...cleaned(new DOMParser().parseFromString(parts.html, "text/html").body));
  return place;
}

const NUMBER = /^[\u2212-]?[\d,.]+/;

// Rows of texts, the headings first; columns of numbers to the right, with their headings.
function table([head, ...rows]) {
  const one = make("table", "", { className: "table slp-table" });
  const isRight = head.map((_, i) => rows.length > 0 && rows.every((cells) => NUMBER.test(cells[i])));
  const line = (cells, kind) => {
    const row = make("tr");
    for (const [i, text] of cells.entries()) {
      const cell = make(kind, text.replaceAll(/\$([^$]+)\$/g, "\\($1\\)").replaceAll(/\*\*|`/g, ""));
      if (isRight[i]) cell.className = "text-right";
      row.append(cell);
    }
    return row;
  };
  one.createTHead().append(line(head, "th"));
  one.createTBody().append(...rows.map((cells) => line(cells, "td")));
  globalThis.MathJax?.typesetPromise?.([one]);
  return one;
}

// The judge escapes what it shows, but an answer runs beside it: of its page only these elements and attributes are taken.
const ELEMENTS = new Set("DIV P SPAN CODE PRE TABLE CAPTION TBODY TR TH TD DETAILS SUMMARY A STYLE".split(" "));
function cleaned(from) {
  return [...from.childNodes].flatMap((node) => {
    if (node.nodeType === Node.TEXT_NODE) return [document.createTextNode(node.data)];
    if (!ELEMENTS.has(node.tagName)) return [];
    const one = make(node.tagName.toLowerCase());
    for (const name of ["class", "style", "aria-label", "scope"]) {
      if (node.hasAttribute(name)) one.setAttribute(name, node.getAttribute(name));
    }
    const address = node.tagName === "A" ? node.getAttribute("href") : null;
    if (address?.startsWith(document.documentElement.dataset.content_root || "./")) one.setAttribute("href", address);
    one.append(...cleaned(node));
    return [one];
  });
}

// A box with an editor. `run` is given the code and a way to say what happens; it gives back what is to be shown, with
// `state` in one line, and `notes` and `more` below. `beside` stands with the buttons.
export function box({ id, text, blank, label, verb, run, beside = [], changed = () => {} }) {
  const form = make("div", "", { className: "slp-box" });
  const code = make("div", "", { className: "slp-code" });
  const go = make("button", verb, { type: "button", className: "slp-check", title: "Ctrl+Enter" });
  const halt = make("button", "Stop", { type: "button", className: "slp-stop" });
  halt.setAttribute("aria-disabled", "true");
  const again = make("button", "Begin again", { type: "button", className: "slp-again" });
  const state = make("span", "", { className: "slp-state" });
  state.setAttribute("role", "status");
  const said = make("div", "", { className: "slp-said" });
  const keys = `Escape, then Tab, leaves the editor; Ctrl+Enter: ${verb.toLowerCase()}.`;
  const leave = make("p", keys, { className: "slp-leave", id: `leave-${id}` });
  const bar = make("div", "", { className: "slp-bar" });
  bar.append(go, halt, again, ...beside, loading(), state);
  form.append(code, leave, bar, said);
  let running = false;

  async function begin() {
    if (running) return;
    busy(true);
    const source = editor.text();
    let found = null;
    try {
      state.textContent = globalThis.softlookupPython ? "Starting Python …" : `Loading Python (${facts.size}, once) …`;
      await start();
      found = await run(source, (words) => { state.textContent = words; }, () => editor.text() === source);
    } catch (error) {
      found = { error: error.message };
    }
    const notes = (found.notes ?? []).map((note) => make("p", note, { className: "slp-note" }));
    const unread = /^(Syntax|Indentation|Tab)Error/m.test(found.error ?? "");
    const failed = unread ? "Python cannot read this." : found.error ? "Your code raised an exception or was stopped." : "";
    state.textContent = found.state ?? failed;
    state.classList.toggle("slp-heard", Boolean(found.html)); // a verdict begins with the same words
    said.replaceChildren(output(found), ...notes, ...(found.more ?? []));
    const { top, bottom } = code.getBoundingClientRect();
    if (bottom > 0 && top < window.innerHeight) said.scrollIntoView({ block: "nearest" }); // unless the reader is elsewhere
    busy(false);
  }

  // Buttons keep the focus: a disabled one would hand it to the page's beginning.
  function busy(is) {
    running = is;
    if (is) state.classList.remove("slp-heard");
    go.setAttribute("aria-disabled", String(is));
    halt.setAttribute("aria-disabled", String(!is));
  }

  const editor = edit(code, { text, label, describedBy: leave.id, changed, check: begin });
  go.onclick = begin;
  halt.onclick = () => running && stop();
  const put = (source) => {
    editor.put(source);
    said.replaceChildren();
    editor.focus();
  };
  again.onclick = () => {
    if (editor.text() === blank || window.confirm("Delete what you wrote and begin again?")) put(blank);
  };
  return { form, editor, begin, put };
}

// How far Python has come, while it is loaded.
function loading() {
  const bar = make("progress", "", { max: 1 });
  const size = make("span", `Python (${facts.size}, once)`);
  const place = make("span", "", { className: "slp-loading" });
  bar.setAttribute("aria-label", "Python is loading");
  place.append(bar, size);
  whileStarting((share) => {
    bar.value = share;
    place.hidden = share === 0 || share === 1;
  });
  return place;
}
