// A token on its way through a mixture of experts. Python has computed every number; here they are shown up to a step, and the
// tokens of the batch are counted.

const XPR = { least: 270, left: 22, right: 12, top: 20, high: 120, bottom: 34 };
const XPR_STEPS = ["vector", "logits", "gates", "choice", "weights", "experts", "sum"];

const listed = (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/** How many tokens of the batch each expert gets. */
function expertLoads(router, count) {
  const loads = router.bias.map(() => 0);
  for (const experts of router.chosen.slice(0, count)) for (const expert of experts) loads[expert] += 1;
  return loads;
}

function render({ model, el }) {
  const id = nextId("xpr");
  const [tokens, routers] = ["tokens", "routers"].map((name) => model.get(name));
  const nExperts = routers[0].bias.length;
  const perToken = routers[0].chosen[0].length;
  const last = XPR_STEPS.length;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let [chosen, token, count, step, wide] = [0, 2, 8, last, 600];

  const buttons = routers.map(({ title }, i) => make("button", { type: "button", "data-router": i, onclick: () => choose({ chosen: i }) }, title));
  const [countInput, countValue, countLabel] = slider(`${id}-batch`, "xpr", "tokens in the batch", (n) => choose({ count: n }));
  const [stepInput, stepValue, stepLabel] = slider(`${id}-step`, "xpr", "step", (n) => { pause(); choose({ step: n }); }, true);
  Object.assign(countInput, { min: 1, max: tokens.length });
  Object.assign(stepInput, { min: 1, max: last });
  const routerInput = unseen(`${id}-router`, (value) => choose({ chosen: Number(value) in routers ? Number(value) : 0 }));
  const tokenInput = unseen(`${id}-token`, (value) => choose({ token: Math.max(0, Math.min(tokens.length - 1, Number(value) || 0)) }));

  const chips = tokens.map((word, i) => make("button", { type: "button", class: "xpr-token", "data-token": i, onclick: () => choose({ token: i }) },
    make("span", {}, word), make("small", {})));
  const text = make("div", { class: "xpr-text", role: "group", "aria-label": "Tokens of the text, with the experts of each" }, chips);
  const words = make("p", { class: "slf-words xpr-words", "aria-live": "polite", "aria-atomic": "true" });
  const { play, pause } = player("xpr", {
    root: () => root, sentence: words, wait: () => (still.matches ? 4000 : 2600), waitsFirst: true,
    isAtEnd: () => step >= last, rewind: () => choose({ step: 1 }), goOn: () => choose({ step: step + 1 }),
  });
  const back = make("button", { type: "button", class: "xpr-back", "aria-label": "step back", onclick: () => { pause(); choose({ step: step - 1 }); } }, "◂");
  const next = make("button", { type: "button", class: "xpr-next", "aria-label": "next step", onclick: () => { pause(); choose({ step: step + 1 }); } }, "▸");
  const body = make("tbody", {});
  const headings = routers[0].bias.map((_, e) => make("th", { scope: "col" }, String(e)));
  const table = make("table", { class: "slf-table xpr-table" }, make("thead", {}, make("tr", {}, make("th", { scope: "row" }, "expert"), headings)), body);
  const strips = make("div", { class: "xpr-strips", role: "img" });
  const batch = make("p", { class: "slf-words xpr-batch", "aria-live": "polite", "aria-atomic": "true" });
  const loadBody = make("tbody", {});
  const loadTable = make("table", { class: "slf-table xpr-table xpr-loads" }, make("caption", {}, "What the batch needs"), loadBody);
  const picture = make("svg:svg", { class: "xpr-picture", role: "img" });

  text.addEventListener("keydown", (event) => {
    const to = { ArrowRight: token + 1, ArrowLeft: token - 1, Home: 0, End: count - 1 }[event.key];
    if (to === undefined || to < 0 || to >= count) return;
    event.preventDefault();
    choose({ token: to });
    chips[to].focus();
  });

  function choose(change) {
    ({ chosen, token, count, step } = { chosen, token, count, step, ...change });
    if (change.token !== undefined) count = Math.max(count, token + 1);
    token = Math.min(token, count - 1);
    step = Math.max(1, Math.min(last, step));
    draw();
  }

  /** What happens at the present step, in words. */
  function sentence(router) {
    const experts = router.chosen[token];
    const names = listed(experts.map(String));
    const values = (list) => listed(experts.map((e) => show(list[e])));
    const alone = router.unbiased[token];
    const same = alone.every((e) => experts.includes(e));
    const hasBias = router.bias.some((b) => b !== 0);
    const width = router.x[token].length;
    const top = router.logits[token].indexOf(Math.max(...router.logits[token]));
    const frequent = (e) => `“${router.favourites[e].join("”, “")}”`;
    return {
      vector: `The token comes as a vector x of ${width} numbers: the residual stream, after a norm.`,
      logits: `The router multiplies x by its matrix of ${width} × ${nExperts} numbers, which gives a logit for each expert. The largest is ${show(router.logits[token][top])}, for expert ${top}.`,
      gates: `The sigmoid turns each logit into a gate between 0 and 1. Each gate is computed alone: they need not sum to 1.`,
      choice: hasBias
        ? `The balancing bias is added, and the ${perToken} largest sums win: experts ${names}. ${same ? "The gates alone would choose the same." : `The gates alone would choose ${listed(alone.map(String))}.`}`
        : `This router has no bias. The ${perToken} largest gates win: experts ${names}.`,
      weights: `The weights are the gates of the chosen, ${hasBias ? "without the bias, " : ""}divided by their sum: ${values(router.gates[token])} become ${listed(router.weights[token].map(show))}.`,
      experts: `Only experts ${names} compute, and the other ${nExperts - perToken} do nothing for this token. ${experts.map((e) => `Frequent words that come most reliably to expert ${e}: ${frequent(e)}.`).join(" ")}`,
      sum: `The outputs of experts ${names}, times ${listed(router.weights[token].map(show))}, are added to the residual stream.`,
    }[XPR_STEPS[step - 1]];
  }

  /** A row of the table: a name, and for each expert a number, if its step has come, with a bar from a base line. */
  function row(name, from, numbers, bar = null, write = show) {
    const cells = numbers.map((number, e) => {
      const there = step >= from && number !== null;
      const td = make("td", { "data-row": name, "data-value": there ? number : null, class: step >= 4 && routers[chosen].chosen[token].includes(e) ? "xpr-on" : null },
        make("span", {}, there ? write(number) : step >= from ? "–" : "\u00a0"));
      if (bar) {
        const height = there ? bar(number) : 0;
        const mark = make("i", { class: height < 0 ? "xpr-bar xpr-under" : "xpr-bar" });
        mark.style.setProperty("--v", Math.abs(height).toFixed(3));
        td.append(make("span", { class: "xpr-room", "aria-hidden": "true" }, mark));
      }
      return td;
    });
    return make("tr", {}, make("th", { scope: "row" }, name), cells);
  }

  function drawVectors(router) {
    const experts = router.chosen[token];
    const lines = [["x, after the norm", 1, router.x[token]],
      ...experts.map((e, i) => [`${show(router.weights[token][i])} × expert ${e}`, 6, router.parts[token][i]]),
      ["residual before", 7, router.before[token]], ["residual after", 7, router.after[token]]];
    const most = Math.max(...lines.flatMap(([, , vector]) => vector.map(Math.abs)));
    strips.replaceChildren(...lines.map(([name, from, vector]) => make("div", { class: "xpr-strip", "data-shown": step >= from },
      make("span", {}, name), make("span", { class: "xpr-cells" }, vector.map((number) => {
        const cell = make("i", { class: number < 0 ? "xpr-under" : null });
        cell.style.setProperty("--v", (Math.abs(number) / most).toFixed(3));
        return cell;
      })))));
    strips.setAttribute("aria-label", `Vectors as rows of coloured cells: ${lines.filter(([, from]) => step >= from).map(([name]) => name).join("; ")}.`);
  }

  function drawBatch(router) {
    const loads = expertLoads(router, count);
    const needed = loads.filter((load) => load > 0).length;
    const most = Math.max(...loads);
    const fullest = loads.flatMap((load, e) => (load === most ? [e] : []));
    const mean = (count * perToken) / nExperts;
    const peak = router.load.indexOf(Math.max(...router.load));
    const percent = (fraction) => (fraction < 0.095 ? `${(100 * fraction).toFixed(1)}\u00a0%` : `${Math.round(100 * fraction)}\u00a0%`);
    batch.replaceChildren(
      strong(`${capitalised(plural(count, "token"))} ${count === 1 ? "needs" : "need"} ${needed} of ${nExperts} experts from memory${count === 1 ? "" : `, though each uses ${perToken}`}. `),
      `On average, ${count === 1 ? "a token" : `${count} tokens`} drawn from unseen text ${count === 1 ? "needs" : "need"} ${show(router.mean_fetched[count - 1])}. `,
      `The busiest here ${fullest.length === 1 ? `is expert ${fullest[0]}` : `are experts ${listed(fullest.map(String))}`}, with ${plural(most, "token")}${fullest.length === 1 ? "" : " each"}, ${three(most / mean)} times the mean. `,
      `On unseen text, expert ${peak} gets ${percent(router.load[peak])} of the tokens, and the least chosen gets ${percent(Math.min(...router.load))}; spread evenly, each would get ${percent(perToken / nExperts)}.`);
    loadBody.replaceChildren(row("tokens", 0, loads, (load) => load / Math.max(most, 4), String),
      row("fetched", 0, loads.map((load) => (load > 0 ? 1 : null)), null, () => "✓"));
    Object.assign(root.dataset, { needed, loads: loads.join(" ") });
    drawCurve(router);
  }

  /** Experts fetched against tokens: the mean of both routers, and those of this text up to the batch. */
  function drawCurve(router) {
    const { left, right, top, high, bottom } = XPR;
    const x = (n) => left + ((wide - left - right) * (n - 1)) / (tokens.length - 1);
    const y = (experts) => top + high * (1 - experts / nExperts);
    const line = (each, cls) => make("svg:polyline", { class: cls, points: each.mean_fetched.map((mean, i) => `${x(i + 1).toFixed(1)},${y(mean).toFixed(1)}`).join(" ") });
    const label = (px, py, content, anchor = "start", cls = null) => make("svg:text", { x: px, y: py, "text-anchor": anchor, class: cls }, content);
    const nodes = [label(0, 12, "experts fetched", "start", "xpr-title")];
    for (const tick of [0, perToken, nExperts]) {
      nodes.push(make("svg:line", { class: tick === perToken ? "xpr-used" : "xpr-grid", x1: left, x2: wide - right, y1: y(tick), y2: y(tick) }), label(left - 7, y(tick) + 4, String(tick), "end"));
    }
    nodes.push(label(wide - right, y(perToken) - 6, "used by each token", "end"));
    for (const other of routers) if (other !== router) nodes.push(line(other, "xpr-other"));
    nodes.push(line(router, "xpr-line"));
    const upper = routers.reduce((best, each) => (each.mean_fetched.at(-1) > best.mean_fetched.at(-1) ? each : best));
    for (const each of routers) {
      const end = y(each.mean_fetched.at(-1));
      nodes.push(label(wide - right, end - (each === upper ? 6 : 4), `mean, ${each.title}`, "end", each === router ? "xpr-name" : null));
    }
    for (let n = 1; n <= count; n += 1) {
      const fetched = expertLoads(router, n).filter((load) => load > 0).length;
      nodes.push(make("svg:circle", { class: "xpr-dot", cx: x(n), cy: y(fetched), r: n === count ? 5.5 : 3, "data-fetched": fetched }));
    }
    const fetched = expertLoads(router, count).filter((load) => load > 0).length;
    nodes.push(label(x(count), y(fetched) + 20, "this text", count < 4 ? "start" : count > tokens.length - 4 ? "end" : "middle", "xpr-here"));
    const base = top + high + 16;
    nodes.push(label(left, base, "1"), label(wide - right, base, String(tokens.length), "end"), label((left + wide - right) / 2, base, "tokens in the batch", "middle"));
    picture.setAttribute("viewBox", `0 0 ${wide} ${top + high + bottom}`);
    picture.replaceChildren(...nodes);
    picture.setAttribute("aria-label", `Experts fetched against tokens in the batch. In the mean ${show(router.mean_fetched[0])} for one token, ${show(router.mean_fetched.at(-1))} for ${tokens.length}.`);
  }

  function draw() {
    const router = routers[chosen];
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === chosen)));
    chips.forEach((chip, i) => {
      chip.setAttribute("aria-pressed", String(i === token));
      chip.tabIndex = i === token ? 0 : -1;
      chip.classList.toggle("xpr-outside", i >= count);
      chip.lastChild.textContent = router.chosen[i].join(" ");
      chip.setAttribute("aria-label", `${tokens[i]}, experts ${listed(router.chosen[i].map(String))}${i < count ? "" : ", not in the batch"}`);
    });
    for (const [input, value] of [[countInput, count], [stepInput, step], [routerInput, chosen], [tokenInput, token]]) input.value = value;
    countValue.textContent = String(count);
    stepValue.textContent = `${step} of ${last}`;
    stepInput.setAttribute("aria-valuetext", `${step} of ${last}: ${XPR_STEPS[step - 1]}`);
    [back.disabled, next.disabled] = [step === 1, step === last];
    words.replaceChildren(strong(`Token “${tokens[token]}”, step ${step}, ${XPR_STEPS[step - 1]}. `), sentence(router));
    headings.forEach((heading, e) => heading.classList.toggle("xpr-on", step >= 4 && router.chosen[token].includes(e)));
    const tallest = Math.max(...router.logits[token].map(Math.abs));
    const weights = router.bias.map((_, e) => router.weights[token][router.chosen[token].indexOf(e)] ?? null);
    body.replaceChildren(row("logit", 2, router.logits[token], (logit) => logit / tallest), row("gate g", 3, router.gates[token], (gate) => gate),
      row("bias b", 4, router.bias), row("g + b", 4, router.raised[token]), row("weight", 5, weights));
    drawVectors(router);
    drawBatch(router);
    Object.assign(root.dataset, { router: chosen, token, count, step });
  }

  const root = make("div", { class: "slf slf-buttons xpr", role: "group", "aria-label": "A token is routed through experts" },
    make("div", { class: "slf-bar" }, make("div", { class: "xpr-routers", role: "group", "aria-label": "How the router was trained" }, make("span", {}, "router trained"), buttons), routerInput, tokenInput),
    make("p", { class: "slf-key xpr-about" }, "The last layer of a small decoder, trained on generated English sentences. The numbers beneath a token are its experts."),
    text, make("div", { class: "slf-bar" }, make("span", { class: "xpr-player" }, back, play, next), stepLabel), words, table, strips,
    make("div", { class: "slf-bar xpr-more" }, countLabel), batch, loadTable, picture);
  el.replaceChildren(root);
  draw();
  const unwatch = keepWide(picture, XPR.least, (width) => { wide = width; drawCurve(routers[chosen]); });
  return () => { pause(); unwatch(); };
}

export default { render };
