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

// A sign that is read out as a word.
function sign(isRight) {
  const mark = make("span", isRight ? "✓" : "✗", { className: isRight ? "slp-why-right" : "slp-why-wrong" });
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", isRight ? "right" : "wrong");
  return mark;
}

// The first word of a reason behind its sign, and the rest; a further line stands as it is.
function reason(line, at, isRight) {
  if (at) return make("p", line);
  const [, verdict, rest] = line.match(/^(\w+[:.])(.*)$/);
  const first = make("strong", "", { className: isRight ? "slp-why-right" : "slp-why-wrong" });
  const mark = make("span", isRight ? "✓ " : "✗ ");
  mark.setAttribute("aria-hidden", "true");
  first.append(mark, verdict);
  const whole = make("p");
  whole.append(first, rest);
  return whole;
}

// Code with line numbers: a long line goes on behind its number, and not below it.
function numbered(code) {
  const lines = make("pre", "", { tabIndex: 0, className: "slp-why-lines" });
  lines.setAttribute("aria-label", "Your function with the changed line");
  lines.append(...code.split("\n").map((line) => make("span", `${line}\n`)));
  return lines;
}

function question({ says, code, asks, options, codes = [], key, right, wrong }) {
  groups += 1;
  const group = make("div", "", { className: "slp-why-question" });
  group.setAttribute("role", "group");
  const what = make("p", asks, { id: `why-${groups}` });
  group.setAttribute("aria-labelledby", what.id);
  const heard = make("div", "", { className: "slp-why-said" });
  heard.setAttribute("role", "status");
  const buttons = options.map((option, at) => {
    const button = make("button", "", { type: "button" });
    button.append(codes.includes(at) ? make("code", option) : option);
    button.setAttribute("aria-pressed", "false");
    button.onclick = () => {
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      const lines = (at === key ? right : wrong).split("\n");
      heard.replaceChildren(...lines.map((line, row) => reason(line, row, at === key)));
      if (!button.querySelector("[role=img]")) button.append(" ", sign(at === key));
    };
    return button;
  });
  const list = make("div", "", { className: "slp-why-options" });
  list.append(...buttons);
  group.append(rich("p", says), numbered(code), what, list, heard);
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
