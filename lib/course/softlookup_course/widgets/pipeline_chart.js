// A pipeline as a Gantt chart. Python has computed when each stage works; here it is drawn up to a time.

const PPL = { least: 280, left: 58, right: 74, top: 26, row: 34, gap: 6, bottom: 34 };

/** A run as Python wrote it down (pipeline_chart.describe), with its tasks read: "F0 0 F1 1". */
function readRun(run, forward, backward) {
  const tasks = run.tasks.map((line) => {
    const words = line.split(" ");
    return Array.from({ length: words.length / 2 }, (_, i) => {
      const [name, begin] = [words[2 * i], Number(words[2 * i + 1])];
      return { name, begin, end: begin + (name[0] === "F" ? forward : backward) };
    });
  });
  return { ...run, tasks };
}

const pplPercent = (fraction) => `${(100 * fraction).toFixed(1)} %`;

function render({ model, el }) {
  const id = nextId("ppl");
  const [forward, backward] = [model.get("forward"), model.get("backward")];
  const runs = model.get("runs").map((run) => readRun(run, forward, backward));
  const values = (name) => [...new Set(runs.map((run) => run[name]))];
  const [schedules, stages, micros] = ["schedule", "stages", "micro"].map(values);
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let choice = { schedule: schedules.at(-1), stages: stages[Math.min(1, stages.length - 1)], micro: micros[Math.min(3, micros.length - 1)] };
  let [run, at, wide] = [null, 0, 640];

  const scheduleBox = make("select", { id: `${id}-schedule`, onchange: () => choose({ schedule: scheduleBox.value }) },
    schedules.map((name) => make("option", { value: name }, name)));
  const [stageSlider, stageValue, stageLabel] = slider(`${id}-stages`, "ppl", "stages", (i) => choose({ stages: stages[i] }));
  const [microSlider, microValue, microLabel] = slider(`${id}-micro`, "ppl", "micro-batches", (i) => choose({ micro: micros[i] }));
  const [timeSlider, timeValue, timeLabel] = slider(`${id}-time`, "ppl", "time", (time) => { pause(); at = time; draw(); }, true);
  const { play, pause } = player("ppl", {
    root: () => root,
    wait: () => (still.matches ? 400 : Math.min(400, Math.max(80, 9000 / run.length))),
    waitsFirst: true,
    isAtEnd: () => at >= run.length,
    rewind: () => { at = 0; draw(); },
    goOn: () => { at += 1; draw(); },
  });
  const picture = make("svg:svg", { class: "ppl-chart", role: "img" });
  const key = make("p", { class: "slf-key ppl-key", "aria-hidden": "true" }, [["forward", `forward, ${forward}`], ["backward", `backward, ${backward}`], ["idle", "idle"]]
    .map(([mark, title]) => make("span", {}, make("span", { class: `slf-mark ppl-${mark}-mark` }), title)));
  const words = make("p", { class: "slf-words ppl-words", "aria-live": "polite", "aria-atomic": "true" });

  function choose(change) {
    pause();
    choice = { ...choice, ...change };
    run = runs.find((each) => Object.entries(choice).every(([name, value]) => each[name] === value));
    at = run.length;
    scheduleBox.value = run.schedule;
    for (const [input, value, list, count] of [[stageSlider, stageValue, stages, run.stages], [microSlider, microValue, micros, run.micro]]) {
      input.max = list.length - 1;
      input.value = list.indexOf(count);
      value.textContent = String(count);
      input.setAttribute("aria-valuetext", String(count));
      input.parentElement.hidden = list.length < 2;
    }
    timeSlider.max = run.length;
    const most = Math.max(...run.alive);
    words.replaceChildren(strong(`${run.schedule}, ${run.stages} stages, ${run.micro} ${run.micro === 1 ? "micro-batch" : "micro-batches"}: ${pplPercent(run.idle)} of the time is idle.`),
      ` The step takes ${whole(run.length)} units, of which each stage works ${whole(run.micro * (forward + backward))}. `,
      strong(`Stage 0 holds the activations of ${run.alive[0]} ${run.alive[0] === 1 ? "micro-batch" : "micro-batches"} at a time`), `, the last stage ${run.alive.at(-1)}${most > run.alive[0] ? `, and the most of any is ${most}` : ""}.`);
    draw();
  }

  function draw() {
    const { left, right, top, row, gap, bottom } = PPL;
    const high = top + run.stages * row + bottom;
    const unit = (wide - left - right) / run.length;
    const x = (time) => left + time * unit;
    const text = (px, py, label, anchor, cls) => make("svg:text", { x: px, y: py, "text-anchor": anchor, class: cls }, label);
    const nodes = [text(wide - right + 6, 14, at < run.length ? "held now" : "held, most", "start", "ppl-small")];
    const held = run.tasks.map((tasks, stage) => {
      const y = top + stage * row;
      nodes.push(text(left - 8, y + row / 2 + 1, `stage ${stage}`, "end", null),
        make("svg:rect", { class: "ppl-idle", x: left, y, width: unit * Math.min(at, run.length), height: row - gap }));
      for (const { name, begin, end } of tasks) {
        const done = Math.min(end, at);
        if (done <= begin) continue;
        const kind = name[0] === "F" ? "forward" : "backward";
        nodes.push(make("svg:rect", { class: `ppl-task ppl-${kind}`, x: x(begin), y, width: (done - begin) * unit, height: row - gap, "data-name": name }));
        if ((end - begin) * unit >= 13 && done === end) nodes.push(text((x(begin) + x(end)) / 2, y + row / 2 + 2, name.slice(1), "middle", "ppl-number"));
      }
      const alive = tasks.filter(({ name, begin }) => name[0] === "F" && begin < at).length - tasks.filter(({ name, end }) => name[0] === "B" && end <= at).length;
      const shown = at < run.length ? alive : run.alive[stage];
      nodes.push(text(wide - right + 6, y + row / 2 + 1, `${shown}`, "start", "ppl-held"));
      return shown;
    });
    const base = top + run.stages * row;
    const step = [1, 2, 5, 10, 20, 50].find((size) => size * unit >= 30) ?? 100;
    for (let time = 0; time <= run.length; time += step) nodes.push(text(x(time), base + 14, `${time}`, "middle", "ppl-small"));
    nodes.push(text((left + wide - right) / 2, base + 30, "time, in forwards of one stage", "middle", "ppl-small"));
    if (at < run.length) nodes.push(make("svg:path", { class: "ppl-now", d: `M${x(at)} ${top - 4}V${base}` }));
    picture.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    picture.replaceChildren(...nodes);
    picture.setAttribute("aria-label", `Gantt chart of ${run.stages} stages up to time ${at} of ${run.length}. Micro-batches whose activations are held by stage: ${held.join(", ")}.`);
    timeSlider.value = at;
    timeValue.textContent = `${at} of ${run.length}`;
    timeSlider.setAttribute("aria-valuetext", `${at} of ${run.length}`);
    Object.assign(root.dataset, { ...choice, time: at, held: held.join(" ") });
  }

  const root = make("div", { class: "slf slf-buttons ppl", role: "group", "aria-label": "A pipeline as a Gantt chart" },
    make("div", { class: "slf-bar" }, make("label", { class: "slf-choice", for: scheduleBox.id }, "Schedule ", scheduleBox), stageLabel, microLabel),
    picture, key, make("div", { class: "slf-bar" }, play, timeLabel), words);
  el.replaceChildren(root);
  choose({});
  const unwatch = keepWide(picture, PPL.least, (width) => { wide = width; draw(); });
  return () => { pause(); unwatch(); };
}

export default { render };
