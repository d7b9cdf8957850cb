// A parallel program, played. Python has run it with each number of ranks; here its steps are added up and drawn.

const RPL = { wide: 440, high: 452, middle: 238, title: 16 };
const RPL_SIDES = [[2, 118], [4, 86], [8, 58], [16, 32]]; // ranks, and the side of each one's square

const rplNumbers = (text) => text.split(" ").map(Number);

const rplSeconds = (seconds) => (seconds ? inUnit(seconds, [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]]) : "0 s");
const rplMany = (count, word) => `${whole(count)} ${word}${count === 1 ? "" : "s"}`;

/** A film as Python wrote it down (rank_recording), with what has happened after each step; its bytes are those it was played with. */
function readFilm(film) {
  const messages = film.messages.map((line) => {
    const [step, from, to, bytes] = rplNumbers(line);
    return { step, from, to, bytes };
  });
  const [links, ranks] = [new Map(), Array(film.world).fill(0)];
  let now = { count: 0, busiest: 0, most: 0, have: film.start, new: new Set() };
  const states = [now];
  for (let step = 1; step <= film.steps; step += 1) {
    const moved = messages.filter((message) => message.step === step).sort((a, b) => a.from - b.from || a.to - b.to);
    for (const { from, to, bytes } of moved) {
      links.set(`${from} ${to}`, (links.get(`${from} ${to}`) ?? 0) + bytes);
      ranks[from] += bytes;
    }
    const have = now.have.map((blocks) => [...blocks]);
    const fresh = new Set();
    for (const [rank, block, mask] of (film.arrivals[step - 1] ?? "").split(";").filter(Boolean).map(rplNumbers)) {
      for (let row = 0; row < film.rows; row += 1) if ((mask & ~have[rank][block]) >> row & 1) fresh.add(`${rank} ${row} ${block}`);
      have[rank][block] = mask;
    }
    now = { count: now.count + moved.length, busiest: Math.max(...links.values()), most: Math.max(...ranks), have, new: fresh, moved };
    states.push(now);
  }
  return { ...film, states };
}

function render({ model, el }) {
  const id = nextId("rpl");
  const links = model.get("links");
  const programs = model.get("programs").map((program) => ({ ...program, films: program.films.map(readFilm) }));
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let [program, film, size, link] = [programs[0], null, 0, 0];
  let [at, isTouched] = [1, false];
  let stage = null; // the drawing of this film: where ranks are, and their cells

  const choice = (name, title, options, set) => {
    const box = make("select", { id: `${id}-${name}`, onchange: () => set(box.value) }, options.map(([value, label]) => make("option", { value }, label)));
    return [box, make("label", { class: "slf-choice rpl-choice", for: box.id }, `${title} `, box)];
  };
  const [programBox, programLabel] = choice("program", "Program", programs.map(({ name, title }) => [name, title]), (name) =>
    choose(programs.find((each) => each.name === name), film.world, size));
  const [, linkLabel] = choice("link", "Links", links.map((name, i) => [i, name]), (value) => { link = Number(value); say(); draw(); });
  const [worldSlider, worldValue, worldLabel] = slider(`${id}-world`, "rpl", "ranks", (i) => choose(program, program.films[i].world, size));
  const [sizeSlider, sizeValue, sizeLabel] = slider(`${id}-size`, "rpl", "array", (i) => choose(program, film.world, i, at));
  const [stepSlider, stepValue, stepLabel] = slider(`${id}-step`, "rpl", "step", (step) => goTo(step), true);
  const sentence = make("p", { class: "rpl-now", "aria-live": "polite", "aria-atomic": "true" });
  const back = make("button", { type: "button", class: "rpl-back", onclick: () => goTo(at - 1) }, "Back");
  const { play, start, pause } = player("rpl", {
    root: () => root,
    sentence,
    wait: () => Math.min(900, Math.max(350, 8000 / film.steps)),
    isAtEnd: () => at === film.steps,
    rewind: () => { at = 0; },
    goOn: (ms) => { at += 1; draw(true, 0.75 * ms); },
  });
  const on = make("button", { type: "button", class: "rpl-on", onclick: () => goTo(at + 1, true) }, "Step");
  const picture = make("svg:svg", { class: "rpl-stage", viewBox: `0 0 ${RPL.wide} ${RPL.high}`, role: "img" });
  const key = make("p", { class: "slf-key rpl-key", "aria-hidden": "true" });
  const words = make("p", { class: "slf-words rpl-words", "aria-live": "polite", "aria-atomic": "true" });
  const counts = make("tbody", {});
  const table = make("table", { class: "slf-table slf-counts" }, make("thead", {}, make("tr", {}, make("td", {}),
    ["so far", "whole"].map((head) => make("th", { scope: "col" }, head)))), counts);

  const real = (bytes) => Math.round((bytes * film.sizes[size]) / film.unit);

  /** Begin with a program, so many ranks or the nearest number that it has, and a size. */
  function choose(next, world, nextSize, step = 1) {
    pause();
    program = next;
    film = program.films.reduce((best, each) => (Math.abs(each.world - world) < Math.abs(best.world - world) ? each : best));
    size = Math.min(nextSize, film.sizes.length - 1);
    at = Math.min(step, film.steps);
    programBox.value = program.name;
    worldSlider.max = program.films.length - 1;
    worldSlider.value = program.films.indexOf(film);
    worldValue.textContent = String(film.world);
    worldSlider.setAttribute("aria-valuetext", `${film.world} ranks`);
    worldLabel.hidden = program.films.length < 2;
    sizeSlider.max = film.sizes.length - 1;
    sizeSlider.value = size;
    sizeValue.textContent = inBytes(film.sizes[size]);
    sizeSlider.setAttribute("aria-valuetext", inBytes(film.sizes[size]));
    sizeLabel.hidden = film.sizes.length < 2;
    stepSlider.max = film.steps;
    say();
    setStage();
    draw();
  }

  function goTo(step, isMoving = false) {
    pause();
    at = Math.min(Math.max(step, 0), film.steps);
    draw(isMoving);
  }

  function say() {
    const times = film.times[size][links[link]];
    const arrays = (bytes) => `${show(bytes / film.unit)} times`;
    words.replaceChildren(strong(`${capitalised(program.title)}, on ${rplMany(film.world, "rank")}.`),
      ` The longest chain of messages has ${rplMany(film.steps, "step")}. The busiest link carries ${arrays(film.busiest)} ${program.array} (${inBytes(film.sizes[size])}), and no rank sends more than ${arrays(film.most)} that. `,
      strong(`Messages alone take ${rplSeconds(times.at(-1))}`), ` on each link with ${links[link].split(": ").at(-1)}.`);
  }

  function setStage() {
    const { wide, middle } = RPL;
    const { world, rows } = film;
    const [, side] = RPL_SIDES.find(([most]) => world <= most);
    const radius = world === 1 ? 0 : Math.min(wide / 2 - side / 2 - 10, middle - RPL.title - side / 2 - 34);
    const columns = film.start[0]?.length ?? 0;
    const parts = [];
    const places = Array.from({ length: world }, (_, rank) => {
      const angle = (2 * Math.PI * rank) / world - (world === 2 ? Math.PI : Math.PI / 2);
      return [wide / 2 + radius * Math.cos(angle), middle + radius * Math.sin(angle)];
    });
    const cells = places.map(([x, y], rank) => {
      const [left, top] = [x - side / 2, y - side / 2];
      parts.push(make("svg:rect", { class: "rpl-rank", x: left - 4, y: top - 19, width: side + 8, height: side + 23, rx: 5 }),
        make("svg:text", { class: "rpl-name", x, y: top - 5, "text-anchor": "middle" }, side < 50 ? rank : `rank ${rank}`));
      return Array.from({ length: rows }, (_, row) => Array.from({ length: columns }, (__, column) => {
        const cell = make("svg:rect", { class: "rpl-cell", x: left + (column * side) / columns, y: top + (row * side) / rows, width: side / columns, height: side / rows });
        parts.push(cell);
        return cell;
      }));
    });
    const title = make("svg:text", { class: "rpl-title", x: 2, y: RPL.title });
    const moving = make("svg:g", {});
    picture.replaceChildren(title, ...parts, moving);
    stage = { side, places, cells, moving, title };
    const swatch = (mark, label) => make("span", {}, make("span", { class: `slf-mark rpl-${mark}-mark` }), label);
    key.replaceChildren(...(rows ? [swatch("own", "its own"), swatch("come", "arrived"), swatch("new", "arriving"),
      make("span", {}, rows > 1 ? "row: whose numbers; column: which part of the array" : "column: which part of the array")]
      : [make("span", {}, "whose numbers a message brings cannot be told here")]));
  }

  /** A bent arrow from a rank to another: a path, its head, and the points that a message passes. */
  function arrow(from, to) {
    const [[ax, ay], [bx, by]] = [stage.places[from], stage.places[to]];
    const long = Math.hypot(bx - ax, by - ay);
    const [ux, uy] = [(bx - ax) / long, (by - ay) / long];
    const half = stage.side / 2 + 5;
    const edge = (x, y, dx, dy) => { // where a line from the middle of a card leaves it
      const [up, down] = [half + 15, half];
      const t = Math.min(dx ? half / Math.abs(dx) : Infinity, dy ? (dy < 0 ? up : down) / Math.abs(dy) : Infinity);
      return [x + dx * (t + 2), y + dy * (t + 2)];
    };
    const bend = 0.1 * long; // there and back lie side by side
    const [mx, my] = [(ax + bx) / 2 - uy * bend, (ay + by) / 2 + ux * bend];
    const toMiddle = (x, y) => { const d = Math.hypot(mx - x, my - y); return [(mx - x) / d, (my - y) / d]; };
    const first = edge(ax, ay, ...toMiddle(ax, ay));
    const [hx, hy] = toMiddle(bx, by);
    const last = edge(bx, by, hx, hy);
    const head = [last, [last[0] + 9 * hx - 4.5 * hy, last[1] + 9 * hy + 4.5 * hx], [last[0] + 9 * hx + 4.5 * hy, last[1] + 9 * hy - 4.5 * hx]];
    const neck = [last[0] + 7 * hx, last[1] + 7 * hy];
    // Where the label stands: of long arrows near the beginning, since they may cross in the middle.
    const t = long > 200 ? 0.2 : 0.45;
    const label = [0, 1].map((axis) => (1 - t) ** 2 * first[axis] + 2 * t * (1 - t) * [mx, my][axis] + t ** 2 * last[axis]);
    return { line: `M${first}Q${mx} ${my} ${neck}`, head: head.join(" "), points: [first, label, last], t };
  }

  function draw(isMoving = false, duration = 550) {
    const state = film.states[at];
    const { cells, moving, title } = stage;
    cells.forEach((rows, rank) => rows.forEach((line, row) => line.forEach((cell, column) => {
      const has = (state.have[rank][column] >> row) & 1;
      const isOwn = (film.start[rank][column] >> row) & 1;
      const isNew = state.new.has(`${rank} ${row} ${column}`);
      cell.setAttribute("class", `rpl-cell${isOwn ? " rpl-own" : isNew ? " rpl-new" : has ? " rpl-come" : ""}`);
    })));
    const moved = state.moved ?? [];
    const [nodes, labels, flights] = [[], [], []];
    for (const { from, to, bytes } of moved) {
      const { line, head, points, t } = arrow(from, to);
      nodes.push(make("svg:path", { class: "rpl-arrow", d: line, "data-from": from, "data-to": to, "data-bytes": real(bytes) }), make("svg:polygon", { class: "rpl-head", points: head }));
      const [x, y] = points[1];
      if (moved.length <= 4) labels.push(make("svg:text", { class: "rpl-bytes", x, y: y + 4, "text-anchor": "middle" }, inBytes(real(bytes))));
      flights.push([make("svg:circle", { class: "rpl-packet", cx: x, cy: y, r: 5 }), points, t]);
    }
    moving.replaceChildren(...nodes, ...labels); // no arrow crosses a label
    if (isMoving && !still.matches) {
      for (const [node, [first, [x, y], last], t] of flights) {
        moving.append(node);
        const flight = node.animate([first, [x, y], last].map(([px, py], i) => ({ transform: `translate(${px - x}px, ${py - y}px)`, offset: [0, t, 1][i] })), { duration });
        flight.onfinish = () => node.remove();
      }
    }
    const sizes = [...new Set(moved.map(({ bytes }) => real(bytes)))].sort((a, b) => a - b);
    const each = sizes.length > 1 ? `${inBytes(sizes[0])} to ${inBytes(sizes.at(-1))} each` : `${inBytes(sizes[0] ?? 0)}${moved.length > 1 ? " each" : ""}`;
    title.textContent = at ? `step ${at} of ${film.steps}: ${rplMany(moved.length, "message")}, ${each}` : "before the first message";
    const pairs = moved.slice(0, 4).map(({ from, to }) => `${from} to ${to}`).join(", ");
    sentence.textContent = at
      ? `Step ${at}: ${rplMany(moved.length, "message")} of ${each}, from rank ${pairs}${moved.length > 4 ? ` and ${moved.length - 4} more` : ""}.`
      : "No message has been sent yet.";
    const full = film.rows ? state.have.map((blocks) => blocks.filter((mask) => mask === 2 ** film.rows - 1).length) : [];
    const reached = full.length ? ` Ranks have ${full.join(", ")} of ${film.start[0].length} parts ${film.rows > 1 ? "from all ranks" : ""}`.trimEnd() + "." : "";
    picture.setAttribute("aria-label", `${film.world} ranks in a ring, and the messages of one step as arrows. ${sentence.textContent}${reached}`);
    stepSlider.value = at;
    stepValue.textContent = `${at} of ${film.steps}`;
    stepSlider.setAttribute("aria-valuetext", `${at} of ${film.steps}`);
    [back.disabled, on.disabled] = [at === 0, at === film.steps];
    const times = film.times[size][links[link]];
    const rows = [["count", "messages", state.count, film.messages.length, whole], ["busiest", "on the busiest link", real(state.busiest), real(film.busiest), inBytes],
      ["most", "most that a rank sends", real(state.most), real(film.most), inBytes], ["time", "time on the links", at ? times[at - 1] : 0, times.at(-1), rplSeconds]];
    counts.replaceChildren(...rows.map(([name, head, value, all, show_]) => make("tr", {}, make("th", { scope: "row" }, head),
      make("td", { "data-count": name, "data-value": value }, show_(value)), make("td", { "data-count": `all-${name}`, "data-value": all }, show_(all)))));
    Object.assign(root.dataset, { program: program.name, world: film.world, size: film.sizes[size], link: links[link], step: at });
  }

  const root = make("div", { class: "slf slf-buttons rpl", role: "group", "aria-label": "A parallel program, played" },
    make("div", { class: "slf-bar" }, programLabel, linkLabel), make("div", { class: "slf-bar" }, worldLabel, sizeLabel),
    make("div", { class: "rpl-board" }, make("div", { class: "rpl-left" }, picture, key),
      make("div", { class: "rpl-right" }, sentence, make("div", { class: "rpl-buttons" }, back, play, on), stepLabel, table)), words);
  programLabel.hidden = programs.length < 2;
  linkLabel.hidden = links.length < 2;
  el.replaceChildren(root);
  choose(program, 4, 2);

  // It plays by itself once, when it comes into sight, unless the reader was faster or wants no motion.
  for (const kind of ["pointerdown", "keydown", "input", "change"]) root.addEventListener(kind, () => { isTouched = true; }, { capture: true });
  const watcher = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting) return;
    watcher.disconnect();
    if (!isTouched && !still.matches) start();
  }, { threshold: 0.6 });
  watcher.observe(picture);
  return () => { pause(); watcher.disconnect(); };
}

export default { render };
