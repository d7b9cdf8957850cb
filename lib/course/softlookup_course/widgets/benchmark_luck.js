// How often the better of two models wins on a benchmark. Python has computed 100 equally likely outcomes for each setting; here they are squares.

const BML = { most: 29, tall: 190, square: 7, foot: 40, least: 280 };

function render({ model, el }) {
  const id = nextId("bml");
  const [states, sizes, gains, ways] = ["states", "sizes", "gains", "ways"].map((name) => model.get(name));
  let [way, gain, at, wide] = [1, 0, model.get("first"), 640];
  const points = (number) => minus(`${number > 0 ? "+" : ""}${Number(number.toFixed(1))}`);

  const wayButtons = ways.map((name, i) => make("button", { type: "button", "data-way": i, onclick: () => choose({ way: i }) }, name));
  const gainButtons = gains.map((number, i) => make("button", { type: "button", "data-gain": i, onclick: () => choose({ gain: i }) }, String(Math.round(number))));
  const [input, value, label] = slider(`${id}-at`, "bml", "questions", (i) => choose({ at: i }));
  input.max = sizes.length - 1;
  const picture = make("svg:svg", { class: "bml-picture", role: "img" });
  const words = make("p", { class: "slf-words bml-words", "aria-live": "polite", "aria-atomic": "true" });

  function choose(next) {
    ({ way, gain, at } = { way, gain, at, ...next });
    wayButtons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === way)));
    gainButtons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === gain)));
    input.value = at;
    value.textContent = whole(sizes[at]);
    input.setAttribute("aria-valuetext", `${whole(sizes[at])} questions`);
    const { loses, ties, low, high } = states[way][gain][at];
    words.replaceChildren(strong(`In ${loses} of 100 benchmarks the worse model wins`),
      `, in ${ties} there is a tie, and in ${100 - loses - ties} the better model wins. The middle 95 % of benchmarks show a lead of ${points(low)} to ${points(high)} points; in truth it is ${points(gains[gain])}.`);
    Object.assign(root.dataset, { way, gain, at });
    draw();
  }

  function draw() {
    const { columns } = states[way][gain][at];
    const room = wide / (2 * BML.most + 1);
    const side = Math.min(BML.square, BML.tall / Math.max(...columns.map(([, count]) => count)));
    const left = (k) => (k + BML.most) * room;
    const nodes = [make("svg:rect", { class: "bml-room", x: 0, y: 0, width: wide, height: BML.tall + 22 })];
    nodes.push(make("svg:text", { x: 6, y: 16, class: "bml-small" }, "the worse model wins"));
    nodes.push(make("svg:text", { x: wide - 6, y: 16, "text-anchor": "end", class: "bml-small" }, "the better model wins"));
    for (const [k, count] of columns) {
      const colour = k < 0 ? "bml-lost" : k ? "bml-won" : "bml-tie";
      const x = left(k) + 0.06 * room;
      for (let i = 0; i < count; i += 1) {
        nodes.push(make("svg:rect", { class: `bml-one ${colour}`, x, y: BML.tall + 22 - (i + 1) * side, width: 0.88 * room, height: 0.88 * side, "data-column": k }));
      }
    }
    const foot = BML.tall + 22;
    nodes.push(make("svg:line", { class: "bml-axis", x1: 0, x2: wide, y1: foot, y2: foot }));
    for (const k of [-20, -10, 0, 10, 20]) {
      const x = left(k) + room / 2;
      nodes.push(make("svg:line", { class: "bml-axis", x1: x, x2: x, y1: foot, y2: foot + 4 }));
      nodes.push(make("svg:text", { x, y: foot + 18, "text-anchor": "middle", class: "bml-small" }, points(k)));
    }
    nodes.push(make("svg:text", { x: wide / 2, y: foot + 35, "text-anchor": "middle", class: "bml-small" }, "lead of the better model, points"));
    picture.setAttribute("viewBox", `0 0 ${wide} ${foot + BML.foot}`);
    picture.replaceChildren(...nodes);
    picture.setAttribute("aria-label", `100 benchmarks as squares, sorted by the lead of the better model. ${words.textContent}`);
  }

  const root = make("div", { class: "slf slf-buttons bml", role: "group", "aria-label": "Benchmarks of two models" },
    make("div", { class: "slf-bar" },
      make("div", { class: "bml-choices", role: "group", "aria-label": "Questions" }, wayButtons),
      make("div", { class: "bml-choices", role: "group", "aria-label": "True lead in points" }, make("span", {}, "better by"), gainButtons, make("span", {}, "points")), label),
    picture, words);
  el.replaceChildren(root);
  choose({});
  return keepWide(picture, BML.least, (width) => { wide = width; draw(); });
}

export default { render };
