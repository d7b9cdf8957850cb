// Random scores of one query, as wide as the slider says. Python has drawn and counted; left without the divisor, right with it.

const SCS = { least: 280, between: 24, line: 52, low: 180, tall: 84, gradient: 220, high: 240, reach: 62 };

function render({ model, el }) {
  const id = nextId("scs");
  const [runs, rows] = ["runs", "rows"].map((name) => model.get(name));
  let [at, wide] = [0, 640];

  const [input, value, label] = slider(`${id}-width`, "scs", "head width H", (i) => choose(i));
  input.max = runs.length - 1;
  const picture = make("svg:svg", { class: "scs-picture", role: "img" });
  const words = make("p", { class: "slf-words scs-words", "aria-live": "polite", "aria-atomic": "true" });
  const largest = ({ weights }) => Math.max(...weights);
  const steepest = Math.max(...runs.flatMap(({ raw, divided }) => [raw.gradient, divided.gradient]));

  function choose(next) {
    at = next;
    const { width, raw, divided } = runs[at];
    input.value = at;
    value.textContent = whole(width);
    input.setAttribute("aria-valuetext", String(width));
    const times = (part) => `${(100 * part.sure).toFixed(0)}\u00a0%`;
    words.replaceChildren(strong(`H = ${width}: the largest weight is ${show(largest(raw))}; divided by √H = ${three(Math.sqrt(width))}, it is ${show(largest(divided))}.`),
      ` In ${rows} random rows, scores spread by ${three(raw.spread)} (divided: ${three(divided.spread)}), ${times(raw)} of the rows are saturated (${times(divided)}), and the size of the gradient is ${show(raw.gradient)} (${show(divided.gradient)}).`);
    root.dataset.width = width;
    draw();
  }

  function draw() {
    const { between, line, low, tall, gradient, high, reach } = SCS;
    const each = (wide - between) / 2;
    const nodes = [];
    const text = (x, y, content, cls = "", anchor = "middle") => nodes.push(make("svg:text", { x, y, "text-anchor": anchor, class: cls }, content));
    ["raw", "divided"].forEach((kind, column) => {
      const part = runs[at][kind];
      const left = column * (each + between);
      const x = (score) => left + each / 2 + (each / 2 - 4) * Math.max(-1, Math.min(1, score / reach));
      text(left, 14, column ? "scores ÷ √H" : "scores q · k", `scs-title scs-${kind}`, "start");
      nodes.push(make("svg:path", { class: "scs-axis", d: `M${left} ${line}H${left + each}` }));
      for (const tick of [-50, 0, 50]) {
        nodes.push(make("svg:path", { class: "scs-axis", d: `M${x(tick)} ${line - 3}v6` }));
        text(x(tick), line + 18, minus(tick));
      }
      const step = each / part.weights.length;
      const most = largest(part);
      part.scores.forEach((score) => nodes.push(make("svg:circle", { class: `scs-score scs-${kind}`, cx: x(score), cy: line, r: 4.5, "data-score": score })));
      nodes.push(make("svg:path", { class: "scs-axis", d: `M${left} ${low}H${left + each}` }));
      part.weights.forEach((weight, s) => {
        const middle = left + (s + 0.5) * step;
        nodes.push(make("svg:rect", { class: `scs-weight scs-${kind}`, x: middle - 0.36 * step, y: low - tall * weight, width: 0.72 * step, height: tall * weight, "data-weight": weight }));
        if (weight === most) text(Math.min(Math.max(middle, left + 14), left + each - 14), low - tall * weight - 6, show(weight), "scs-most");
      });
      text(left, low + 16, "weights of the eight keys", "", "start");
      text(left, gradient, `gradient ${show(part.gradient)}`, "", "start");
      nodes.push(make("svg:rect", { class: "scs-room", x: left, y: gradient + 6, width: each, height: 8 }),
        make("svg:rect", { class: `scs-gradient scs-${kind}`, x: left, y: gradient + 6, width: (each * part.gradient) / steepest, height: 8 }));
    });
    picture.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    picture.replaceChildren(...nodes);
    const { width, raw, divided } = runs[at];
    picture.setAttribute("aria-label", `Eight random scores at head width ${width}, and their weights. Largest weight ${show(largest(raw))} without the divisor, ${show(largest(divided))} with it.`);
  }

  const root = make("div", { class: "slf scs", role: "group", "aria-label": "Random scores by head width" }, make("div", { class: "slf-bar" }, label), picture, words);
  el.replaceChildren(root);
  choose(0);
  return keepWide(picture, SCS.least, (width) => { wide = width; draw(); });
}

export default { render };
