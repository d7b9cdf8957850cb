// The paper's learning rate for any width and warm-up, and below it measured runs at several peaks.
// The rate is worked out here; tests compare it with softlookup_course.widgets.rate_explorer.describe.

const [WIDE, HIGH, LEFT, LOW] = [560, 200, 92, 32];

const rateAt = (step, width, warmup) => width ** -0.5 * Math.min(step ** -0.5, step * warmup ** -1.5);
/** Three digits, as 6.99e-4. */
const small = (number) => minus(number.toExponential(2));

/** A frame with axes; `x` and `y` turn numbers into places. */
function plot(name, most, top, yTitle) {
  const x = (value) => LEFT + (value / most) * (WIDE - LEFT - 10);
  const y = (value) => HIGH - LOW - (value / top()) * (HIGH - LOW - 14);
  const inside = make("svg:g");
  const ticks = make("svg:g", { class: "lrx-ticks" });
  const svg = make("svg:svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", class: `lrx-plot lrx-${name}` }, ticks,
    make("svg:path", { class: "lrx-axis", d: `M${LEFT} 10V${HIGH - LOW}H${WIDE - 10}` }),
    make("svg:text", { class: "lrx-title", x: LEFT + 0.75 * (WIDE - LEFT), y: HIGH - LOW + 20, "text-anchor": "middle" }, "step"),
    make("svg:text", { class: "lrx-title", transform: `translate(16 ${(HIGH - LOW) / 2 + 5}) rotate(-90)`, "text-anchor": "middle" }, yTitle), inside);
  const draw = (label, xs, write, parts) => {
    svg.setAttribute("aria-label", label);
    ticks.replaceChildren(...xs.map((value) => make("svg:text", { x: x(value), y: HIGH - LOW + 20, "text-anchor": value === most ? "end" : "middle" }, whole(value))),
      ...[0.5, 1].map((share) => make("svg:text", { x: LEFT - 6, y: y(share * top()) + 4, "text-anchor": "end" }, write(share * top()))));
    inside.replaceChildren(...parts);
  };
  const line = (points, kind) => make("svg:polyline", { class: kind, points: points.map(([a, b]) => `${x(a).toFixed(1)},${y(Math.min(b, top())).toFixed(1)}`).join(" ") });
  return { svg, draw, line, x, y };
}

function render({ model, el }) {
  const id = nextId("lrx");
  const [runs, every, last] = [model.get("runs"), model.get("every"), model.get("last")];
  const [widths, warmups] = [model.get("widths"), model.get("warmups")];
  const peaks = [...new Set(runs.map((run) => run.peak))];
  let chosen = model.get("first");

  const options = (list) => list.map((value) => make("option", { value }, whole(value)));
  const width = make("select", { id: `${id}-width`, onchange: () => schedule() }, options(widths));
  const warmup = make("select", { id: `${id}-warmup`, onchange: () => schedule() }, options(warmups));
  width.value = 512;
  warmup.value = 4000;
  const step = make("input", { id: `${id}-step`, type: "range", min: 1, max: last, value: 4000, oninput: () => schedule() });
  const said = make("p", { class: "lrx-words", "aria-live": "polite" });
  const told = make("p", { class: "lrx-told", "aria-live": "polite" });

  let top = 1;
  const upper = plot("rate", last, () => top, "learning rate");
  function schedule() {
    const [D, W, at] = [Number(width.value), Number(warmup.value), Number(step.value)];
    const peak = rateAt(W, D, W);
    top = peak;
    const steps = [1, ...Array.from({ length: 200 }, (_, i) => ((i + 1) * last) / 200), ...(W <= last ? [W] : [])].sort((a, b) => a - b);
    const rate = rateAt(at, D, W);
    const words = `Learning rate for D = ${whole(D)} and ${whole(W)} steps of warm-up: it is highest at step ${whole(W)}, with ${small(peak)}. At step ${whole(at)} the rate is ${small(rate)}.`;
    upper.draw(words, [0, last / 2, last], small, [
      upper.line(steps.map((one) => [one, rateAt(one, D, W)]), "lrx-line"),
      make("svg:circle", { class: "lrx-dot", cx: upper.x(at), cy: upper.y(rate), r: 5 }),
    ]);
    said.replaceChildren("The learning rate is highest at step ", strong(whole(W)), ": ", strong(small(peak)), ". At step ", strong(whole(at)), " it is ", strong(small(rate)), ".");
    said.dataset.rate = rate;
    said.dataset.peak = peak;
  }

  const steps = Math.max(...runs.map((run) => run.curve.length)) * every;
  const most = Math.max(...runs.map((run) => run.curve[0] ?? 0));
  const lower = plot("runs", steps, () => most, "training loss");
  const buttons = peaks.map((peak) => make("button", { type: "button", "data-peak": peak, onclick: () => {
    chosen = peak;
    results();
  } }, String(peak)));
  const called = (run) => (run.warmup ? `${run.warmup} steps of warm-up` : "no warm-up");
  const points = (run) => run.curve.map((loss, i) => [(i + 0.5) * every, loss]);
  function results() {
    const shown = runs.filter((run) => run.peak === chosen);
    const ends = shown.map((run) => `${called(run)}: ${run.loss === null ? "no number" : show(run.loss)}`).join("; ");
    lower.draw(`Training loss against step, at a peak rate of ${chosen}. The loss on unseen sentences at the end: ${ends}.`, [0, steps / 2, steps], show, [
      ...runs.filter((run) => run.peak !== chosen).map((run) => lower.line(points(run), "lrx-other")),
      ...shown.map((run) => lower.line(points(run), run.warmup ? "lrx-warm" : "lrx-cold")),
    ]);
    told.replaceChildren(`With a peak rate of ${chosen}, the loss on unseen sentences is: `, ...shown.flatMap((run, i) => [
      i ? "; " : "", make("span", { class: run.warmup ? "lrx-warm-key" : "lrx-cold-key" }, run.warmup ? "— " : "- - "),
      `${called(run)} `, make("strong", { "data-warmup": run.warmup, "data-loss": run.loss ?? "" }, run.loss === null ? "no number" : show(run.loss))]), ". ", make("span", { class: "lrx-other-key" }), " the runs at other peak rates.");
    for (const button of buttons) button.setAttribute("aria-pressed", String(Number(button.dataset.peak) === chosen));
  }

  el.replaceChildren(make("div", { class: "slf slf-buttons lrx", role: "group", "aria-label": "Learning-rate schedules, and measured runs" },
    make("div", { class: "lrx-bar" }, make("label", { for: width.id }, "Width D ", width), make("label", { for: warmup.id }, "Warm-up ", warmup),
      make("label", { for: step.id, class: "lrx-slide" }, "Step ", step)),
    upper.svg, said,
    make("div", { class: "lrx-bar lrx-peaks", role: "group", "aria-label": "Peak rate of the measured runs" }, make("span", {}, "Measured runs, peak rate "), buttons),
    lower.svg, told));
  schedule();
  results();
}

export default { render };
