// Who holds what. Python has computed every number; here each rank is a column, and what it holds is filled.

const SHM = { left: 84, right: 6, top: 22, high: 250, gap: 8, most: 8, least: 280 };
const SHM_KINDS = ["weights", "gradients", "optimizer"];

function render({ model, el }) {
  const id = nextId("shm");
  const rows = model.get("rows");
  const says = model.get("stages");
  const worlds = [...new Set(rows.map(({ world }) => world))];
  let [stage, world, wide] = [0, worlds.includes(4) ? 4 : worlds[0], 640];

  const buttons = says.map((_, i) => make("button", { type: "button", "data-stage": i, onclick: () => choose(i, world) }, `stage ${i}`));
  const [worldSlider, worldValue, worldLabel] = slider(`${id}-world`, "shm", "ranks", (i) => choose(stage, worlds[i]));
  worldSlider.max = worlds.length - 1;
  const picture = make("svg:svg", { class: "shm-picture", role: "img" });
  const words = make("p", { class: "slf-words shm-words", "aria-live": "polite", "aria-atomic": "true" });

  function choose(nextStage, nextWorld) {
    [stage, world] = [nextStage, nextWorld];
    const row = rows.find((each) => each.stage === stage && each.world === world);
    const before = rows.find((each) => each.stage === 0 && each.world === world);
    const [total, whole_] = [row, before].map(({ bytes }) => bytes.reduce((a, b) => a + b, 0));
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === stage)));
    worldSlider.value = worlds.indexOf(world);
    worldValue.textContent = String(world);
    worldSlider.setAttribute("aria-valuetext", `${world} ranks`);
    words.replaceChildren(strong(`Stage ${stage}: ${says[stage]}. A rank holds ${inBytes(total)}`), total < whole_ ? ` of ${inBytes(whole_)}` : "",
      `: ${SHM_KINDS.map((kind, i) => `${inBytes(row.bytes[i])} ${kind === "optimizer" ? "of optimizer states" : `of ${kind}`}`).join(", ")}. `,
      !row.sent ? "It has nobody to send to." : !stage ? `In a step it sends ${inBytes(row.sent)}.` : `In a step it sends ${inBytes(row.sent)}, ${row.sent === before.sent ? "" : `${three(row.sent / before.sent)} times `}as much as in stage 0.`);
    Object.assign(root.dataset, { stage, world, total, sent: row.sent });
    draw();
  }

  function draw() {
    const row = rows.find((each) => each.stage === stage && each.world === world);
    const whole_ = rows.find((each) => each.stage === 0 && each.world === world).bytes;
    const { left, right, top, high, gap, most } = SHM;
    const shown = Math.min(world, most);
    const sum = whole_.reduce((a, b) => a + b, 0);
    const column = Math.min(140, (wide - left - right) / shown - gap);
    const nodes = [];
    let y = top;
    SHM_KINDS.forEach((kind, i) => {
      const tall = (whole_[i] / sum) * high;
      const label = [kind, inBytes(whole_[i])];
      label.forEach((line, n) => nodes.push(make("svg:text", { x: left - 10, y: y + tall / 2 + 5 + (n - 0.5) * 15, "text-anchor": "end", class: n ? "shm-small" : null }, line)));
      for (let rank = 0; rank < shown; rank += 1) {
        const x = left + rank * (column + gap);
        nodes.push(make("svg:rect", { class: "shm-empty", x, y: y + 1, width: column, height: tall - 2 }));
        const part = row.sharded[i] ? tall / world : tall;
        const begin = row.sharded[i] ? y + rank * part : y;
        nodes.push(make("svg:rect", { class: `shm-held shm-${kind}`, x, y: row.sharded[i] ? begin : begin + 1, width: column, height: row.sharded[i] ? Math.max(part, 1.5) : tall - 2, "data-kind": kind, "data-rank": rank }));
      }
      y += tall;
    });
    for (let rank = 0; rank < shown; rank += 1) nodes.push(make("svg:text", { x: left + rank * (column + gap) + column / 2, y: 14, "text-anchor": "middle", class: "shm-small" }, column < 44 ? rank : `rank ${rank}`));
    const note = world > most ? `the first ${most} of ${world} ranks` : "";
    nodes.push(make("svg:text", { x: left, y: top + high + 18, class: "shm-small" }, note));
    picture.setAttribute("viewBox", `0 0 ${wide} ${top + high + 24}`);
    picture.replaceChildren(...nodes);
    const cut = SHM_KINDS.filter((_, i) => row.sharded[i]);
    picture.setAttribute("aria-label", `${shown} ranks as columns. ${cut.length ? `Of ${cut.join(", ")} each holds one part of ${world}` : "Each holds everything"}; a rank holds ${inBytes(row.bytes.reduce((a, b) => a + b, 0))}.`);
  }

  const root = make("div", { class: "slf slf-buttons shm", role: "group", "aria-label": "Who holds what" },
    make("div", { class: "slf-bar" }, make("div", { class: "shm-stages", role: "group", "aria-label": "Stage of ZeRO" }, buttons), worldLabel), picture, words);
  worldLabel.hidden = worlds.length < 2;
  el.replaceChildren(root);
  choose(stage, world);
  return keepWide(picture, SHM.least, (width) => { wide = width; draw(); });
}

export default { render };
