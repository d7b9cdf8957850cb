// One layer of 2017 beside one of a model of today. Python has named every box and every difference; here they are laid out, from the
// input at the bottom up, and each difference is a link to the section that explains it.

function render({ model, el }) {
  const [original, models, rows, costs] = ["original", "models", "rows", "costs"].map((name) => model.get(name));
  const length = model.get("length");
  let chosen = model.get("first");

  const buttons = models.map(({ name }) =>
    make("button", { type: "button", "data-model": name, onclick: () => { chosen = name; draw(); } }, name));
  const grid = make("ol", { class: "lyc-grid", reversed: "" });
  const words = make("p", { class: "slf-words lyc-words", "aria-live": "polite", "aria-atomic": "true" });
  const key = make("p", { class: "slf-key" },
    costs.map((cost) => make("span", {}, make("span", { class: `slf-mark lyc-is-${cost}` }), `lowers ${cost}`)),
    make("span", {}, make("span", { class: "slf-mark lyc-is-known" }), "explained in earlier chapters"));

  /** A box on the residual stream, or the stream alone where a layer has no such part. */
  const box = (text, name = "") => make("span", { class: `lyc-cell ${name}` }, text ? make("span", { class: "lyc-box" }, text) : "");
  const mark = ([text, link, cost]) => make("a", { href: link, class: `lyc-mark lyc-is-${cost || "known"}`, "data-cost": cost },
    text, cost ? make("span", { class: "lyc-cost" }, ` (${cost})`) : "");

  function draw() {
    const now = models.find(({ name }) => name === chosen);
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.model === chosen));
    const row = (name, left, right, marks) => make("li", { class: "lyc-row", "data-row": name }, box(left),
      make("div", { class: "lyc-right" }, box(right), marks.length ? make("span", { class: "lyc-marks" }, marks.map(mark)) : ""));
    const drawn = rows.map((name) => row(name, original[name], now.boxes[name], now.marks[name] ?? []));
    const stack = row("stack", original.stack, now.boxes.stack, []);
    const head = make("li", { class: "lyc-head" }, make("strong", {}, "Decoder of 2017"), make("strong", {}, chosen));
    grid.replaceChildren(...drawn, stack, head);
    const marks = Object.values(now.marks).flat();
    const fresh = marks.filter(([, , cost]) => cost).length;
    words.replaceChildren(strong(chosen), ` has ${three(now.total / 1e9)} billion parameters, and what it keeps of ${whole(length)} tokens takes `,
      strong(inBytes(now.memory)), `. Of ${marks.length} differences from 2017, ${marks.length - fresh} are known from earlier chapters, and ${fresh || "none"} ${fresh === 1 ? "is" : "are"} new.`);
    Object.assign(root.dataset, { model: chosen, total: now.total, memory: now.memory });
  }

  const root = make("div", { class: "slf slf-buttons lyc", role: "group", "aria-label": "A decoder layer of 2017 beside one of today" },
    make("div", { class: "slf-bar", role: "group", "aria-label": "Model" }, buttons), grid, words, key);
  el.replaceChildren(root);
  draw();
}

export default { render };
