// Notebooks: their cells as a page needs them, with the reader's answers put in, and answers taken out of one.

import { keep, kept } from "./answers.js";
import { script } from "./engine.js";

const facts = globalThis.softlookupFacts;
const text = (cell) => [].concat(cell.source).join("").replace(/\n$/, "");
const gradeId = (cell) => cell.metadata?.nbgrader?.grade_id ?? "";
const taskId = (cell) => gradeId(cell).replace("-", ".");
const isAnswer = (cell) => cell.cell_type === "code" && cell.metadata?.nbgrader?.solution === true;
const isCheck = (cell) => cell.metadata?.nbgrader?.grade === true && !isAnswer(cell);

// A notebook's record, its code cells in their order, and the name of each task's function.
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
  return { ...record, cells, names };
}

const TENSORS = "# Written in numpy: the next lines let it take tensors of torch as well.";

// An answer as its cell holds it: with the imports that a page has anyway, and open to tensors where the task has any.
function forCell(id, source, name, given) {
  const missing = [["import math", /\bmath\./], ["import numpy as np", /\bnp\./]]
    .filter(([line, used]) => used.test(source) && !given.includes(line) && !source.includes(line))
    .map(([line]) => line);
  const head = missing.length ? `${missing.join("\n\n")}\n\n\n` : "";
  if (!facts.torch.includes(id) || !name) return head + source;
  return `${head}${source.trimEnd()}\n\n\n${TENSORS}\nfrom softlookup import in_numpy\n\n${name} = in_numpy(${name})`;
}

// The other way: without the lines that forCell adds at the end.
const fromCell = (source) => source.split(`\n\n\n${TENSORS}`)[0];

// The assignment's own notebook with the reader's answers in their cells.
export async function save(number) {
  const { file, notebook: whole, cells, names } = await notebook(number);
  const answers = kept();
  const given = cells.filter((one) => !one.id).map((one) => one.text).join("\n");
  let count = 0;
  const filled = whole.cells.map((cell) => {
    const source = isAnswer(cell) ? answers[taskId(cell)]?.source : "";
    if (!source || source === text(cell)) return cell;
    count += 1;
    return { ...cell, source: forCell(taskId(cell), source, names[taskId(cell)], given) };
  });
  const blob = new Blob([JSON.stringify({ ...whole, cells: filled }, null, 1)], { type: "application/x-ipynb+json" });
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return { file, count };
}

// Take over the answers of a notebook: those that differ from the empty cells, by their tasks.
export async function taken(number, file) {
  const { file: name, cells } = await notebook(number);
  const empty = new Map(cells.filter((one) => one.id).map((one) => [one.id, one.text]));
  let opened = null;
  try { opened = JSON.parse(await file.text()); } catch { /* said below */ }
  if (!Array.isArray(opened?.cells)) throw new Error(`${file.name} is not a notebook.`);
  const found = {};
  for (const cell of opened.cells.filter((one) => isAnswer(one) && empty.has(taskId(one)))) {
    const source = fromCell(text(cell));
    if (source.trim() && source !== empty.get(taskId(cell))) found[taskId(cell)] = source;
  }
  if (!Object.keys(found).length) throw new Error(`${file.name} holds no answers to the tasks of ${name}.`);
  return found;
}

export function takeOver(found) {
  for (const [id, source] of Object.entries(found)) {
    if (kept()[id]?.source !== source) keep(id, { source, verdict: "unchecked" });
  }
}
