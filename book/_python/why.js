// Questions on a reader's own right answer: a line of it is changed, what comes out? They are made when the fold opens.

import { chapter, make } from "./answers.js";
import { ask } from "./engine.js";

let groups = 0;

// Text whose parts between backticks are code.
function rich(tag, text, attributes = {}) {
  const line = make(tag, "", attributes);
  line.append(...text.split(/`+/).map((part, at) => (at % 2 ? make("code", part) : part)));
  return line;
}

function question({ says, code, asks, options, key, right, wrong }) {
  groups += 1;
  const group = make("div", "", { className: "slp-why-question" });
  group.setAttribute("role", "group");
  const what = make("p", asks, { id: `why-${groups}` });
  group.setAttribute("aria-labelledby", what.id);
  const heard = make("div", "", { className: "slp-why-said" });
  heard.setAttribute("role", "status");
  const buttons = options.map((option, at) => {
    const button = make("button", option, { type: "button" });
    button.setAttribute("aria-pressed", "false");
    button.onclick = () => {
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      const lines = (at === key ? right : wrong).split("\n");
      heard.replaceChildren(...lines.map((line) => make("p", line)));
      heard.classList.toggle("slp-why-right", at === key);
    };
    return button;
  });
  const list = make("div", "", { className: "slp-why-options" });
  list.append(...buttons);
  const lines = make("pre", code, { tabIndex: 0 });
  lines.setAttribute("aria-label", "Your function with the changed line");
  group.append(rich("p", says), lines, what, list, heard);
  return group;
}

// The fold below a verdict that passed; `request` is what the check was asked.
export function why(id, request) {
  const fold = make("details", "", { className: "slp-hint slp-why" });
  const place = make("div");
  fold.append(make("summary", "Do you know why it works?"), place);
  fold.addEventListener("toggle", async () => {
    if (!fold.open || place.hasChildNodes()) return;
    place.append(make("p", "Changing a line of your answer …"));
    try {
      const seed = crypto.getRandomValues(new Uint32Array(1))[0];
      const questions = await ask({ ...request, do: "why", seed }, chapter(id));
      place.replaceChildren(...questions.map(question));
      if (!questions.length) place.append(make("p", "No line of this answer gives a question."));
    } catch (error) {
      place.replaceChildren(make("p", error.message));
    }
  });
  return fold;
}
