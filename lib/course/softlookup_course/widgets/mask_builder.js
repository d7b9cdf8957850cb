// A mask to be clicked together. Any mask can be made, so the softmax is worked out here; tests compare it with
// softlookup_course.widgets.mask_builder.describe.

const MASKS = {
  everything: "everything", causal: "causal", padding: "padding", combined: "causal and padding", window: "window", prefix: "prefix",
};
// What a cell that may attend, and one that may not, is written as.
const WRITTEN = {
  may: { title: "True = may attend", cells: ["1", "0"], says: "Here True (1) means that the row may attend to the column, as in this library and in PyTorch's scaled_dot_product_attention. Two such masks are combined with AND." },
  not: { title: "True = may NOT attend", cells: ["0", "1"], says: "Here True (1) means that the row may not attend to the column, as in nn.MultiheadAttention and nn.Transformer. Two such masks are combined with OR. The masked pairs, shaded, are the same as before." },
  add: { title: "added to the scores", cells: ["0", "−∞"], says: "Here the mask is added to the scores: 0 leaves a score as it is, and minus infinity masks it. Two such masks are combined by adding them." },
};

/** The weights of every row: softmax over what may be looked at; a row that sees nothing gets zeros. */
function weigh(scores, mask) {
  return scores.map((row, t) => {
    const seen = row.filter((_, s) => mask[t][s]);
    if (!seen.length) return row.map(() => 0);
    const top = Math.max(...seen);
    const raised = row.map((score, s) => (mask[t][s] ? Math.exp(score - top) : 0));
    const total = raised.reduce((a, b) => a + b, 0);
    return raised.map((one) => one / total);
  });
}

/** The mean place that each row attends to, and its weight on padding. */
const mixtures = (weights, real) => weights.map((row) => [
  row.reduce((sum, w, s) => sum + w * s, 0), row.reduce((sum, w, s) => sum + (real[s] ? 0 : w), 0)]);

function ready(name, real, width, prefix) {
  const rules = {
    everything: () => true,
    causal: (t, s) => s <= t,
    padding: (t, s) => real[s],
    combined: (t, s) => s <= t && real[s],
    window: (t, s) => s <= t && t - s < width,
    prefix: (t, s) => s <= t || s < prefix,
  };
  return real.map((_, t) => real.map((_, s) => rules[name](t, s)));
}

function render({ model, el }) {
  const id = nextId("msk");
  const looks = model.get("looks");
  let look = looks[model.get("chosen")];
  let name = model.get("start");
  let [width, prefix, written] = [3, 3, "may"];
  let mask = ready(name, look.real, width, prefix);
  let painting = null;

  const chooser = make("select", { id: `${id}-look`, onchange: () => {
    model.set("chosen", chooser.selectedIndex);
    model.save_changes();
  } }, looks.map((one) => make("option", {}, one.title)));
  const polarity = make("select", { id: `${id}-written`, onchange: () => {
    written = polarity.value;
    draw(WRITTEN[written].says);
  } }, Object.entries(WRITTEN).map(([value, one]) => make("option", { value }, one.title)));

  const buttons = Object.fromEntries(Object.entries(MASKS).map(([key, title]) => [key,
    make("button", { type: "button", class: "msk-preset", "data-mask": key, onclick: () => choose(key) }, title)]));

  const maskInput = unseen(`${id}-cells`, (value) => {
    if (!/^[01]+$/.test(value) || value.length !== mask.length ** 2) return;
    mask = mask.map((row, t) => row.map((_, s) => value[t * mask.length + s] === "1"));
    name = null;
    draw("Press a cell of the mask to change it.");
  });

  /** Two keys and a number, for the window and the prefix. */
  function stepper(title, get, set) {
    const shown = make("output", { class: "msk-count", "aria-label": title }, String(get()));
    const step = (by) => {
      set(Math.max(1, Math.min(look.tokens.length, get() + by)));
      shown.textContent = count.value = get();
      if (name === title) choose(title);
      else words.textContent = `The ${title} now has ${get()} ${get() === 1 ? "token" : "tokens"}; press “${title}” to see this mask.`;
    };
    const count = unseen(`${id}-${title}`, (value) => step((Number(value) || get()) - get()));
    count.value = get();
    return make("span", { class: "msk-stepper" }, buttons[title], count,
      make("button", { type: "button", "aria-label": `${title}: one less`, onclick: () => step(-1) }, "−"), shown,
      make("button", { type: "button", "aria-label": `${title}: one more`, onclick: () => step(1) }, "+"));
  }
  const bar = make("div", { class: "msk-presets", role: "group", "aria-label": "Ready-made masks" },
    buttons.everything, buttons.causal, buttons.padding, buttons.combined,
    stepper("window", () => width, (value) => { width = value; }), stepper("prefix", () => prefix, (value) => { prefix = value; }));

  const words = make("p", { class: "msk-words", "aria-live": "polite", "aria-atomic": "true" });
  const warnings = make("p", { class: "msk-warnings", "aria-live": "polite" });

  const named = (t) => `${look.tokens[t]} (${t})`;
  const list = (rows) => rows.map(named).join(", ");

  /** A table of cells, made once for each sentence; numbers are filled in by draw. */
  function table(grid, caption, columns, how) {
    const head = make("tr", {}, make("td", {}), columns.map((one) => make("th", { scope: "col" }, make("span", {}, one))));
    const rows = look.tokens.map((token, t) => make("tr", {}, make("th", { scope: "row" }, token),
      columns.map((_, s) => make("td", { class: `msk-cell ${how}`, "data-grid": grid, "data-row": t, "data-column": s, tabindex: t === 0 && s === 0 ? 0 : -1 }))));
    return make("table", { class: `slf-table msk-table msk-${grid}` }, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, rows));
  }

  const board = make("div", { class: "msk-board" });
  const cellsOf = (grid) => board.querySelectorAll(`td[data-grid="${grid}"]`);

  function set(t, s, value) {
    if (mask[t][s] === value) return;
    mask[t][s] = value;
    name = null;
    draw(`${named(t)} ${value ? "may attend" : "may no longer attend"} to ${named(s)}. ${rowSays(t)}`);
  }

  function rowSays(t) {
    const seen = mask[t].filter(Boolean).length;
    if (!seen) return "The row is fully masked, and its output is zero.";
    const row = weigh(look.scores, mask)[t];
    const best = row.indexOf(Math.max(...row));
    return `It attends to ${seen} of ${mask.length} tokens; the largest weight, ${show(row[best])}, is on ${named(best)}.`;
  }

  function explain(td) {
    const [grid, t, s] = [td.dataset.grid, Number(td.dataset.row), Number(td.dataset.column)];
    const weights = weigh(look.scores, mask);
    if (grid === "output") {
      const out = mixtures(weights, look.real)[t][s];
      words.textContent = s === 0 ? `The mean position that ${named(t)} attends to, by weight, is ${show(out)}.` : `${named(t)} puts ${show(out)} of its weight on padding.`;
    } else {
      const may = mask[t][s];
      const how = s > t ? ", which comes later" : s === t ? ", itself" : "";
      words.textContent = may
        ? `${named(t)} may attend to ${named(s)}${how}: the weight is ${show(weights[t][s])}.`
        : `${named(t)} may not attend to ${named(s)}${how}: the weight is exactly 0.${mask[t].some(Boolean) ? "" : ` ${rowSays(t)}`}`;
      if (grid === "mask") words.textContent += " Press to change it.";
    }
    markCells(board, grid === "output" ? [["weights", t, null], ["output", t, s]] : [["mask", t, s], ["weights", t, s]], td, "msk");
  }

  function draw(said) {
    const weights = weigh(look.scores, mask);
    const outputs = mixtures(weights, look.real);
    for (const td of cellsOf("mask")) {
      const may = mask[td.dataset.row][td.dataset.column];
      td.textContent = WRITTEN[written].cells[may ? 0 : 1];
      td.dataset.may = String(may);
      td.classList.toggle("msk-hidden", !may);
      td.classList.toggle("msk-ahead", may && Number(td.dataset.column) > Number(td.dataset.row));
    }
    for (const td of cellsOf("weights")) {
      const [t, s] = [td.dataset.row, td.dataset.column];
      td.dataset.value = weights[t][s];
      td.textContent = mask[t][s] ? show(weights[t][s]) : "0";
      td.classList.toggle("msk-hidden", !mask[t][s]);
      td.style.setProperty("--msk-share", weights[t][s]);
    }
    for (const td of cellsOf("output")) {
      td.dataset.value = outputs[td.dataset.row][td.dataset.column];
      td.textContent = show(outputs[td.dataset.row][td.dataset.column]);
    }
    for (const [key, button] of Object.entries(buttons)) button.setAttribute("aria-pressed", String(key === name));
    maskInput.value = name ? "" : mask.flat().map(Number).join("");
    const blind = mask.flatMap((row, t) => (row.some(Boolean) ? [] : [t]));
    const future = mask.flatMap((row, t) => row.filter((may, s) => may && s > t)).length;
    const padded = mask.flatMap((row) => row.filter((may, s) => may && !look.real[s])).length;
    const pairs = mask.flat().filter(Boolean).length;
    warnings.replaceChildren(strong(`${pairs} of ${mask.length ** 2}`), " pairs are allowed. ",
      future ? `In ${future} of them, a token attends to a later one. ` : "No token attends to a later one. ",
      padded ? `In ${padded} of them, a token attends to padding. ` : "",
      blind.length ? `Fully masked rows: ${list(blind)}.` : "");
    warnings.dataset.blind = blind.join(",");
    warnings.dataset.future = future;
    warnings.dataset.allowed = pairs;
    words.textContent = said;
  }

  const TOLD = {
    everything: "Every token attends to every token, as in an encoder without padding.",
    causal: "Each token attends to itself and to earlier tokens, as in a decoder.",
    padding: "The columns of padding are masked for every token, as in an encoder.",
    combined: "No token attends to later tokens or to padding: both masks must allow a pair.",
    window: () => `Each token attends to ${width === 1 ? "itself only" : `itself and the ${width === 2 ? "token" : `${width - 1} tokens`} before it`}.`,
    prefix: () => `The first ${prefix === 1 ? "token is" : `${prefix} tokens are`} visible to every token; the rest is causal.`,
  };

  function choose(key) {
    name = key;
    mask = ready(key, look.real, width, prefix);
    const told = TOLD[key];
    draw(`${typeof told === "string" ? told : told()} Press a cell of the mask to change it.`);
  }

  function load() {
    look = looks[model.get("chosen")];
    chooser.selectedIndex = model.get("chosen");
    board.replaceChildren(
      table("mask", "Mask: row attends to column", look.tokens, "msk-press"),
      table("weights", "Weights", look.tokens, "msk-heat"),
      table("output", "Output", ["mean position", "on padding"], "msk-plain"));
    choose(name ?? "causal");
  }

  answerCells(board, explain);
  const pressed = (event) => event.target.closest?.('td[data-grid="mask"]');
  let touched = false; // a click that follows a finger says so itself in some browsers only
  board.addEventListener("pointerdown", (event) => {
    touched = event.pointerType === "touch";
    const td = pressed(event);
    if (!td || event.pointerType === "touch" || event.button !== 0) return;
    painting = td.dataset.may !== "true";
    set(Number(td.dataset.row), Number(td.dataset.column), painting);
  });
  board.addEventListener("pointerover", (event) => {
    const td = pressed(event);
    if (td && painting !== null) set(Number(td.dataset.row), Number(td.dataset.column), painting);
  });
  const rest = () => { painting = null; };
  window.addEventListener("pointerup", rest);
  window.addEventListener("pointercancel", rest);
  board.addEventListener("click", (event) => {
    const td = pressed(event);
    if (td && touched) set(Number(td.dataset.row), Number(td.dataset.column), td.dataset.may !== "true");
  });
  board.addEventListener("keydown", (event) => {
    const td = pressed(event);
    if (!td || (event.key !== " " && event.key !== "Enter")) return;
    event.preventDefault();
    set(Number(td.dataset.row), Number(td.dataset.column), td.dataset.may !== "true");
  });

  const root = make("div", { class: "slf slf-buttons msk", role: "group", "aria-label": "A mask, and what it does to the weights" },
    make("div", { class: "msk-bar" }, make("label", { for: chooser.id }, "Sentence ", chooser), make("label", { for: polarity.id }, "Written as ", polarity)),
    bar, words, board, warnings, maskInput);
  el.replaceChildren(root);
  load();
  const end = follow(model, ["chosen"], load);
  return () => {
    end();
    window.removeEventListener("pointerup", rest);
    window.removeEventListener("pointercancel", rest);
  };
}

export default { render };
