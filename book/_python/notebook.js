// Notebooks: their cells as a page needs them, with the reader's answers put in, and answers taken out of one.

import { keep, kept, sound } from "./answers.js";
import { script } from "./scripts.js";

const facts = globalThis.softlookupFacts;
const text = (cell) => [].concat(cell.source).join("").replace(/\n$/, "");
const gradeId = (cell) => cell.metadata?.nbgrader?.grade_id ?? "";
const taskId = (cell) => gradeId(cell).replace("-", ".");
const isAnswer = (cell) => cell.cell_type === "code" && cell.metadata?.nbgrader?.solution === true;
const isCheck = (cell) => cell.metadata?.nbgrader?.grade === true && !isAnswer(cell);

// A notebook's record, its code cells in their order, the empty ones of its tasks, and the name of each task's function.
export async function notebook(number) {
  await script(`notebook_${number}.js`);
  const record = globalThis.softlookupNotebooks[number];
  const code = record.notebook.cells.filter((cell) => cell.cell_type === "code");
  const names = {};
  for (const cell of code.filter(isCheck)) {
    const found = /check\("([\w.-]+)", (\w+)/.exec(text(cell));
    if (found) names[found[1]] = found[2];
  }
  const cells = code
    .filter((cell) => !isCheck(cell) && !gradeId(cell).endsWith("-library"))
    .map((cell) => ({ id: isAnswer(cell) ? taskId(cell) : "", text: text(cell) }));
  const blank = new Map(cells.filter((one) => one.id).map((one) => [one.id, one.text]));
  return { ...record, cells, blank, names };
}

const TENSORS = "# Written in numpy: the next lines let it take tensors of torch as well.";

// An answer as its cell holds it: with the imports that a page has anyway, and open to tensors where the task has any.
function forCell(id, source, name, given) {
  if (/\b(torch|nn)\b/.test(source) || !new RegExp(`^(def ${name}\\b|${name} *=)`, "m").test(source)) return source;
  const missing = [["import math", /\bmath\./], ["import numpy as np", /\bnp\./]]
    .filter(([line, used]) => used.test(source) && !given.includes(line) && !source.includes(line))
    .map(([line]) => line);
  const head = missing.length && !source.includes("__future__") ? `${missing.join("\n\n")}\n\n\n` : "";
  if (!facts.torch.includes(id)) return head + source;
  return `${head}${source.trimEnd()}\n\n\n${TENSORS}\nfrom softlookup import in_numpy\n\n${name} = in_numpy(${name})`;
}

// The other way: without the lines that forCell adds at the end.
const fromCell = (source) => source.split(`\n\n\n${TENSORS}`)[0];

const opened = new Map(); // notebooks that the reader has opened, by number: they hold text and cells besides

// The assignment's own notebook, or the one that was opened, with the reader's answers in their cells. Gives how many
// there are, and which of them the notebook asks for gradients, too.
export async function save(number) {
  const { file, notebook: empty, cells, blank, names } = await notebook(number);
  const whole = opened.get(number) ?? empty;
  const answers = kept();
  const given = cells.filter((one) => !one.id).map((one) => one.text).join("\n");
  const saved = [];
  const filled = whole.cells.map((cell) => {
    const id = isAnswer(cell) ? taskId(cell) : "";
    const source = sound(answers[id]);
    if (!source || source === blank.get(id)) return cell;
    saved.push(id);
    // A cell that was opened and not changed stays as it is.
    return source === fromCell(text(cell)) ? cell : { ...cell, source: forCell(id, source, names[id], given) };
  });
  const blob = new Blob([JSON.stringify({ ...whole, cells: filled }, null, 1)], { type: "application/x-ipynb+json" });
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return { file, count: saved.length, gradients: saved.filter((id) => facts.gradients.includes(id)) };
}

// The answers of a notebook that differ from the empty cells, by their tasks, and the tasks that ask for other numbers
// or conventions there than in the page.
export async function taken(number, file) {
  const { file: name, blank } = await notebook(number);
  let read = null;
  try { read = JSON.parse(await file.text()); } catch { /* said below */ }
  if (!Array.isArray(read?.cells)) throw new Error(`${file.name} is not a notebook.`);
  const found = {};
  for (const cell of read.cells.filter((one) => isAnswer(one) && blank.has(taskId(one)))) {
    const source = fromCell(text(cell));
    if (source.trim() && source !== blank.get(taskId(cell))) found[taskId(cell)] = source;
  }
  if (!Object.keys(found).length) throw new Error(`${file.name} holds no answers to the tasks of ${name}.`);
  const checks = read.cells.filter(isCheck).map((cell) => /check\("([\w.-]+)".*variant=[1-9]/.exec(text(cell))?.[1]);
  return { found, others: checks.filter(Boolean), whole: read };
}

export function takeOver(number, found, whole) {
  opened.set(number, whole);
  for (const [id, source] of Object.entries(found)) {
    if (kept()[id]?.source !== source) keep(id, { source, verdict: "unchecked" });
  }
}
