// The box of a chapter's cell: the page's earlier cells run before it.

import { box } from "./box.js";
import { ask } from "./engine.js";

// The box in place of a cell of a page; it runs at once.
export function cellBox(input, line, page, number) {
  const sources = globalThis.softlookupSources[page];
  const blank = sources[number];
  const printed = input.parentElement.querySelector(":scope > .cell_output:not(:has(img, svg))");
  const run = async (source, say) => {
    say("Running …");
    const found = await ask({ do: "run", cells: [...sources.slice(0, number), source] }).finally(() => {
      if (printed) printed.hidden = true; // what comes takes its place, an error too
    });
    const nothing = !found.printed && !found.error && !found.tables.length;
    const notes = source === blank ? [] : ["Cells and figures further down are the book’s: they do not use your change."];
    return { ...found, notes, ...(nothing ? { state: "It ran. Write a name on the last line to see its value." } : {}) };
  };
  const { form, editor, begin } = box({ id: `cell-${number}`, text: blank, blank, label: `Code of cell ${number + 1} of the page`, verb: "Run", run });
  input.hidden = true;
  line.replaceWith(form);
  editor.focus();
  begin();
}
