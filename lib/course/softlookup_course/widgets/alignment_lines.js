// A translation, written word by word, and the cross-attention of one head as lines. All numbers and lines come from Python.

const PACE_MS = 430; // ten words in less than five seconds: what moves longer would need a way to stop it

function render({ model, el }) {
  const { source, target, weights, lines, layer, head, languages, codes } = model.get("translation");
  const least = 0.01;
  const rows = Math.max(source.length, target.length);
  const where = `layer ${layer}, head ${head}`;
  let written = target.length; // tokens of the translation that stand there
  let timer = null;
  let chosen = null; // [side, place] of the word whose lines are shown
  let pinned = false; // it stays while others are pointed at

  const word = (side) => (text, place) => make("button", {
    type: "button", class: "aln-word",
    onpointerenter: ({ pointerType }) => pointerType === "mouse" && !timer && point(side, place),
    onfocus: ({ target: button }) => button.matches(":focus-visible") && point(side, place),
    onclick: () => press(side, place),
  }, text);
  const words = [source.map(word(0)), target.map(word(1))];
  const paths = lines.map(({ line }) => make("svg:path", { ...line, "vector-effect": "non-scaling-stroke" }));
  const caption = make("p", { class: "aln-caption", role: "status" });
  const again = make("button", { type: "button", class: "aln-again", onclick: play }, "Play again");
  const list = (side) => make("div", { class: "aln-words", lang: codes[side], role: "group", "aria-label": languages[side] }, words[side]);
  const board = make("div", { class: "aln-board" }, list(0),
    make("svg:svg", { viewBox: `0 0 100 ${rows}`, preserveAspectRatio: "none", "aria-hidden": "true" }, paths), list(1));
  const root = make("div", {
    class: "slf slf-buttons aln", role: "group", "aria-label": `A translation and its cross-attention in ${where}`,
    onkeydown: ({ key }) => key === "Escape" && release(),
  }, make("div", { class: "aln-names" }, [languages[0], where, languages[1]].map((name) => make("p", {}, name))), board, caption, make("div", {}, again));

  /** Names with their weights, largest first: "black (0.99), chair (0.01)". */
  function listed(names, shares) {
    const large = shares.map((w, i) => [w, i]).filter(([w]) => w >= least).sort(([a], [b]) => b - a).slice(0, 3);
    return large.flatMap(([w, i], n) => [n ? ", " : "", strong(names[i]), ` (${show(w)})`]);
  }

  function tell() {
    if (timer) return ["The decoder writes ", strong(target[written - 1]), ", and this head attends to ", ...listed(source, weights[written - 1]).slice(0, 3), "."];
    if (chosen === null) return ["Cross-attention: the wider a line, the larger its weight. Choose a word to see its lines alone."];
    const [side, place] = chosen;
    if (side === 1) return ["While the decoder wrote ", strong(target[place]), ", this head attended to ", ...listed(source, weights[place]), "."];
    const shares = weights.map((row) => row[place]);
    const most = listed(target, shares);
    return most.length ? ["This head attended to ", strong(source[place]), " while the decoder wrote ", ...most, "."]
      : ["This head attends to ", strong(source[place]), " nowhere with a weight of 0.01 or more."];
  }

  function draw() {
    const [side, place] = timer ? [1, written - 1] : chosen ?? [null, null];
    lines.forEach(({ row, column }, i) => {
      paths[i].classList.toggle("aln-off", row >= written);
      paths[i].classList.toggle("aln-back", side !== null && (side ? row : column) !== place);
    });
    words.forEach((buttons, at) => buttons.forEach((button, i) => {
      const share = side === null || at === side ? 0 : side ? weights[place][i] : weights[i][place];
      button.style.setProperty("--w", share);
      button.classList.toggle("aln-off", at === 1 && i >= written);
      button.classList.toggle("aln-now", at === side && i === place);
      button.setAttribute("aria-pressed", String(pinned && at === side && i === place));
    }));
    caption.setAttribute("aria-live", timer ? "off" : "polite");
    caption.replaceChildren(...tell());
    again.classList.toggle("aln-off", timer !== null);
    root.dataset.playing = timer !== null;
    root.dataset.written = written;
    root.dataset.chosen = chosen ?? "";
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    written = target.length;
  }

  function play() {
    stop();
    [chosen, pinned, written] = [null, false, 1];
    timer = setInterval(() => {
      if (written === target.length) stop();
      else written += 1;
      draw();
    }, PACE_MS);
    draw();
  }

  function point(side, place) {
    if (pinned) return;
    stop();
    chosen = [side, place];
    draw();
  }

  function press(side, place) {
    stop();
    const same = pinned && chosen[0] === side && chosen[1] === place;
    [chosen, pinned] = same ? [null, false] : [[side, place], true];
    draw();
  }

  function release() {
    stop();
    [chosen, pinned] = [null, false];
    draw();
  }

  // Once, when it is first seen; a reader who wants no motion sees the end at once.
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (!still) written = 0;
  draw();
  const watcher = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    watcher.disconnect();
    if (written === 0) play();
  }, { threshold: 0.4 });
  if (!still) watcher.observe(board);
  addEventListener("beforeprint", release);
  el.replaceChildren(root);
  return () => {
    removeEventListener("beforeprint", release);
    clearInterval(timer);
    watcher.disconnect();
  };
}

export default { render };
