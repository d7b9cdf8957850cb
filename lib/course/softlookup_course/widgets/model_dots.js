// Models as dots on two logarithmic scales. Python has counted; here a dot is found by mouse, finger, keys or list, and says what it is.
// Its link is that of its row in the page's table, which the page opens.

const MDT = { left: 68, right: 14, top: 12, low: 42, high: 330, least: 280, near: 26, narrow: 480 };
const SHAPES = [
  "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0Z", "M-4-4H4V4H-4Z", "M0-5.4L5 3.8H-5Z", "M0-5.8L5 0L0 5.8L-5 0Z",
];
const HUES = ["query", "key", "value", "mixed"];

function render({ model, el }) {
  const id = nextId("mdt");
  const [dots, kinds, ages, written, length] = ["dots", "kinds", "ages", "names", "length"].map((name) => model.get(name));
  const meaning = Object.fromEntries(kinds);
  const title = (dot) => dot.name || dot.type;
  const each = (dot) => dot.memory / length;
  const linkOf = (dot) => `#model-${dot.type}`;
  const rightward = [...dots].sort((a, b) => a.active - b.active || each(a) - each(b));
  const upward = [...dots].sort((a, b) => each(a) - each(b) || a.active - b.active);
  let [chosen, wide, at] = [null, 640, new Map()];

  const picture = make("svg:svg", { class: "mdt-picture", role: "group", "aria-label": `${dots.length} architectures: active parameters to the right, bytes for each token upwards` });
  const words = make("p", { class: "slf-words mdt-words", "aria-live": "polite", "aria-atomic": "true" });
  const byName = [...dots].sort((a, b) => title(a).localeCompare(title(b), "en"));
  const list = make("select", { id: `${id}-model`, onchange: () => choose(dots.find((dot) => dot.type === list.value) ?? null) },
    make("option", { value: "" }, "none"), byName.map((dot) => make("option", { value: dot.type }, dot.name ? `${dot.name} (${dot.type})` : dot.type)));
  const key = make("p", { class: "slf-key", "aria-hidden": "true" },
    kinds.map(([kind], i) => make("span", {}, make("svg:svg", { class: "mdt-shape", viewBox: "-7 -7 14 14" }, make("svg:path", { d: SHAPES[i] })), kind)),
    ages.map((age, i) => make("span", {}, make("span", { class: `slf-mark mdt-${HUES[i]}` }), age)));

  const points = new Map(rightward.map((dot) => [dot, make("svg:g", {
    role: "link", class: `mdt-point mdt-${HUES[ages.indexOf(dot.age)]}`, "data-type": dot.type, tabindex: -1,
    "aria-label": `${title(dot)}: ${inBytes(each(dot))} for each token`, onfocus: () => choose(dot),
  }, make("svg:path", { d: SHAPES[kinds.findIndex(([kind]) => kind === dot.kind)] }))]));

  function tell() {
    if (!chosen) return ["Point at a dot, tap it, or choose an architecture from the list. Press a dot that has its name to open its row in the table."];
    const sizes = chosen.name ? ` (architecture ${chosen.type}, ${chosen.year})` : ` (${chosen.year}; default sizes of its code)`;
    const all = chosen.active === chosen.total;
    const works = all ? `All of its ${three(chosen.total / 1e9)} billion parameters work on a token.`
      : `Of its ${three(chosen.total / 1e9)} billion parameters, ${three(chosen.active / 1e9)} billion work on a token.`;
    return [strong(title(chosen)), `${sizes} keeps ${inBytes(each(chosen))} for each of ${whole(length)} tokens, ${inBytes(chosen.memory)} in all: ${meaning[chosen.kind]}. ${works} `,
      make("a", { href: linkOf(chosen), class: "mdt-link" }, "Its row in the table")];
  }

  function choose(dot) {
    chosen = dot;
    list.value = dot?.type ?? "";
    words.replaceChildren(...tell());
    root.dataset.type = dot?.type ?? "";
    draw();
  }

  /** Lay out the dots for the present width. */
  function draw() {
    const { left, right, top, low, high } = MDT;
    const scale = (numbers, begin, end) => {
      const [least, most] = [Math.min(...numbers), Math.max(...numbers)].map(Math.log10);
      const edge = 0.05 * (most - least);
      const to = (number) => begin + ((end - begin) * (Math.log10(number) - least + edge)) / (most - least + 2 * edge);
      const ticks = [];
      for (let power = Math.ceil(least - edge); power <= most + edge; power += 1) ticks.push(10 ** power);
      return [to, ticks];
    };
    const [x, across] = scale(dots.map((dot) => dot.active), left, wide - right);
    const [y, upright] = scale(dots.map(each), top + high, top);
    const nodes = [];
    const text = (attributes, content) => nodes.push(make("svg:text", attributes, content));
    for (const tick of across) {
      nodes.push(make("svg:line", { class: "mdt-grid", x1: x(tick), x2: x(tick), y1: top, y2: top + high }));
      text({ x: x(tick), y: top + high + 17, "text-anchor": "middle" }, inUnit(tick, [[1e12, "T"], [1e9, "billion"], [1e6, "million"]]));
    }
    for (const tick of upright) {
      nodes.push(make("svg:line", { class: "mdt-grid", x1: left, x2: wide - right, y1: y(tick), y2: y(tick) }));
      text({ x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, inBytes(tick));
    }
    text({ x: (left + wide - right) / 2, y: top + high + 36, "text-anchor": "middle" }, "parameters at work on a token");
    text({ x: left + 6, y: top + 12 }, "memory for each token");
    at = new Map(dots.map((dot) => [dot, [x(dot.active), y(each(dot))]]));
    const stop = chosen ?? rightward[0]; // one dot is a Tab stop; arrow keys lead to the others
    for (const [dot, point] of points) {
      point.setAttribute("transform", `translate(${at.get(dot).map((number) => number.toFixed(1)).join(" ")})`);
      point.setAttribute("tabindex", dot === stop ? 0 : -1);
      point.classList.toggle("mdt-chosen", dot === chosen);
    }
    const isNamed = (dot) => wide >= MDT.narrow && dot.name && written.includes(dot.name);
    for (const [dot, point] of points) point.classList.toggle("mdt-named", Boolean(isNamed(dot)));
    const labels = dots.filter((dot) => dot === chosen || isNamed(dot)).map((dot) => {
      const [px, py] = at.get(dot);
      const side = px > wide / 2 ? -1 : 1;
      return make("svg:text", { class: `mdt-name${dot === chosen ? " mdt-now" : ""}`, x: px + 9 * side, y: py - 7, "text-anchor": side < 0 ? "end" : "start" }, title(dot));
    });
    labels.sort((a, b) => a.classList.contains("mdt-now") - b.classList.contains("mdt-now"));
    picture.setAttribute("viewBox", `0 0 ${wide} ${top + high + low}`);
    ground.replaceChildren(...nodes);
    names.replaceChildren(...labels);
  }
  const [ground, names] = [make("svg:g", { "aria-hidden": "true" }), make("svg:g", { class: "mdt-names", "aria-hidden": "true" })];
  picture.append(ground, make("svg:g", {}, ...points.values()), names);

  /** The dot nearest to a pointer, if one is near. */
  function nearest({ clientX, clientY }) {
    const box = picture.getBoundingClientRect();
    const [px, py] = [((clientX - box.left) * wide) / box.width, ((clientY - box.top) * wide) / box.width];
    const away = (dot) => Math.hypot(at.get(dot)[0] - px, at.get(dot)[1] - py);
    const best = dots.reduce((a, b) => (away(b) < away(a) ? b : a));
    return away(best) <= MDT.near ? best : null;
  }
  picture.addEventListener("pointermove", (event) => {
    const dot = event.pointerType === "touch" ? null : nearest(event);
    if (dot && dot !== chosen) choose(dot);
  });
  picture.addEventListener("mousedown", (event) => event.preventDefault()); // a press is not a focus: the nearest dot counts
  const openRow = () => words.querySelector(".mdt-link").click();
  picture.addEventListener("click", (event) => {
    const dot = nearest(event);
    if (dot && dot === chosen) openRow();
    else if (dot) choose(dot);
  });
  picture.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && chosen) {
      event.preventDefault(); // the row's button gets the focus, and must not be pressed by the same key
      openRow();
    }
    const [order, step] = { ArrowRight: [rightward, 1], ArrowLeft: [rightward, -1], ArrowUp: [upward, 1], ArrowDown: [upward, -1], Home: [rightward, -Infinity], End: [rightward, Infinity] }[event.key] ?? [];
    if (!order) return;
    event.preventDefault();
    const next = order.indexOf(chosen ?? rightward[0]) + step;
    points.get(order[Math.max(0, Math.min(order.length - 1, next))]).focus();
  });

  const root = make("div", { class: "slf slf-buttons mdt", role: "group", "aria-label": "Models at a glance" },
    make("div", { class: "slf-bar" }, make("label", { class: "slf-choice", for: list.id }, make("span", {}, "Architecture"), list)), picture, key, words);
  el.replaceChildren(root);
  choose(null);
  return keepWide(picture, MDT.least, (width) => { wide = width; draw(); });
}

export default { render };
