// A change that is whispered from child to child. Python has computed states, factors and what is left; here they are shown up to a child.

const WHP = { least: 270, side: 26, tall: 62, base: 112, second: 264, high: 304, roomy: 36 };
const RAISED = Object.fromEntries([..."-0123456789"].map((sign, i) => [sign, "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"[i]]));

/** A fraction in per cent, or, where it is tiny, as a power of ten. */
function fraction(value) {
  if (value >= 0.00001) return `${three(Number((100 * value).toPrecision(2)))}\u00a0%`;
  const [digit, exponent] = value.toExponential(0).split("e");
  return `${digit}\u00a0·\u00a010${[...exponent].map((sign) => RAISED[sign]).join("")}`;
}

function render({ model, el }) {
  const id = nextId("whp");
  const [words, runs, rows] = ["words", "runs", "rows"].map((name) => model.get(name));
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let [chosen, row, at, wide] = [runs.findIndex(({ weight }) => weight === 0.5), 0, 0, 640];
  const last = () => rows[row].n - 1;

  const [weight, weightValue, weightLabel] = slider(`${id}-weight`, "whp", "weight W", (i) => { pause(); choose({ chosen: i, at: last() }); });
  weightLabel.firstChild.append(make("sub", {}, "h"));
  const [count, countValue, countLabel] = slider(`${id}-children`, "whp", "children", (i) => { pause(); choose({ row: i, at: rows[i].n - 1 }); });
  const [step, stepValue, stepLabel] = slider(`${id}-at`, "whp", "child", (i) => { pause(); choose({ at: i }); }, true);
  [weight.max, count.max] = [runs.length - 1, rows.length - 1];
  const tell = make("p", { class: "slf-words whp-words", "aria-live": "polite", "aria-atomic": "true" });
  const { play, pause } = player("whp", {
    root: () => root,
    sentence: tell,
    wait: () => (still.matches ? Math.min(500, 9000 / last()) : Math.max(90, 4500 / last())),
    waitsFirst: true,
    isAtEnd: () => at >= last(),
    rewind: () => choose({ at: 0 }),
    goOn: () => choose({ at: at + 1 }),
  });
  const picture = make("svg:svg", { class: "whp-picture", role: "img" });

  /** What child i holds: between the first and the last of a longer row stand words that have no name. */
  const name = (i) => (row === 0 ? words[i] : { 0: words[0], [last()]: words.at(-1) }[i]);

  function choose(next) {
    ({ chosen, row, at } = { chosen, row, at, ...next });
    const [run, { n, hand_over: direct }] = [runs[chosen], rows[row]];
    [weight.value, count.value, step.max, step.value] = [chosen, row, n - 1, at];
    weightValue.textContent = run.weight.toFixed(1);
    countValue.textContent = n;
    stepValue.textContent = `${at + 1} of ${n}`;
    weight.setAttribute("aria-valuetext", run.weight.toFixed(1));
    count.setAttribute("aria-valuetext", n);
    step.setAttribute("aria-valuetext", `${at + 1} of ${n}`);
    const slope = at ? run.factors[at] / run.weight : run.factors[0];
    const made = at ? ` × ${run.weight.toFixed(1)} = ${show(run.factors[at])}` : "";
    const after = at === 0 ? "" : ` after ${at} ${at === 1 ? "whisper" : "whispers"}`;
    tell.replaceChildren(strong(`Child ${at + 1}${name(at) ? `, ${name(at)}` : ""}: ${fraction(run.left[at])} of the change is left${after}.`),
      ` State ${show(run.states[at])}; factor: slope ${show(slope)}${made}. Attention with equal weights: one step, ${fraction(direct)}.`);
    Object.assign(root.dataset, { weight: run.weight, n, at });
    draw();
  }

  function draw() {
    const { side, tall, base, second, high, roomy } = WHP;
    const [run, { n, hand_over: direct }] = [runs[chosen], rows[row]];
    const gap = (wide - 2 * side) / (n - 1);
    const x = (i) => side + i * gap;
    const size = Math.max(0.35, Math.min(1, gap / 34));
    const nodes = [];
    const text = (px, py, content, cls = "", anchor = "middle") => nodes.push(make("svg:text", { x: px, y: py, "text-anchor": anchor, class: cls }, content));
    const child = (i, y, cls) => nodes.push(make("svg:path", { class: `whp-child ${cls}`, d: `M${x(i) - 11 * size} ${y}L${x(i) - 7 * size} ${y - 17 * size}H${x(i) + 7 * size}L${x(i) + 11 * size} ${y}Z` }),
      make("svg:circle", { class: `whp-child ${cls}`, cx: x(i), cy: y - 25 * size, r: 8 * size }));
    const bar = (i, y, value, cls) => nodes.push(make("svg:rect", { class: `whp-bar ${cls}`, x: x(i) - 9 * size, y: y - 38 * size - tall * value, width: 18 * size, height: tall * value, "data-left": value }));
    const lower = (i) => (row === 0 && gap < 62 && i % 2 ? 13 : 0);

    text(0, 14, "recurrent layer: from child to child", "whp-title", "start");
    text(0, second - 102, "attention: the last child asks the first", "whp-title", "start");
    for (const y of [base, second]) nodes.push(make("svg:path", { class: "whp-floor", d: `M0 ${y}H${wide}` }));
    for (let i = 0; i < n; i += 1) {
      child(i, base, i === at ? "whp-now" : i < at ? "whp-passed" : "");
      child(i, second, i === 0 ? "whp-now" : i === n - 1 ? "whp-asks" : "");
      if (i <= at) bar(i, base, run.left[i], "whp-chain");
      if (name(i)) for (const y of [base, second]) text(x(i), y + 16 + lower(i), name(i));
      if (i < at && gap > 24) nodes.push(make("svg:path", { class: "whp-whisper", d: `M${x(i) + 13 * size} ${base - 30 * size}q4 5 0 10m4 -13q6 8 0 16` }));
    }
    const numbered = [...Array(at + 1).keys()].filter((i) => i === at || gap >= 2 * roomy || (gap >= roomy && run.left[i] >= 0.01));
    for (const i of numbered) text(Math.min(Math.max(x(i), 30), wide - 30), base - 38 * size - tall * run.left[i] - 5, fraction(run.left[i]), "whp-number");
    bar(n - 1, second, direct, "whp-direct");
    text(wide - 24, second - Math.max(38 * size + tall * direct + 5, 34), fraction(direct), "whp-number");
    nodes.push(make("svg:path", { class: "whp-call", d: `M${x(n - 1) - 12 * size} ${second - 34 * size}C${x(n - 1) - 60} ${second - 92} ${x(0) + 60} ${second - 92} ${x(0) + 6} ${second - 38 * size}` }),
      make("svg:path", { class: "whp-tip", d: `M${x(0) + 1} ${second - 35 * size}l3 -11l8 6Z` }));
    picture.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    picture.replaceChildren(...nodes);
    picture.setAttribute("aria-label", `Above, ${n} children in a row: of a change at the first, ${fraction(run.left[at])} is left at child ${at + 1}. Below, the last child asks the first directly: ${fraction(direct)} is left.`);
  }

  const root = make("div", { class: "slf slf-buttons whp", role: "group", "aria-label": "A change whispered along a row" },
    make("div", { class: "slf-bar" }, weightLabel, countLabel), picture, make("div", { class: "slf-bar" }, play, stepLabel), tell);
  el.replaceChildren(root);
  choose({});
  const unwatch = keepWide(picture, WHP.least, (width) => { wide = width; draw(); });
  return () => { pause(); unwatch(); };
}

export default { render };
