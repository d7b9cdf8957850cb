// One encoder layer, box by box. Python sends every number; this file draws the diagram and spells out single cells.

const ORDERS = ["post-LN: the norm after each sum", "pre-LN: the norm before each sublayer"];
const EPS = 1e-5;

const inBrackets = (number) => (number < 0 && show(number) !== "0.00" ? `(${show(number)})` : show(number));

/** How a cell came about: the numbers that went in, and the marks for their cells. */
const EXPLAIN = {
  sum: (of, r, c, [a, b], self) => ({
    sum: `${show(of[a][r][c])} + ${inBrackets(of[b][r][c])} = ${show(self[r][c])}`, used: [[a, r, c], [b, r, c]],
  }),
  same: (of, r, c, [a], self) => ({ sum: `${show(self[r][c])}, unchanged from the box before`, used: [[a, r, c]] }),
  relu: (of, r, c, [a], self) => ({ sum: `max(0, ${show(of[a][r][c])}) = ${show(self[r][c])}`, used: [[a, r, c]] }),
  norm: (of, r, c, [x, m, g], self) => {
    const [mean, variance] = of[m][r];
    const root = Math.sqrt(variance + EPS);
    const text = `(${show(of[x][r][c])} − ${inBrackets(mean)}) / ${show(root)} × ${inBrackets(of[g][0][c])} + ${inBrackets(of[g][1][c])} = ${show(self[r][c])}`;
    return { sum: `${text};  ${show(root)} is √(${variance.toFixed(4)} + 0.00001)`, used: [[x, r, null], [m, r, null], [g, null, c]] };
  },
};

/** Tint by how far from 0 a number lies, in its own table. */
function drawTable(table, hue) {
  const top = Math.max(...table.numbers.flat().map(Math.abs)) || 1;
  const cell = (number, r, c) => {
    const td = make("td", { role: "gridcell", tabindex: r + c ? -1 : 0, "data-grid": table.id, "data-row": r, "data-column": c, "data-value": number }, show(number));
    td.style.setProperty("--ens-tint", (Math.abs(number) / top).toFixed(3));
    td.classList.toggle("ens-below", number < 0);
    return td;
  };
  const shape = make("span", { class: "ens-shape" }, ` ${table.letters} = ${table.numbers.length} × ${table.numbers[0].length}`);
  const header = make("tr", {}, make("td", {}), table.columns.map((name) => make("th", { scope: "col" }, name)));
  const rows = table.numbers.map((line, r) => make("tr", {}, make("th", { scope: "row" }, table.rows[r]), line.map((number, c) => cell(number, r, c))));
  const label = `${table.caption}, ${table.numbers.length} rows and ${table.numbers[0].length} columns`;
  return make("div", { class: `ens-table ens-${hue}${table.columns.length > 6 ? " ens-wide" : ""}` }, make("table", { role: "grid", "aria-label": label },
    make("caption", {}, strong(table.caption), shape), make("thead", {}, header), make("tbody", {}, rows)));
}

const HUES = { x: "value", y: "value", s1: "value", s2: "value", n1: "key", n2: "key", qkv: "query", a: "query", z: "query", o: "query", h: "mixed", f: "mixed" };

function render({ model, el }) {
  const id = nextId("ens");
  const set = (name, value) => { model.set(name, value); model.save_changes(); };
  const record = () => model.get("records")[model.get("chosen")][model.get("order")];
  const boxId = () => record().boxes[model.get("box")].id;

  /** Change what is shown, and keep the same box in sight where the other record has it. */
  function keeping(name, value) {
    const before = boxId();
    set(name, value);
    set("box", Math.max(0, record().boxes.findIndex((box) => box.id === before)));
  }
  const chooser = make("select", { id: `${id}-example`, onchange: () => keeping("chosen", chooser.selectedIndex) },
    model.get("records").map(([one]) => make("option", {}, one.title)));
  const radios = ORDERS.map((name, i) => make("input", { type: "radio", name: `${id}-order`, value: i, id: `${id}-order-${i}`, onchange: () => keeping("order", i) }));
  const orders = make("fieldset", { class: "ens-orders" }, make("legend", {}, "Order"),
    ORDERS.map((name, i) => make("label", { for: radios[i].id }, radios[i], ` ${name}`)));

  const diagram = make("div", { class: "ens-diagram", role: "tablist", "aria-label": "The layer, from its input to its output", "aria-orientation": "vertical" });
  const name = make("p", { class: "ens-name" });
  const does = make("p", { class: "ens-does" });
  const tables = make("div", { class: "ens-tables" });
  const words = make("p", { class: "ens-words" });
  const back = make("button", { type: "button", class: "ens-back", onclick: () => step(-1) }, "← Back");
  const next = make("button", { type: "button", class: "ens-next", onclick: () => step(1) });
  const explain = make("div", { class: "ens-explain", "aria-live": "polite", "aria-atomic": "true" }, name, does, words);
  const panel = make("div", { class: "ens-panel", role: "tabpanel", id: `${id}-panel` }, explain, tables,
    make("div", { class: "ens-foot" }, back, next));

  const step = (by) => set("box", (model.get("box") + by + record().boxes.length) % record().boxes.length);

  diagram.addEventListener("keydown", (event) => {
    const last = record().boxes.length - 1;
    const now = model.get("box");
    const to = { ArrowDown: Math.min(now + 1, last), ArrowRight: Math.min(now + 1, last), ArrowUp: Math.max(now - 1, 0), ArrowLeft: Math.max(now - 1, 0), Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    set("box", to);
    diagram.querySelectorAll("button")[to].focus();
  });

  function ask(td) {
    const all = record().boxes.flatMap((box) => box.tables);
    const table = all.find((one) => one.id === td.dataset.grid);
    const [r, c] = [Number(td.dataset.row), Number(td.dataset.column)];
    const of = Object.fromEntries(all.map((one) => [one.id, one.numbers]));
    const where = `“${table.rows[r]}”, ${table.columns[c]}: `;
    let told = { sum: show(table.numbers[r][c]), used: [] };
    if (table.from) told = EXPLAIN[table.from[0]](of, r, c, table.from.slice(1), table.numbers);
    words.replaceChildren(strong(where), told.sum);
    markCells(tables, [...told.used, [table.id, r, c]], td, "ens");
  }
  answerCells(tables, ask);

  function draw() {
    const { boxes, tokens } = record();
    const now = Math.min(model.get("box"), boxes.length - 1);
    const box = boxes[now];
    chooser.selectedIndex = model.get("chosen");
    radios.forEach((radio, i) => { radio.checked = i === model.get("order"); });
    const had = diagram.contains(document.activeElement);
    diagram.replaceChildren(...boxes.map((one, i) => make("button", {
      type: "button", role: "tab", id: `${id}-box-${one.id}`, "data-box": one.id, "aria-selected": String(i === now), "aria-controls": panel.id, tabindex: i === now ? 0 : -1,
      class: `ens-box ens-${HUES[one.id]} ${one.road ? "ens-road" : "ens-branch"}`, onclick: () => set("box", i),
    }, make("span", {}, one.name))));
    if (had) diagram.querySelectorAll("button")[now].focus();
    panel.setAttribute("aria-labelledby", `${id}-box-${box.id}`);
    const place = box.road ? "on the residual stream" : "on the branch";
    name.replaceChildren(strong(box.name), ` — step ${now + 1} of ${boxes.length}, ${place}, ${box.letters}`);
    does.textContent = box.does;
    words.textContent = "Point at a number, tap it, or go to it with Tab and the arrow keys, to see how it is computed.";
    tables.replaceChildren(...box.tables.map((table) => drawTable(table, HUES[box.id])));
    next.textContent = now + 1 < boxes.length ? `Next: ${boxes[now + 1].name} →` : "↺ From the start";
    back.disabled = now === 0;
    root.style.setProperty("--ens-tokens", tokens.length);
  }

  const bar = make("div", { class: "ens-bar" }, make("label", { for: chooser.id }, "Example ", chooser), orders);
  const root = make("div", { class: "slf ens", role: "group", "aria-label": "An encoder layer, box by box" }, bar,
    make("div", { class: "ens-body" }, diagram, panel));
  el.replaceChildren(root);
  draw();
  return follow(model, ["chosen", "order", "box", "records"], draw);
}

export default { render };
