// The steps of a layer, each with two bars. Python has counted operations and bytes; here they become times.

function render({ model, el }) {
  const id = nextId("cav");
  const [counts, names, machines, tokens, context] = ["counts", "models", "machines", "tokens", "context"].map((trait) => model.get(trait));
  const steps = Object.fromEntries(model.get("steps").map(([step, ...words]) => [step, words]));
  const FUSED = "fused attention";
  const APART = ["scores", "softmax", "mix"];
  const chosen = { model: 0, machine: 0, tokens: tokens.length - 1, fused: false, step: "q" };

  const us = (seconds) => (seconds < 1e-8 ? "under 0.01 µs" : `${three(1e6 * seconds)} µs`);
  const many = (number) => {
    const [size, word] = [[1e9, "billion"], [1e6, "million"], [1e3, "thousand"], [1, ""]].find(([one]) => number >= one);
    return `${three(number / size)} ${word}`.trim();
  };
  const seen = () => Object.keys(steps).filter((step) => (chosen.fused ? !APART.includes(step) : step !== FUSED));
  const select = (name, label, titles) => {
    const node = make("select", { id: `${id}-${name}`, "data-ask": name, onchange: () => { chosen[name] = Number(node.value); draw(); } },
      titles.map((title, i) => make("option", { value: i }, title)));
    return make("label", { for: node.id }, `${label} `, node);
  };
  const shown = make("output", { class: "cav-count", for: `${id}-tokens` });
  const slider = make("input", { id: `${id}-tokens`, type: "range", min: 0, max: tokens.length - 1, step: 1, value: chosen.tokens, "data-ask": "tokens",
    oninput: () => { chosen.tokens = Number(slider.value); draw(); } });
  const fused = make("input", { type: "checkbox", "data-ask": "fused", onchange: () => {
    chosen.fused = fused.checked;
    if (!seen().includes(chosen.step)) chosen.step = chosen.fused ? FUSED : "scores";
    draw();
  } });
  const controls = make("div", { class: "cav-choices" },
    make("label", { class: "cav-slider", for: slider.id }, make("span", {}, "tokens a step"), slider, shown),
    select("model", "Model", names), select("machine", "Machine", machines.map((one) => one.name)),
    make("label", {}, fused, " fused attention"));

  const words = make("p", { class: "slf-words cav-words", "aria-live": "polite", "aria-atomic": "true" });
  const price = make("p", { class: "cav-price", "aria-live": "polite", "aria-atomic": "true" });
  const rows = Object.fromEntries(Object.entries(steps).map(([step, [title]]) => {
    const bars = ["cooks", "van"].map((who) => make("div", { class: `cav-line cav-${who}` }, make("span", { class: "cav-bar" }), make("span", { class: "cav-time" })));
    const button = make("button", { type: "button", "data-pick": step, onclick: () => { chosen.step = step; draw(); } }, title);
    return [step, { button, bars, node: make("li", { "data-step": step }, button, make("div", { class: "cav-bars" }, bars)) }];
  }));
  const key = make("p", { class: "cav-key", "aria-hidden": "true" }, make("span", { class: "cav-mark cav-cooks" }), " cooks: operations ",
    make("span", { class: "cav-mark cav-van" }), " van: bytes. The shorter bar is pale.");

  function draw() {
    const [T, machine, count] = [tokens[chosen.tokens], machines[chosen.machine], counts[names[chosen.model]][chosen.tokens]];
    const present = seen();
    const times = Object.fromEntries(present.map((step) => [step, [count[step][0] / machine.peak, count[step][1] / machine.bandwidth]]));
    const longest = Math.max(...Object.values(times).flat());
    shown.textContent = `${whole(T)} of ${whole(context)}`;
    slider.setAttribute("aria-valuetext", shown.textContent);
    for (const [step, { button, bars, node }] of Object.entries(rows)) {
      button.setAttribute("aria-pressed", String(step === chosen.step));
      node.hidden = !present.includes(step);
      if (node.hidden) continue;
      bars.forEach((bar, i) => {
        const seconds = times[step][i];
        bar.firstChild.style.setProperty("--part", seconds / longest);
        bar.lastChild.textContent = us(seconds);
        bar.classList.toggle("cav-pale", seconds < times[step][1 - i]);
        bar.dataset.value = seconds;
      });
    }
    const waiting = present.filter((step) => times[step][1] > times[step][0]).map((step) => steps[step][0]);
    const total = present.reduce((sum, step) => sum + Math.max(...times[step]), 0);
    const who = waiting.length === present.length ? "every step waits for the van" : waiting.length === 0 ? "no step waits for the van"
      : `${waiting.length === 1 ? "one step waits" : `${waiting.length} of ${present.length} steps wait`} for the van: ${waiting.join(", ")}`;
    words.replaceChildren(`With ${T === 1 ? "one token" : `${whole(T)} tokens`} a step, ${who}. `,
      strong(`One after the other they take at least ${us(total)}${T === 1 ? "" : `, ${us(total / T)} a token`}.`));
    const [title, operations, moved] = steps[chosen.step];
    const [flops, bytes] = count[chosen.step];
    price.replaceChildren(strong(title), `: ${operations} = ${many(flops)} operations. ${moved} = ${many(bytes / 2)} numbers of two bytes. `
      + `The intensity is ${three(flops / bytes)} FLOP/byte, and the ridge ${three(machine.peak / machine.bandwidth)}.`);
    Object.assign(root.dataset, { total, flops, bytes });
  }

  const root = make("div", { class: "slf slf-buttons cav", role: "group", "aria-label": "The steps of a layer, cooks beside van" },
    controls, words, make("ul", { class: "cav-steps" }, Object.values(rows).map(({ node }) => node)), key, price);
  el.replaceChildren(root);
  draw();
}

export default { render };
