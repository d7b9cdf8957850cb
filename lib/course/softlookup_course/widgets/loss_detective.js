// Six learning curves that are wrong, one at a time beside the healthy one: the reader names the fault.

const [HIGH, LEFT, LOW, TOP] = [300, 46, 34, 14];

function render({ model, el }) {
  const [runs, suspects, cases] = [model.get("runs"), model.get("suspects"), model.get("cases")];
  const [every, even] = [model.get("every"), model.get("even")];
  const healthy = runs.healthy;
  const last = (healthy.validation.length - 1) * every;
  const named = Object.fromEntries(suspects.map((suspect) => [suspect.slug, suspect]));
  // On a phone the picture is narrower and its letters are larger; labels at the ends of curves keep NEAR apart.
  const [WIDE, RIGHT, NEAR] = matchMedia("(max-width: 40rem)").matches ? [430, 138, 18] : [640, 122, 15];
  const solved = new Set();
  let [place, suspect] = [0, null];

  const svg = make("svg:svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", class: "dtv-plot" });
  const clues = make("p", { class: "dtv-clues" });
  const verdict = make("p", { class: "dtv-verdict", "aria-live": "polite" });
  const caseButtons = cases.map((_, i) => make("button", { type: "button", "data-case": i, onclick: () => open(i) }, `Case ${i + 1}`));
  const suspectButtons = suspects.map(({ slug, title }) => make("button", { type: "button", "data-suspect": slug, onclick: () => accuse(slug) }, title));

  /** The lines to draw: name, losses, class; those with a name get it at their end. */
  function lines() {
    const run = runs[cases[place]];
    const shown = [["", healthy.training, "dtv-sound dtv-dashed"], ["healthy", healthy.validation, "dtv-sound"]];
    if (suspect && suspect !== cases[place]) shown.push(["suspect", runs[suspect].validation, "dtv-ghost"]);
    shown.push(["training", run.training, "dtv-run dtv-dashed"], ["validation", run.validation, "dtv-run"]);
    if (suspect === cases[place]) shown.push(["true loss", run.true, "dtv-true"]);
    return shown;
  }

  /** Labels apart, in their order from the top, all inside the frame. */
  function apart(labels) {
    labels.sort((a, b) => a.y - b.y);
    labels.forEach((label, i) => { if (i) label.y = Math.max(label.y, labels[i - 1].y + NEAR); });
    let floor = HIGH - LOW;
    for (const label of labels.toReversed()) {
      label.y = Math.min(label.y, floor);
      floor = label.y - NEAR;
    }
    return labels;
  }

  function plot() {
    const shown = lines();
    const top = Math.max(6, ...shown.flatMap(([, losses]) => losses)) * 1.03;
    const x = (step) => LEFT + (step / last) * (WIDE - LEFT - RIGHT);
    const y = (loss) => HIGH - LOW - (loss / top) * (HIGH - LOW - TOP);
    const ticks = top > 8 ? [0, 4, 8, 12] : [0, 2, 4, 6];
    const labels = apart(shown.filter(([name]) => name).map(([name, losses, kind]) => ({ text: `${name} ${show(losses.at(-1))}`, y: y(losses.at(-1)) + 4, kind })));
    svg.replaceChildren(
      ...ticks.map((loss) => make("svg:path", { class: "dtv-grid", d: `M${LEFT} ${y(loss)}H${x(last)}` })),
      ...ticks.map((loss) => make("svg:text", { x: LEFT - 7, y: y(loss) + 4, "text-anchor": "end" }, loss)),
      ...[0, last / 3, (2 * last) / 3, last].map((step) => make("svg:text", { x: x(step), y: HIGH - LOW + 18, "text-anchor": "middle" }, whole(step))),
      make("svg:path", { class: "dtv-even", d: `M${LEFT} ${y(even)}H${x(last)}` }),
      make("svg:text", { class: "dtv-title", x: x(last) - 4, y: y(even) - 6, "text-anchor": "end" }, `log V = ${show(even)}`),
      make("svg:text", { class: "dtv-title", x: x(last / 2), y: HIGH - 3, "text-anchor": "middle" }, "step"),
      make("svg:text", { class: "dtv-title", transform: `translate(12 ${(HIGH - LOW + TOP) / 2}) rotate(-90)`, "text-anchor": "middle" }, "loss, nats per token"),
      ...shown.map(([, losses, kind]) => make("svg:polyline", { class: kind, points: losses.map((loss, i) => `${x(i * every).toFixed(1)},${y(loss).toFixed(1)}`).join(" ") })),
      ...labels.map(({ text, y: at, kind }) => make("svg:text", { class: `dtv-label ${kind}`, x: x(last) + 7, y: at }, text)),
    );
    svg.setAttribute("aria-label", `Case ${place + 1}: loss against step. ${shown.map(([name, losses]) => `${name || "healthy, training"} from ${show(losses[0])} to ${show(losses.at(-1))}`).join("; ")}.`);
  }

  function draw() {
    const run = runs[cases[place]];
    plot();
    const [first, end] = [run.validation[0], run.validation.at(-1)];
    clues.replaceChildren("Validation loss at step 0: ", strong(show(first)), `; log V is ${show(even)}. At step ${last}: `,
      strong(show(end)), ", against ", strong(show(healthy.validation.at(-1))), " in the healthy run. Training loss at the end: ",
      strong(show(run.training.at(-1))), ".");
    Object.assign(clues.dataset, { first, end, training: run.training.at(-1), healthy: healthy.validation.at(-1) });
    caseButtons.forEach((button, i) => {
      button.setAttribute("aria-pressed", String(i === place));
      button.textContent = `Case ${i + 1}${solved.has(i) ? " ✓" : ""}`;
    });
    for (const button of suspectButtons) button.setAttribute("aria-pressed", String(button.dataset.suspect === suspect));
    const right = suspect === cases[place];
    verdict.dataset.right = suspect ? String(right) : "";
    verdict.dataset.end = suspect ? (right ? run.true : runs[suspect].validation).at(-1) : "";
    if (!suspect) verdict.replaceChildren("Who did it? Choose a suspect.");
    else if (right) verdict.replaceChildren(strong("Solved: "), `${named[suspect].title}. ${named[suspect].because} Computed soundly, the true loss of these weights ends at ${show(run.true.at(-1))}.`);
    else verdict.replaceChildren(strong("Not this one. "), `If ${named[suspect].title}, ${named[suspect].would}. The dotted line is such a run: it ends at ${show(runs[suspect].validation.at(-1))}.`);
  }

  function open(i) {
    [place, suspect] = [i, null];
    draw();
  }

  function accuse(slug) {
    suspect = slug;
    if (slug === cases[place]) solved.add(place);
    draw();
  }

  el.replaceChildren(make("div", { class: "slf slf-buttons dtv", role: "group", "aria-label": "Six learning curves that are wrong" },
    make("div", { class: "dtv-bar", role: "group", "aria-label": "Cases" }, caseButtons),
    svg, clues,
    make("div", { class: "dtv-bar dtv-suspects", role: "group", "aria-label": "Suspects" }, suspectButtons),
    verdict));
  draw();
}

export default { render };
