// How rewards move the probabilities of answers. Python has computed every state; here they are bars, with three lines below.

const ANS = { row: 46, bar: 14, right: 52, chart: 120, least: 280 };
const ANS_MODES = [["beta", "optimum for a KL penalty"], ["steps", "steps of GRPO"]];
const ANS_LINES = [["reward", "reward that training counts"], ["true", "right answers"], ["kl", "KL from the reference"]];

function render({ model, el }) {
  const id = nextId("ans");
  const [texts, reference, rewards, names, paths] = ["texts", "reference", "rewards", "reward_names", "paths"].map((name) => model.get(name));
  let [reward, mode, at, wide] = [0, "beta", 0, 640];
  const percent = (p) => (p < 0.0005 ? "0 %" : p < 0.1 ? `${(100 * p).toFixed(1)} %` : `${Math.round(100 * p)} %`);
  const path = () => paths.find((each) => each.reward === reward && each.mode === mode);

  const rewardButtons = names.map((name, i) => make("button", { type: "button", "data-reward": i, onclick: () => choose({ reward: i }) }, name));
  const modeButtons = ANS_MODES.map(([name, title]) => make("button", { type: "button", "data-mode": name, onclick: () => choose({ mode: name, at: 0 }) }, title));
  const [input, value, label] = slider(`${id}-at`, "ans", "", (i) => choose({ at: i }));
  const picture = make("svg:svg", { class: "ans-picture", role: "img" });
  const key = make("div", { class: "slf-key" }, ANS_LINES.map(([name, title]) => make("span", {}, make("i", { class: `slf-mark ans-mark-${name}` }), title)));
  const words = make("p", { class: "slf-words ans-words", "aria-live": "polite", "aria-atomic": "true" });

  function choose(next) {
    ({ reward, mode, at } = { reward, mode, at, ...next });
    const { labels, states } = path();
    at = Math.min(at, states.length - 1);
    rewardButtons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === reward)));
    modeButtons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.mode === mode)));
    input.max = states.length - 1;
    input.value = at;
    label.firstChild.textContent = mode === "beta" ? "β" : "step";
    value.textContent = labels[at];
    input.setAttribute("aria-valuetext", mode === "beta" ? (at ? `beta ${labels[at]}` : "before training") : `step ${labels[at]}`);
    const state = states[at];
    const best = state.policy.indexOf(Math.max(...state.policy));
    words.replaceChildren(strong(`Mean reward ${show(state.reward)}, right answers ${percent(state.true)}, KL ${show(state.kl)} nats. `),
      `The likeliest answer is “${texts[best]}”, at ${percent(state.policy[best])}; it was at ${percent(reference[best])}.`);
    Object.assign(root.dataset, { reward, mode, at });
    draw();
  }

  function draw() {
    const { states } = path();
    const state = states[at];
    const long = wide - ANS.right - 44;
    const nodes = [];
    texts.forEach((text, i) => {
      const y = i * ANS.row;
      nodes.push(make("svg:text", { x: 0, y: y + 15 }, text));
      nodes.push(make("svg:text", { x: wide, y: y + 15, "text-anchor": "end", class: "ans-small" }, `reward ${show(rewards[reward][i])}`));
      nodes.push(make("svg:rect", { class: "ans-room", x: 0, y: y + 22, width: long, height: ANS.bar }));
      nodes.push(make("svg:rect", { class: `ans-now ${rewards[0][i] ? "ans-right" : "ans-wrong"}`, x: 0, y: y + 22, width: Math.max(0.5, long * state.policy[i]), height: ANS.bar, "data-answer": i }));
      nodes.push(make("svg:line", { class: "ans-before", x1: long * reference[i], x2: long * reference[i], y1: y + 19, y2: y + 25 + ANS.bar }));
      nodes.push(make("svg:text", { x: long + 8, y: y + 34, class: "ans-small" }, percent(state.policy[i])));
    });
    const top = texts.length * ANS.row + 16;
    const most = Math.max(1, ...states.flatMap((each) => ANS_LINES.map(([name]) => each[name])));
    const place = (i, number) => [((long) * i) / (states.length - 1), top + ANS.chart * (1 - number / most)];
    nodes.push(make("svg:rect", { class: "ans-room", x: 0, y: top, width: long, height: ANS.chart }));
    for (const [name] of ANS_LINES) {
      nodes.push(make("svg:polyline", { class: `ans-line ans-${name}`, points: states.map((each, i) => place(i, each[name]).map((v) => v.toFixed(1)).join(",")).join(" ") }));
      const [x, y] = place(at, state[name]);
      nodes.push(make("svg:circle", { class: `ans-dot ans-${name}`, cx: x, cy: y, r: 4.5 }));
    }
    nodes.push(make("svg:line", { class: "ans-before", x1: place(at, 0)[0], x2: place(at, 0)[0], y1: top, y2: top + ANS.chart }));
    nodes.push(make("svg:text", { x: long + 8, y: top + 11, class: "ans-small" }, show(most)));
    nodes.push(make("svg:text", { x: long + 8, y: top + ANS.chart, class: "ans-small" }, "0"));
    nodes.push(make("svg:text", { x: 0, y: top + ANS.chart + 17, class: "ans-small" }, mode === "beta" ? "weak rewards: large β" : "before"));
    nodes.push(make("svg:text", { x: long, y: top + ANS.chart + 17, "text-anchor": "end", class: "ans-small" }, mode === "beta" ? "small β" : `step ${states.length - 1}`));
    picture.setAttribute("viewBox", `0 0 ${wide} ${top + ANS.chart + 22}`);
    picture.replaceChildren(...nodes);
    picture.setAttribute("aria-label", `Probabilities of ${texts.length} answers: ${texts.map((text, i) => `${text} ${percent(state.policy[i])}`).join("; ")}. Below, mean reward, right answers and KL along the slider.`);
  }

  const root = make("div", { class: "slf slf-buttons ans", role: "group", "aria-label": "How rewards move answers" },
    make("div", { class: "slf-bar" }, make("div", { class: "ans-choices", role: "group", "aria-label": "Reward" }, make("span", {}, "reward"), rewardButtons),
      make("div", { class: "ans-choices", role: "group", "aria-label": "What is shown" }, modeButtons), label), picture, key, words);
  el.replaceChildren(root);
  choose({});
  return keepWide(picture, ANS.least, (width) => { wide = width; draw(); });
}

export default { render };
