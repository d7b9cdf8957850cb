// One task: its answer is checked after the given cells and the reader's answers to earlier tasks.

import { chapter, keep, kept } from "./answers.js";
import { box } from "./box.js";
import { ask, questions } from "./engine.js";

const facts = globalThis.softlookupFacts;

function before(id, cells) {
  const answers = kept();
  const found = [];
  for (const one of cells) {
    if (one.id === id) break;
    if (!one.id) found.push({ task: "", source: one.text });
    else if (answers[one.id]?.source) found.push({ task: one.id, source: answers[one.id].source });
  }
  return found;
}

// The box of a task of a notebook with these cells; `judged` is called after each check.
export function task(id, cells, judged) {
  const blank = cells.find((one) => one.id === id).text;

  async function check(source, say, isSame) {
    let found = {};
    try {
      say("Loading the questions …");
      await questions(chapter(id));
      say("Checking …");
      found = await ask({ do: "check", task_id: id, cells: [...before(id, cells), { task: id, source }] }, chapter(id));
    } finally {
      const { verdict = "error", points = 0, message = "" } = found.record ?? {};
      if (isSame()) keep(id, { source, verdict, points, said: message });
      judged();
    }
    const notes = [];
    if (!isSame()) notes.push("You have changed your answer meanwhile: check it again.");
    if (facts.gradients.includes(id) && found.record?.verdict === "pass") {
      notes.push("The notebook also checks the gradients of this task; that needs torch.");
    }
    return { ...found, notes, ...(found.text ? { state: found.text.split("\n")[0] } : {}) };
  }

  return box({
    id,
    text: kept()[id]?.source || blank,
    blank,
    label: `Your answer to task ${id}`,
    verb: "Check",
    changed: (source) => {
      if (kept()[id]?.source !== source) keep(id, source === blank ? null : { source, verdict: "unchecked" });
    },
    run: check,
  });
}
