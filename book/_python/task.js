// One task: its answer is checked after the given cells and the reader's answers to earlier tasks.

import { chapter, keep, kept, make, sound } from "./answers.js";
import { box } from "./box.js";
import { ask } from "./engine.js";
import { play } from "./play.js";
import { root } from "./scripts.js";
import { why } from "./why.js";

const facts = globalThis.softlookupFacts;

function before(id, cells) {
  const answers = kept();
  const found = [];
  for (const one of cells) {
    if (one.id === id) break;
    const source = one.id ? sound(answers[one.id]) : one.text;
    if (source) found.push({ task: one.id, source });
  }
  return found;
}

// The next task that is not right yet: of this notebook, or the first of the one after it.
function after(id, { texts, next }) {
  const ids = Object.keys(texts);
  const following = ids.slice(ids.indexOf(id) + 1).find((one) => kept()[one]?.verdict !== "pass");
  return following ? { id: following, ...texts[following] } : next;
}

// The link to it; `go` opens it where this page has its door, and says whether it has.
function nextLink(id, book, go) {
  const link = make("a", "Next task", { className: "slp-next" });
  const renew = () => {
    const to = after(id, book);
    link.hidden = !to;
    if (to) Object.assign(link, { href: root() + to.page, title: to.title });
    return to;
  };
  link.onclick = (event) => go(renew()?.id) && event.preventDefault();
  renew();
  return link;
}

// The first page leads to it, too.
function remember(id, book) {
  const { id: following, page, title } = after(id, book) ?? {};
  if (!page) return;
  const [path, place] = page.split("#");
  globalThis.softlookupKept.write("next", { path: following ? `${path}?do=${following}#${place}` : page, title });
}

// A sentence; what stands between backticks is code.
function sentence(text) {
  const line = make("p");
  line.append(...text.split(/`+/).map((part, at) => (at % 2 ? make("code", part) : part)));
  return line;
}

// Hints, one after the other: each is folded until somebody asks for it.
function hints(found) {
  return (found.hints ?? []).map(({ title, text, code }) => {
    const one = make("details", "", { className: "slp-hint" });
    one.append(make("summary", title), ...(text ? [sentence(text)] : []), ...(code ? [make("pre", code)] : []));
    return one;
  });
}

// A button that takes a verdict along as it is shown: its words and the task's address, or its picture.
function share(id, { texts }, { text, html }, form) {
  if (!html || !globalThis.softlookupShare) return [];
  const address = new URL(root() + texts[id].page, location.href).href;
  return [globalThis.softlookupShare(() => form.querySelector(".slp-out .sl-check"), `${text.trim()}\n${address}`, `verdict-${id}`)];
}

// The box of a task of a notebook; `judged` is called after each check, and `go` opens another task of the page.
export function task(id, book, judged, go) {
  const blank = book.cells.find((one) => one.id === id).text;
  const restore = make("button", "Restore the answer that passed", { type: "button", className: "slp-restore" });
  const link = nextLink(id, book, go);
  const show = (source) => {
    const passed = kept()[id]?.passed;
    restore.hidden = !passed || passed === source;
    link.classList.toggle("slp-first", Boolean(passed));
  };

  // What is written down of an answer: a pass stays, with its code, whatever is tried after it.
  function note(source, verdict, more = {}) {
    const { passed, points, said } = kept()[id] ?? {};
    if (verdict === "pass") {
      keep(id, { source, verdict, passed: source, ...more });
      remember(id, book);
    } else if (passed) keep(id, { source, verdict: "pass", passed, points, said });
    else keep(id, source === blank && verdict === "unchecked" ? null : { source, verdict, ...more });
    show(source);
  }

  async function check(source, say, isSame) {
    let found = {};
    const request = { task_id: id, cells: [...before(id, book.cells), { task: id, source }] };
    try {
      say("Checking …");
      found = await ask({ ...request, do: "check" }, chapter(id));
    } finally {
      const { verdict = "error", points = 0, message = "" } = found.record ?? {};
      if (isSame()) note(source, verdict, { points, said: message });
      judged();
    }
    const notes = [];
    if (!isSame()) notes.push("You have changed your answer meanwhile: check it again.");
    else if (found.record?.verdict !== "pass" && kept()[id]?.passed) notes.push("Your answer that passed is kept.");
    if (facts.gradients.includes(id) && found.record?.verdict === "pass") {
      notes.push("The notebook also checks the gradients of this task; that needs torch.");
    }
    const whys = found.why && isSame() ? [why(id, request)] : [];
    const plays = found.plays && isSame() ? [play(id, request)] : [];
    return { ...found, notes, more: [...hints(found), ...plays, ...whys, ...share(id, book, found, made.form)], ...(found.text ? { state: found.text.split("\n")[0] } : {}) };
  }

  const made = box({
    id,
    text: kept()[id]?.source || blank,
    blank,
    label: `Your answer to task ${id}`,
    verb: "Check",
    beside: [restore, link],
    changed: (source) => kept()[id]?.source !== source && note(source, "unchecked"),
    run: check,
  });
  restore.onclick = () => made.put(kept()[id].passed);
  show(kept()[id]?.source || blank);
  return made;
}
