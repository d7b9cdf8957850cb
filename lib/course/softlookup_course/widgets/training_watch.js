// A training run, step by step. Python has written every score and answer; here scores are curves, answers a list.
// Curves end at the present step, so that what comes next can be guessed.

const TRW = { left: 46, top: 26, between: 18, low: 24, near: 15, letter: 7.6, least: 280 };
const percent = (text) => text.replace("%", "\u00a0%");

/** Labels at the ends of curves, apart and not below `floor`, in their order from the top. */
function apart(labels, floor) {
  labels.sort((a, b) => a.y - b.y);
  labels.forEach((each, i) => { if (i) each.y = Math.max(each.y, labels[i - 1].y + TRW.near); });
  for (const each of labels.toReversed()) {
    each.y = Math.min(each.y, floor);
    floor = each.y - TRW.near;
  }
  return labels;
}

function render({ model, el }) {
  const id = nextId("trw");
  const [questions, steps, panels] = ["questions", "steps", "panels"].map((name) => model.get(name));
  const [lines, runs] = ["lines", "runs"].map((name) => model.get(name));
  const last = steps.length - 1;
  const several = runs.length > 1;
  let [chosen, at, wide] = [0, 0, 640];

  const buttons = runs.map(({ title }, i) =>
    make("button", { type: "button", "data-run": i, onclick: () => choose({ chosen: i }) }, title));
  const [input, value, label] = slider(`${id}-at`, "trw", "step", (i) => choose({ at: i }));
  input.max = last;
  const end = make("button", { type: "button", class: "trw-end", onclick: () => choose({ at: last }) }, "to the end");
  const picture = make("svg:svg", { class: "trw-picture", role: "img" });
  const words = make("p", { class: "slf-words trw-words", "aria-live": "polite", "aria-atomic": "true" });
  const about = make("p", { class: "trw-about", id: `${id}-about` });
  const answers = make("ul", { class: "trw-answers", "aria-labelledby": about.id, "aria-live": "polite" });
  /** The longest answer to each question, at any step of any run. */
  const longest = questions.map((_, i) => runs.flatMap((run) => run.answers.map((step) => step[i].text))
    .reduce((a, b) => (b.length > a.length ? b : a)));

  function answerRow({ text, is_right: isRight }, i) {
    const [kind, sign, name] = isRight ? ["trw-right", "✓", "right"] : ["trw-wrong", "✗", "wrong"];
    return make("li", {}, make("span", { class: "trw-question" }, questions[i]),
      make("span", { class: `trw-verdict ${kind}`, role: "img", "aria-label": name }, sign),
      make("span", { class: "trw-text" }, make("span", {}, text),
        make("span", { class: "trw-longest", "aria-hidden": "true" }, longest[i])));
  }

  function choose(next) {
    ({ chosen, at } = { chosen, at, ...next });
    const run = runs[chosen];
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === chosen)));
    input.value = at;
    value.textContent = whole(steps[at]);
    input.setAttribute("aria-valuetext", `step ${steps[at]} of ${steps[last]}`);
    end.disabled = at === last;
    const scores = lines.map((line, i) => `${line.label}: ${percent(run.texts[i][at])}`);
    words.replaceChildren(strong(`Step ${steps[at]}${several ? `, ${run.title}` : ""}. `),
      `${capitalised(scores.join("; "))}.`);
    about.textContent = at ? `Greedy answers after ${steps[at]} steps` : "Greedy answers before the first step";
    answers.replaceChildren(...run.answers[at].map(answerRow));
    Object.assign(root.dataset, { run: chosen, at });
    draw();
  }

  function draw() {
    const { left, top, between, low, letter } = TRW;
    const high = panels.length > 1 ? 100 : 150;
    const run = runs[chosen];
    const right = wide - 12 - letter * Math.max(...lines.map((line) => line.label.length));
    const x = (i) => left + ((right - left) * (steps[i] - steps[0])) / (steps[last] - steps[0]);
    const tall = panels.length * (top + high + between) - between;
    const nodes = [];
    const text = (attributes, content) => nodes.push(make("svg:text", attributes, content));

    panels.forEach((panel, p) => {
      const begin = p * (top + high + between) + top;
      const y = (score) => begin + high * (1 - (score - panel.low) / (panel.high - panel.low));
      const curve = (kind, scores) => {
        const points = scores.slice(0, at + 1).map((score, i) => `${x(i).toFixed(1)},${y(score).toFixed(1)}`);
        nodes.push(make("svg:polyline", { class: `trw-line ${kind}`, points: points.join(" ") }));
      };
      const here = lines.flatMap((line, i) => (line.panel === p ? [i] : []));

      text({ class: "trw-title", x: 0, y: begin - 14 }, panel.title);
      for (const [tick, name] of panel.ticks) {
        nodes.push(make("svg:line", { class: "trw-grid", x1: left, x2: right, y1: y(tick), y2: y(tick) }));
        text({ x: left - 9, y: y(tick) + 4, "text-anchor": "end" }, percent(name));
      }
      nodes.push(make("svg:line", { class: "trw-now", x1: x(at), x2: x(at), y1: begin, y2: begin + high }));
      for (const i of here) {
        for (const other of runs) if (other !== run) curve("trw-other", other.values[i]);
      }
      for (const i of here) {
        const hue = `trw-${lines[i].colour}`;
        curve(hue, run.values[i]);
        run.values[i].slice(0, at + 1).forEach((score, n) => nodes.push(
          make("svg:circle", { class: `trw-mark ${hue}`, cx: x(n), cy: y(score), r: n === at ? 5 : 2.8 })));
      }
      const labels = here.map((i) => ({ i, y: y(run.values[i][at]) + 4 }));
      for (const { i, y: height } of apart(labels, begin + high + 4)) {
        text({ class: `trw-label trw-${lines[i].colour}`, x: x(at) + 9, y: height }, lines[i].label);
      }
    });
    for (const i of [0, Math.floor(last / 2), last]) {
      text({ x: x(i), y: tall + 18, "text-anchor": "middle" }, i ? whole(steps[i]) : `step ${steps[i]}`);
    }
    picture.setAttribute("viewBox", `0 0 ${wide} ${tall + low}`);
    picture.replaceChildren(...nodes);
    const ends = lines.map(({ label: name }, i) =>
      `${capitalised(name)} from ${percent(run.texts[i][0])} to ${percent(run.texts[i][at])}`);
    const title = `Scores up to step ${steps[at]}${several ? `, ${run.title}` : ""}`;
    picture.setAttribute("aria-label", `${title}. ${ends.join("; ")}.`);
  }

  const choice = several ? make("div", { class: "trw-runs", role: "group", "aria-label": "Run" }, buttons) : "";
  const key = several ? make("p", { class: "slf-key" }, "Thin grey lines: the other run.") : "";
  const root = make("div", { class: "slf slf-buttons trw", role: "group", "aria-label": "Training, step by step" },
    make("div", { class: "slf-bar" }, choice, label, end), picture, key, words, about, answers);
  el.replaceChildren(root);
  choose({});
  return keepWide(picture, TRW.least, (width) => { wide = width; draw(); });
}

export default { render };
