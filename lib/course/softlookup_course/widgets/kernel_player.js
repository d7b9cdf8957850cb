// A kernel, played. Python has launched it with each size of a tile; here its steps are added up and drawn.

const KPL = { wide: 500, pad: 14, gap: 16, label: 34, title: 22, largest: 13 };
const KPL_ROOF = { wide: 320, high: 210, left: 62, right: 18, top: 16, bottom: 36 };

const kplNumbers = (text) => text.split(" ").map(Number);
/** A flat list of rectangles: [row, column, rows, columns] each. */
const kplRectangles = (list) => Array.from({ length: list.length / 4 }, (_, i) => list.slice(4 * i, 4 * i + 4));
const kplParts = (text) => text.split(";").filter(Boolean).map(kplNumbers);

/** A launch as Python wrote it down (kernel_recording.film), with its steps and states read. */
function readLaunch(launch) {
  const states = launch.states.map((line) => {
    const [loaded, computed] = line.split("|").map(kplParts);
    return { loaded: loaded.map(([array, ...list]) => ({ array, rectangles: kplRectangles(list) })), computed };
  });
  let now = { read: 0, written: 0, flops: 0, most: 0 };
  const steps = launch.steps.map((line) => {
    const [[first, last, chip, flops, state, name], ...moves] = kplParts(line);
    const step = { first, last, chip, flops, ...states[state], names: launch.names[name] ?? "", moves: moves.map(([array, isStored, bytes, ...list]) =>
      ({ array, isStored: isStored === 1, bytes, rectangles: kplRectangles(list) })) };
    const sum = (isStored) => step.moves.reduce((all, move) => all + (move.isStored === isStored ? move.bytes : 0), 0);
    now = { read: now.read + sum(false), written: now.written + sum(true), flops: now.flops + flops, most: Math.max(now.most, chip) };
    return { ...step, total: now };
  });
  const cells = launch.arrays.map(({ shape }) => shape.map((length) => Math.ceil(length / launch.cell)));
  return { ...launch, steps, cells };
}

const kplRate = (rate) => inUnit(rate, [[1e12, "TFLOP/s"], [1e9, "GFLOP/s"], [1e6, "MFLOP/s"], [1, "FLOP/s"]]);
const kplBytes = (bytes) => `${whole(bytes)} ${bytes === 1 ? "byte" : "bytes"}`;
const kplList = (parts) => (parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts[0]);

function render({ model, el }) {
  const id = nextId("kpl");
  const machine = model.get("machine");
  const kernels = model.get("kernels").map((kernel) => ({ ...kernel, launches: kernel.launches.map(readLaunch) }));
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let kernel = kernels[0];
  let [launch, at] = [null, 0];
  let stage = null; // the drawing of this launch: cells by array, and where things lie

  const kernelBox = make("select", { id: `${id}-kernel`, onchange: () => {
    choose(kernels.find(({ name }) => name === kernelBox.value), launch.tile);
  } }, kernels.map(({ name, title }) => make("option", { value: name }, title)));
  const tileName = make("span", {});
  const [tileSlider, tileValue, tileLabel] = slider(`${id}-tile`, "kpl", tileName, (i) => choose(kernel, kernel.launches[i].tile));
  const sentence = make("p", { class: "kpl-now", "aria-live": "polite", "aria-atomic": "true" });
  const back = make("button", { type: "button", class: "kpl-back", onclick: () => goTo(at - 1) }, "Back");
  const { play, pause } = player("kpl", {
    root: () => root,
    sentence,
    wait: () => Math.min(700, Math.max(90, 15000 / launch.steps.length)),
    isAtEnd: () => at === launch.steps.length,
    rewind: () => { at = 0; },
    goOn: (ms) => { at += 1; draw(true, 0.8 * ms); },
  });
  const on = make("button", { type: "button", class: "kpl-on", onclick: () => goTo(at + 1, true) }, "Step");
  const [stepSlider, stepValue, stepLabel] = slider(`${id}-step`, "kpl", "step", (step) => goTo(step), true);
  const picture = make("svg:svg", { class: "kpl-stage", role: "img" });
  const key = make("p", { class: "slf-key", "aria-hidden": "true" }, [["loaded", "loaded (stronger: more often)"], ["computed", "computed"], ["written", "written"]]
    .map(([mark, title]) => make("span", {}, make("span", { class: `slf-mark kpl-${mark}-mark` }), title)));
  const words = make("p", { class: "slf-words kpl-words", "aria-live": "polite", "aria-atomic": "true" });
  const counts = make("tbody", {});
  const table = make("table", { class: "slf-table slf-counts" }, make("thead", {}, make("tr", {}, make("td", {}),
    ["so far", "whole launch"].map((head) => make("th", { scope: "col" }, head)))), counts);
  const roof = make("svg:svg", { class: "kpl-roof", viewBox: `0 0 ${KPL_ROOF.wide} ${KPL_ROOF.high}`, role: "img" });
  const code = make("pre", { class: "kpl-text", tabindex: 0, role: "group", "aria-label": "Text of the kernel" });
  const fold = make("details", {}, make("summary", {}, "Text of the kernel"), code);

  /** Begin with a kernel and the size of a tile, or the nearest that it has, behind its first load. */
  function choose(next, tile) {
    pause();
    kernel = next;
    launch = kernel.launches.reduce((best, each) => (Math.abs(each.tile - tile) < Math.abs(best.tile - tile) ? each : best));
    at = 1 + Math.max(0, launch.steps.findIndex((step) => step.moves.length));
    kernelBox.value = kernel.name;
    tileLabel.hidden = kernel.launches.length < 2;
    tileName.textContent = kernel.tile_name;
    tileSlider.max = kernel.launches.length - 1;
    tileSlider.value = kernel.launches.indexOf(launch);
    tileValue.textContent = String(launch.tile);
    tileSlider.setAttribute("aria-valuetext", String(launch.tile));
    stepSlider.max = launch.steps.length;
    code.textContent = kernel.text;
    fold.hidden = !kernel.text;
    say();
    drawRoof();
    setStage();
    draw();
  }

  function goTo(step, isMoving = false) {
    pause();
    at = Math.min(Math.max(step, 0), launch.steps.length);
    draw(isMoving);
  }

  function say() {
    const { read, written, least, flops, intensity, bound, rate, tile } = launch;
    const limit = { memory: "Memory-bound", compute: "Compute-bound", both: "Exactly at the ridge" }[bound];
    const times = least ? `, ${show(read / least)} times the least (${whole(least)})` : "";
    const most = rate < machine.peak ? `${kplRate(rate)} of ${kplRate(machine.peak)}` : `${kplRate(machine.peak)}, its peak`;
    words.replaceChildren(strong(capitalised(tile ? `${kernel.title}, ${kernel.tile_name}: ${tile}.` : `${kernel.title}.`)),
      ` It reads ${kplBytes(read)}${times}, and writes ${whole(written)}. With ${whole(flops)} operations, that makes ${three(intensity)} FLOP/B. `,
      strong(`${limit} on the ${machine.name}`), `, whose ridge is at ${three(machine.ridge)} FLOP/B: at most ${most}.`);
  }

  /** Where everything lies, the same for all sizes of a tile, so that nothing jumps while the slider moves. */
  function setStage() {
    const shelf = Math.max(...kernel.launches.flatMap((each) => each.steps.flatMap((step) => [
      ...step.loaded.map((tile) => Math.max(...tile.rectangles.map(([, , rows]) => rows))), ...step.computed.map(([rows]) => rows / each.cell)])), 1);
    const widest = Math.max(...kernel.launches.flatMap((each) => each.steps.flatMap((step) => step.computed.map(([, columns]) => columns / each.cell))), 0);
    const [rows, columns] = [0, 1].map((axis) => launch.cells.map((size) => size[axis]));
    const isRead = ({ read }) => read > 0;
    const target = launch.arrays.findIndex((array) => array.written && !isRead(array)); // computed tiles lie under what they go to
    const widths = columns.map((width, array) => (array === target ? Math.max(width, widest) : width));
    if (target < 0) widths.push(widest);
    const n = widths.length;
    const free = KPL.wide - 2 * KPL.pad - (n - 1) * KPL.gap;
    const u = Math.min(KPL.largest, free / widths.reduce((a, b) => a + b, 0));
    // Narrow arrays get room for their names.
    const room = widths.map((width) => Math.max(width * u, Math.min(96, free / n)));
    const over = Math.min(1, free / room.reduce((a, b) => a + b, 0));
    const size = u * over;
    const full = room.map((width) => width * over);
    let x = (KPL.wide - full.reduce((a, b) => a + b, 0) - (n - 1) * KPL.gap) / 2;
    const lefts = full.map((width) => {
      const left = x;
      x += width + KPL.gap;
      return left;
    });
    const memory = KPL.title + KPL.label;
    const high = Math.max(...rows) * size;
    const chip = memory + high + 16;
    const counter = chip + KPL.title + 8;
    const end = counter + shelf * size + 24; // a pile leans over
    const text = (left, y, label, cls) => make("svg:text", { x: left, y, class: cls }, label);
    const parts = [
      make("svg:rect", { class: "kpl-memory", x: 0.5, y: 0.5, width: KPL.wide - 1, height: chip - 8, rx: 6 }),
      text(KPL.pad, 15, "main memory, the warehouse", "kpl-zone"),
      make("svg:rect", { class: "kpl-chip", x: 0.5, y: chip, width: KPL.wide - 1, height: end - chip - 1, rx: 6 }),
      text(KPL.pad, chip + 17, "chip, the counter", "kpl-zone"),
    ];
    const captions = launch.arrays.map((array, i) => {
      const caption = text(lefts[i], KPL.title + 28, "", "kpl-count");
      parts.push(text(lefts[i], KPL.title + 11, `${array.name} `, "kpl-name"), caption);
      return caption;
    });
    const cells = launch.cells.map(([height, width], i) => Array.from({ length: height }, (_, r) => Array.from({ length: width }, (_, c) => {
      const cell = make("svg:rect", { class: "kpl-cell", x: lefts[i] + c * size, y: memory + r * size, width: size, height: size });
      parts.push(cell);
      return cell;
    })));
    const program = make("svg:text", { x: KPL.wide - KPL.pad, y: chip + 17, class: "kpl-zone", "text-anchor": "end" });
    const moving = make("svg:g", {});
    parts.push(program, moving);
    picture.setAttribute("viewBox", `0 0 ${KPL.wide} ${end}`);
    picture.replaceChildren(...parts);
    stage = { size, lefts, memory, counter, captions, cells, program, moving, pile: lefts[target < 0 ? n - 1 : target] };
  }

  /** How many times each number of a cell has been read and written so far, by array: on average, where a tile ends within it. */
  function visits() {
    const seen = launch.cells.map(([height, width]) => Array.from({ length: height * width }, () => [0, 0]));
    for (const { moves } of launch.steps.slice(0, at)) {
      for (const { array, isStored, bytes, rectangles } of moves) {
        const { shape, bytes: size } = launch.arrays[array];
        const [height, width] = launch.cells[array];
        const numbers = ([r, c, h, w]) => (Math.min((r + h) * launch.cell, shape[0]) - r * launch.cell) * (Math.min((c + w) * launch.cell, shape[1]) - c * launch.cell);
        const area = rectangles.reduce((sum, rectangle) => sum + numbers(rectangle), 0) * (size / (shape[0] * shape[1]));
        for (const [r, c, h, w] of rectangles) {
          for (let row = r; row < Math.min(r + h, height); row += 1) {
            for (let column = c; column < Math.min(c + w, width); column += 1) seen[array][row * width + column][Number(isStored)] += bytes / area;
          }
        }
      }
    }
    return seen;
  }

  function draw(isMoving = false, duration = 450) {
    const step = launch.steps[at - 1];
    const total = step?.total ?? { read: 0, written: 0, flops: 0, most: 0 };
    const { size, lefts, memory, counter, captions, cells, program, moving, pile } = stage;
    visits().forEach((list, array) => list.forEach(([read, written], i) => {
      const cell = cells[array][Math.floor(i / cells[array][0].length)][i % cells[array][0].length];
      cell.classList.toggle("kpl-read", read > 0 && !written);
      cell.classList.toggle("kpl-written", written > 0);
      cell.style.fillOpacity = read + written ? Math.min(0.9, 0.3 + 0.2 * Math.log2(Math.max(1, written || read))) : 1;
    }));
    launch.arrays.forEach(({ bytes }, array) => {
      const sum = (isStored) => launch.steps.slice(0, at).flatMap((each) => each.moves)
        .reduce((all, move) => all + (move.array === array && move.isStored === isStored ? move.bytes : 0), 0) / bytes;
      const told = [[sum(false), "read"], [sum(true), "written"]].filter(([times]) => times).map(([times, word]) => `${word} ${times.toFixed(1)}×`);
      captions[array].textContent = told.join(", ");
    });

    // Tiles on the counter: loaded ones under their array, computed ones in a pile, the largest at the bottom.
    const nodes = [];
    const box = (cls, x, y, rows, columns) => {
      const node = make("svg:rect", { class: cls, x, y, width: Math.max(2, columns * size - 1), height: Math.max(2, rows * size - 1), rx: 1.5 });
      nodes.push(node);
      return node;
    };
    const flights = [];
    const heaps = new Map();
    const laid = (array, cls, rectangles, from) => {
      const tall = rectangles.reduce((y, [, , rows]) => y + rows, 0);
      const heap = heaps.get(array) ?? 0;
      let y = counter + heap;
      heaps.set(array, heap + Math.min(5, tall * size));
      for (const [row, column, rows, columns] of rectangles) {
        const node = box(cls, lefts[array], y, rows, columns);
        if (from) flights.push([node, column * size, memory + row * size - y]);
        y += rows * size;
      }
    };
    for (const move of step?.moves ?? []) {
      for (const [row, column, rows, columns] of move.rectangles) {
        box(`kpl-here${move.isStored ? " kpl-stored" : ""}`, lefts[move.array] + column * size, memory + row * size, rows, columns);
      }
    }
    for (const { array, rectangles } of step?.loaded ?? []) {
      const isNew = step.moves.some((move) => !move.isStored && move.array === array && String(move.rectangles) === String(rectangles));
      laid(array, "kpl-tile", rectangles, isNew);
    }
    [...(step?.computed ?? [])].sort((a, b) => b[0] * b[1] - a[0] * a[1]).forEach(([rows, columns], i) => {
      box("kpl-tile kpl-computed", pile + 4 * i, counter + 4 * i, rows / launch.cell, columns / launch.cell);
    });
    for (const move of step?.moves.filter((each) => each.isStored) ?? []) {
      for (const [row, column, rows, columns] of move.rectangles) {
        const [x, y] = [lefts[move.array] + column * size, memory + row * size];
        flights.push([box("kpl-flying", x, y, rows, columns), pile - x, counter - y]);
      }
    }
    moving.replaceChildren(...nodes);
    if (isMoving && !still.matches) {
      for (const [node, x, y] of flights) node.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], { duration, easing: "ease-in-out" });
    }

    const many = step && step.first !== step.last;
    const of = launch.programs > 1 ? ` of 0–${launch.programs - 1}` : "";
    const who = !step ? "" : many ? `programs ${step.first}–${step.last}${of}` : `program ${step.first}${of}`;
    program.textContent = who;
    const [reads, writes] = [false, true].map((isStored) => {
      const moves = (step?.moves ?? []).filter((move) => move.isStored === isStored);
      const list = moves.map(({ array, bytes }) => `${kplBytes(bytes)} ${isStored ? "to" : "of"} ${launch.arrays[array].name}`);
      return list.length ? `${isStored ? "write" : "read"}${many ? "" : "s"} ${kplList(list)}` : "";
    });
    const computes = step?.flops ? `${many ? "do" : "does"} ${whole(step.flops)} operations on chip (${step.names.replaceAll("_", " ")})` : "";
    sentence.replaceChildren(step ? `${capitalised(who)} ${kplList([reads, computes, writes].filter(Boolean))}.` : "Nothing has moved yet.");
    picture.setAttribute("aria-label", `Arrays in main memory, and the tiles of a program on chip. ${sentence.textContent}`);
    stepSlider.value = at;
    stepValue.textContent = `${at} of ${launch.steps.length}`;
    stepSlider.setAttribute("aria-valuetext", `${at} of ${launch.steps.length}`);
    [back.disabled, on.disabled] = [at === 0, at === launch.steps.length];
    const rows = [["read", "bytes read", total.read, launch.read], ["written", "bytes written", total.written, launch.written],
      ["now", "bytes on chip now", step?.chip ?? 0, null], ["most", "most on chip", total.most, launch.chip], ["flops", "operations", total.flops, launch.flops]];
    counts.replaceChildren(...rows.map(([name, title, value, all]) => make("tr", {}, make("th", { scope: "row" }, title),
      make("td", { "data-count": name, "data-value": value }, whole(value)), make("td", all === null ? {} : { "data-count": `all-${name}`, "data-value": all }, all === null ? "" : whole(all)))));
    Object.assign(root.dataset, { kernel: kernel.name, tile: launch.tile, step: at });
  }

  const everything = kernels.flatMap((each) => each.launches.map((one) => one.intensity)).filter((one) => one > 0);
  const ten = (value, round) => 10 ** round(Math.log10(value));
  const span = [ten(Math.min(machine.ridge, ...everything) / 1.5, Math.floor), ten(Math.max(machine.ridge, ...everything) * 1.5, Math.ceil)];

  function drawRoof() {
    const { wide, high, left, right, top, bottom } = KPL_ROOF;
    const rateAt = (intensity) => Math.min(machine.peak, machine.bandwidth * intensity);
    const log = (value, [low, most], from, to) => from + (Math.log(Math.max(value, low) / low) / Math.log(most / low)) * (to - from);
    const rates = [ten(rateAt(span[0]), Math.floor), ten(machine.peak * 1.5, Math.ceil)];
    const [x, y] = [(value) => log(value, span, left, wide - right), (value) => log(value, rates, high - bottom, top)];
    const text = (px, py, label, anchor = "middle", cls = null) => make("svg:text", { x: px, y: py, "text-anchor": anchor, class: cls }, label);
    const powers = ([low, most]) => Array.from({ length: Math.round(Math.log10(most / low)) + 1 }, (_, i) => low * 10 ** i);
    const nodes = [
      ...powers(span).flatMap((value) => [make("svg:path", { class: "kpl-grid", d: `M${x(value)} ${top}V${high - bottom}` }), text(x(value), high - bottom + 17, three(value))]),
      ...powers(rates).flatMap((value) => [make("svg:path", { class: "kpl-grid", d: `M${left} ${y(value)}H${wide - right}` }), text(left - 4, y(value) + 4, kplRate(value).replace("FLOP/s", ""), "end")]),
      text((left + wide - right) / 2, high - 4, "arithmetic intensity (FLOP/B)", "middle", "kpl-axis"),
      make("svg:text", { class: "kpl-axis", "text-anchor": "middle", transform: `translate(12 ${(top + high - bottom) / 2}) rotate(-90)` }, "attainable FLOP/s"),
      make("svg:path", { class: "kpl-edge", d: `M${x(machine.ridge)} ${y(machine.peak)}V${high - bottom}` }),
      make("svg:path", { class: "kpl-line", d: `M${x(span[0])} ${y(rateAt(span[0]))}L${x(machine.ridge)} ${y(machine.peak)}H${x(span[1])}` }),
    ];
    const last = []; // on top of points that lie at the same place
    for (const each of kernel.launches) {
      const isChosen = each === launch;
      const point = make("svg:circle", { class: isChosen ? "kpl-point kpl-chosen" : "kpl-point", cx: x(each.intensity), cy: y(each.rate), r: isChosen ? 6.5 : 4 });
      nodes.push(point);
      if (isChosen) last.push(point, text(Math.min(x(each.intensity) + 9, wide - right - 88), y(each.rate) + 19, `${launch.tile ? `tile ${launch.tile}: ` : ""}${three(each.intensity)}`, "start", "kpl-mark"));
    }
    roof.replaceChildren(...nodes, ...last);
    roof.setAttribute("aria-label", `Roofline of the ${machine.name} in ${machine.dtype}: ${three(launch.intensity)} FLOP/B, at most ${kplRate(launch.rate)}; the ridge is at ${three(machine.ridge)} FLOP/B.`);
    Object.assign(roof.dataset, { intensity: launch.intensity, rate: launch.rate });
  }

  const root = make("div", { class: "slf slf-buttons kpl", role: "group", "aria-label": "A kernel, played" },
    make("div", { class: "slf-bar" }, make("label", { class: "slf-choice", for: kernelBox.id }, "Kernel ", kernelBox), tileLabel),
    make("div", { class: "kpl-board" }, make("div", { class: "kpl-left" }, picture, key),
      make("div", { class: "kpl-steps" }, sentence, make("div", { class: "slf-bar" }, make("div", { class: "kpl-buttons" }, back, play, on), stepLabel)),
      make("div", { class: "kpl-right" }, table, roof)), words, fold);
  kernelBox.parentElement.hidden = kernels.length < 2;
  el.replaceChildren(root);
  choose(kernel, model.get("starting_tile"));
  return pause;
}

export default { render };
