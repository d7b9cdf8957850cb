// What each interactive figure shows: its setting and its numbers, as plain data. One function for each, by the figure's
// class; oracles.py compares what they give with the library, in whichever browser they ran.
(() => {
  const all = (one, css) => [...one.querySelectorAll(css)];
  const numbers = (text) => text.split(",").map(Number);
  const text = (one, css) => one.querySelector(css).textContent;
  const chosen = (one, n = 0) => all(one, "select")[n].selectedIndex;
  const title = (select) => select.selectedOptions[0].textContent;
  const byKey = (nodes, key, value) => Object.fromEntries(nodes.map((node) => [key(node), value(node)]));
  const values = (nodes, name) => byKey(nodes, (node) => node.dataset[name], (node) => Number(node.dataset.value));
  const cells = (one) => all(one, "td[data-grid]").map((td) =>
    [td.dataset.grid, Number(td.dataset.row), Number(td.dataset.column), Number(td.dataset.value), td.textContent]);
  const asked = (one) => ({
    asked: byKey(all(one, "[data-ask]"), (node) => node.dataset.ask, (node) => (node.type === "checkbox" ? node.checked : node.value)),
    model: title(one.querySelector("select[data-ask=model]")),
    machine: title(one.querySelector("select[data-ask=machine]")),
    data: { ...one.dataset },
  });

  return {
    fst: (one) => ({
      asked: one.dataset.asked, tau: Number(one.dataset.tau), said: text(one, ".fst-answers"),
      weights: all(one, ".fst-number").map((number) => Number(number.textContent)),
    }),
    slw: (one) => ({
      example: chosen(one), cells: cells(one), shapes: all(one, ".slw-shape").length, said: text(one, ".slw-explain"),
      stage: all(one, "[role=tab]").findIndex((tab) => tab.getAttribute("aria-selected") === "true"),
    }),
    ens: (one) => ({
      example: chosen(one), order: all(one, "input[type=radio]").findIndex((radio) => radio.checked), cells: cells(one),
      box: one.querySelector(".ens-box[aria-selected=true]").dataset.box, said: text(one, ".ens-words"),
    }),
    hsh: (one) => ({
      sizes: byKey(all(one, "input[data-letter]"), (box) => box.dataset.letter, (box) => Number(box.value)),
      counts: values(all(one, "td[data-count]"), "count"),
      shapes: byKey(all(one, ".hsh-card"), (card) => card.dataset.part, (card) => numbers(card.querySelector(".hsh-shape").dataset.shape)),
      bytes: all(one, "select").at(-1).value, locked: one.querySelector("input[type=checkbox]").checked, said: text(one, ".hsh-words"),
    }),
    slp: (one) => {
      const rows = all(one, "tbody tr");
      const answer = one.querySelector(".slp-answer").dataset;
      return {
        query: [Number(one.dataset.x), Number(one.dataset.y)], tau: Number(one.dataset.tau),
        cosine: all(one, "input[type=radio]")[1].checked, answer: [Number(answer.x), Number(answer.y)],
        scores: rows.map((row) => Number(row.dataset.score)), weights: rows.map((row) => Number(row.dataset.weight)),
        written: all(one, ".slp-weight").map((cell) => cell.textContent),
      };
    },
    msk: (one) => {
      const table = (grid, read) => all(one, `.msk-${grid} tbody tr`).map((row) => all(row, "td").map(read));
      const told = one.querySelector(".msk-warnings").dataset;
      return {
        sentence: chosen(one), mask: table("mask", (td) => td.dataset.may === "true"), written: table("mask", (td) => td.textContent),
        weights: table("weights", (td) => Number(td.dataset.value)), output: table("output", (td) => Number(td.dataset.value)),
        allowed: Number(told.allowed), future: Number(told.future), blind: told.blind.split(",").filter(Boolean).map(Number),
        words: text(one, ".msk-words"),
      };
    },
    pse: (one) => ({
      positions: ["query", "key"].map((name) => Number(one.querySelector(`input[data-slider=${name}]`).value)),
      rotary: one.querySelector("input[value=rotary]").checked, width: one.querySelector("select").value,
      turned: numbers(one.querySelector(".pse-stage").dataset.turned ?? ""), words: text(one, ".pse-words"),
      rows: all(one, ".pse-cells").map((strip) => numbers(strip.dataset.row)), numbers: values(all(one, "td[data-number]"), "number"),
    }),
    spr: (one) => ({
      cells: cells(one), words: text(one, ".spr-words"),
      sizes: byKey(["a", "b"], (which) => which, (which) => [0, 1].map((axis) => Number(one.querySelector(`input[data-of=${which}${axis}]`).value))),
      turned: all(one, ".spr-turn[aria-pressed=true]").map((button) => button.dataset.of).join(""),
    }),
    slm: (one) => ({
      sentence: chosen(one), slug: one.querySelector("[aria-current=step]").dataset.slug,
      reads: one.querySelector(".slm-panel").classList.contains("slm-encoder"), word: text(one, ".slm-word").match(/“(.*)”/)[1],
      layer: all(one, ".slm-layers button").findIndex((button) => button.getAttribute("aria-pressed") === "true"),
      rows: all(one, ".slm-rows li").map((li) => [li.firstChild.textContent, text(li, ".slm-number")]),
    }),
    pat: (one) => ({
      picture: chosen(one), view: chosen(one, 1), about: text(one, ".pat-about"), said: text(one, ".pat-words"),
      values: all(one, "td[data-grid=map]").map((td) => Number(td.dataset.value)),
    }),
    bat: (one) => ({ ...asked(one), cells: values(all(one, "td[data-cell]"), "cell") }),
    mem: (one) => ({ ...asked(one), parts: byKey(all(one, "tr[data-part]"), (row) => row.dataset.part, (row) => Number(row.dataset.bytes)) }),
    bmt: (one) => ({
      beams: Number(one.dataset.beams), step: Number(one.dataset.step), alpha: one.querySelector("select").value,
      rows: all(one, ".bmt-table tbody tr").map(({ dataset }) => [Number(dataset.total), dataset.how, dataset.ids]),
      ends: all(one, ".bmt-ends li").map(({ dataset }) => [Number(dataset.score), dataset.ids]),
    }),
    cfg: (one) => ({
      data: { ...one.dataset }, each: one.querySelector("select[data-ask=each]").value, words: text(one, ".cfg-words"),
      held: all(one, "[data-held]").map((layer) => Number(layer.dataset.held)),
      parts: byKey(all(one, "li[data-part]"), (part) => part.dataset.part, (part) => Number(part.dataset.count)),
    }),
    csw: (one) => ({
      data: { ...one.dataset }, said: text(one, ".csw-words"), pressed: all(one, "[data-change]:not(.csw-reset)[aria-pressed=true]").map(({ dataset }) => dataset.change),
      widths: all(one, ".csw-part").map(({ style }) => style.width),
    }),
    lyc: (one) => ({
      model: one.dataset.model, said: text(one, ".lyc-words"),
      marks: all(one, ".lyc-mark").map((mark) => [mark.firstChild.textContent, mark.getAttribute("href")]),
      pressed: all(one, "button[aria-pressed=true]").map((button) => button.dataset.model),
    }),
    mdt: (one) => ({
      type: one.dataset.type, chosen: one.querySelector("select").value, said: text(one, ".mdt-words"),
      link: one.querySelector(".mdt-link")?.getAttribute("href") ?? null, now: one.querySelector(".mdt-now")?.textContent ?? "",
    }),
    kvc: (one) => ({
      data: { ...one.dataset }, cached: one.querySelector("button[data-cached][aria-pressed=true]").dataset.cached,
      sizes: byKey(all(one, "select"), (select) => select.dataset.size, (select) => select.value), boxes: all(one, ".kvc-key.kvc-there").length,
      inside: all(one, ".kvc-is-in").length,
    }),
    smp: (one) => ({
      place: chosen(one), probabilities: one.probabilities, kept: Number(one.dataset.kept), drawn: Number(one.dataset.drawn),
      said: text(one, ".smp-words"), times: all(one, "tbody tr").map((row) => row.lastChild.textContent).join(),
      sliders: byKey(all(one, "input[data-slider]"), (slider) => slider.dataset.slider, (slider) => Number(slider.value)),
    }),
    lrx: (one) => {
      const [width, warmup] = all(one, "select");
      const { rate, peak } = one.querySelector(".lrx-words").dataset;
      return {
        width: width.value, warmup: warmup.value, step: one.querySelector("input").value, rate: Number(rate), peak: Number(peak),
        chosen: Number(one.querySelector("button[aria-pressed=true]").dataset.peak),
        losses: all(one, ".lrx-told strong").map((told) => [Number(told.dataset.warmup), told.textContent]),
      };
    },
    dtv: (one) => ({
      place: Number(one.querySelector("button[data-case][aria-pressed=true]").dataset.case),
      suspect: one.querySelector("button[data-suspect][aria-pressed=true]")?.dataset.suspect ?? null,
      clues: byKey(Object.entries(one.querySelector(".dtv-clues").dataset), ([name]) => name, ([, value]) => Number(value)),
      verdict: { ...one.querySelector(".dtv-verdict").dataset }, said: text(one, ".dtv-verdict"),
    }),
    sdt: (one) => ({
      cells: cells(one), words: text(one, ".sdt-words"), count: text(one, ".sdt-count"), memory: one.querySelector("input").value,
      states: all(one, "td[data-grid]").map(({ dataset }) => dataset.state), all: one.querySelector("[data-all]").getAttribute("aria-pressed"),
      below: all(one, "td[data-grid]").map(({ dataset }) => (dataset.computed ? Number(dataset.computed) : null)),
    }),
    cav: (one) => ({
      ...asked(one), step: one.querySelector("button[data-pick][aria-pressed=true]").dataset.pick, words: text(one, ".cav-words") + text(one, ".cav-price"),
      // Pairs, since WebKit's driver gives the keys of an object in no order.
      times: all(one, "li[data-step]:not([hidden])").map((row) => [row.dataset.step, all(row, ".cav-line").map((line) => Number(line.dataset.value))]),
    }),
    svt: (one) => ({
      way: one.querySelector("button[data-way][aria-pressed=true]").dataset.way, said: text(one, ".svt-words"), at: Number(one.querySelector("input").value),
      asked: byKey(all(one, "[data-ask]"), (node) => node.dataset.ask, (node) => node.value),
      steps: all(one, ".svt-step").map(({ dataset }) => [dataset.slot, dataset.guest, dataset.tokens].map(Number)),
      faint: all(one, ".svt-step.svt-faint").length,
      rows: byKey(all(one, ".svt-table tbody tr"), (row) => row.dataset.way, (row) => all(row, "td").map((td) => Number(td.dataset.value))),
    }),
    rfl: (one) => ({
      machine: title(all(one, "select")[0]), numbers: title(all(one, "select")[1]), said: text(one, ".rfl-words"),
      phase: one.querySelector("button[data-phase][aria-pressed=true]").dataset.phase,
      sizes: byKey(all(one, "input[data-letter]"), (slider) => slider.dataset.letter,
        (slider) => Number(text(slider.parentElement, "output").replaceAll(",", ""))),
      rows: all(one, ".rfl-table tbody tr").map(({ dataset }) =>
        [dataset.name, Number(dataset.flops), Number(dataset.bytes), dataset.bound, Number(dataset.seconds)]),
    }),
    wab: (one) => ({
      place: Number(one.querySelector("input").value), said: text(one, ".wab-words"),
      doubled: byKey(all(one, "button[data-double]"), (button) => button.dataset.double, (button) => button.getAttribute("aria-pressed") === "true"),
      rows: all(one, ".wab-row").map((row) => [row.dataset.name, ...["flops", "bytes", "computing", "moving", "least"].map((name) => Number(row.dataset[name])),
        all(row, ".wab-bar").map((bar) => parseFloat(bar.style.width))]),
    }),
    kpl: (one) => ({
      kernel: one.dataset.kernel, tile: Number(one.dataset.tile), step: Number(one.dataset.step), said: text(one, ".kpl-now"), words: text(one, ".kpl-words"),
      steps: Number(one.querySelector("input[id$=step]").max), play: text(one, ".kpl-play"), roof: { ...one.querySelector(".kpl-roof").dataset },
      counts: byKey(all(one, "[data-count]"), (cell) => cell.dataset.count, (cell) => Number(cell.dataset.value)),
      cells: ["read", "written"].map((act) => all(one, `.kpl-cell.kpl-${act}`).length), tiles: all(one, ".kpl-tile").length,
    }),
    rpl: (one) => ({
      ...one.dataset, said: text(one, ".rpl-now"), words: text(one, ".rpl-words"), play: text(one, ".rpl-play"),
      steps: Number(one.querySelector("input[id$=step]").max),
      counts: byKey(all(one, "[data-count]"), (cell) => cell.dataset.count, (cell) => Number(cell.dataset.value)),
      cells: ["own", "come", "new"].map((mark) => all(one, `.rpl-cell.rpl-${mark}`).length),
      arrows: all(one, ".rpl-arrow").map(({ dataset }) => ["from", "to", "bytes"].map((name) => Number(dataset[name]))),
    }),
    ppl: (one) => ({
      ...one.dataset, words: text(one, ".ppl-words"), play: text(one, ".ppl-play"), length: Number(one.querySelector("input[id$=time]").max),
      tasks: all(one, ".ppl-task").map((task) => [task.dataset.name, Number(task.getAttribute("x")), Number(task.getAttribute("width"))]),
      idle: Number(one.querySelector(".ppl-idle").getAttribute("width")),
    }),
    shm: (one) => ({
      ...one.dataset, words: text(one, ".shm-words"), pressed: all(one, "button[aria-pressed=true]").map(({ dataset }) => Number(dataset.stage)),
      filled: byKey(["weights", "gradients", "optimizer"], (kind) => kind, (kind) => all(one, `.shm-${kind}`).map((part) => Number(part.getAttribute("height")))),
    }),
    tpc: (one) => ({
      ...one.dataset, words: text(one, ".tpc-words"), checked: all(one, "input:checked").map(({ value }) => value),
      bytes: byKey(all(one, ".tpc-sends"), ({ dataset }) => dataset.where, ({ dataset }) => Number(dataset.bytes)),
      cells: byKey(["x", "in", "z", "h", "out", "y"].flatMap((of) => [`${of}0`, `${of}1`]), (key) => key,
        (key) => all(one, `td[data-of=${key.slice(0, -1)}][data-rank="${key.at(-1)}"]`).map((td) => Number(td.textContent.replace("−", "-")))),
    }),
    ans: (one) => ({
      ...one.dataset, words: text(one, ".ans-words"), pressed: all(one, "button[aria-pressed=true]").map((button) => button.textContent),
      bars: all(one, ".ans-now").map((bar) => Number(bar.getAttribute("width"))), before: all(one, ".ans-picture > line").map((line) => Number(line.getAttribute("x1"))),
      room: Number(one.querySelector(".ans-room").getAttribute("width")), shown: text(one, ".ans-value"),
    }),
    bml: (one) => ({
      ...one.dataset, words: text(one, ".bml-words"), shown: text(one, ".bml-value"), pressed: all(one, "button[aria-pressed=true]").map((button) => button.textContent),
      leads: all(one, ".bml-one").map((square) => Number(square.dataset.column)), lost: all(one, ".bml-lost").length, ties: all(one, ".bml-tie").length,
    }),
    ptg: (one) => ({
      ...one.dataset, words: text(one, ".ptg-words"), reading: text(one, ".ptg-reading"), layer: text(one, ".ptg-value"), lists: [chosen(one, 0), chosen(one, 1)],
      pressed: all(one, "button[aria-pressed=true]").map((button) => button.dataset.mode), here: Number(one.querySelector(".ptg-here").dataset.value),
      patches: all(one, "td[data-grid=patch]").map((td) => [Number(td.dataset.row), Number(td.dataset.column), td.dataset.value === "" ? null : Number(td.dataset.value)]),
      ranks: [0, 1].map((r) => all(one, `td[data-grid=lens][data-row='${r}']`).map((td) => Number(td.dataset.value))),
      added: [0, 1].map((r) => all(one, `td[data-grid=added][data-row='${r}']`).map((td) => Number(td.dataset.value))),
      passes: ["before", "after", "clean"].map((kind) => all(one, `.ptg-${kind} li`).map((line) => [text(line, ".ptg-token"), text(line, ".ptg-chance")])),
    }),
    trw: (one) => ({
      ...one.dataset, words: text(one, ".trw-words"), shown: text(one, ".trw-value"), questions: all(one, ".trw-question").map((question) => question.textContent),
      answers: all(one, ".trw-text > :first-child").map((answer) => answer.textContent), verdicts: all(one, ".trw-verdict").map((mark) => [mark.textContent, mark.getAttribute("aria-label")]),
      heights: all(one, ".trw-mark").map((mark) => Number(mark.getAttribute("cy"))),
    }),
    xpr: (one) => ({
      ...one.dataset, words: text(one, ".xpr-words"), batch: text(one, ".xpr-batch"), set: all(one, ".slf-value").map((value) => value.textContent),
      rows: byKey(["logit", "gate g", "bias b", "g + b", "weight", "tokens", "fetched"], (name) => name,
        (name) => all(one, `td[data-row="${name}"]`).map(({ dataset }) => (dataset.value === undefined ? null : Number(dataset.value)))),
      strips: all(one, ".xpr-strip").map((strip) => strip.dataset.shown === "true"), dots: all(one, ".xpr-dot").map((dot) => Number(dot.dataset.fetched)),
      chips: all(one, ".xpr-token").map((chip) => [...chip.children].map((part) => part.textContent)), inside: all(one, ".xpr-token:not(.xpr-outside)").length,
      line: one.querySelector(".xpr-line").getAttribute("points").split(" ").map((point) => Number(point.split(",")[1])),
    }),
    scs: (one) => ({
      ...one.dataset, words: text(one, ".scs-words"), shown: text(one, ".scs-value"),
      scores: all(one, ".scs-score").map((dot) => [Number(dot.dataset.score), Number(dot.getAttribute("cx"))]),
      weights: all(one, ".scs-weight").map((bar) => [Number(bar.dataset.weight), Number(bar.getAttribute("height"))]),
      gradients: all(one, ".scs-gradient").map((bar) => Number(bar.getAttribute("width"))), room: Number(one.querySelector(".scs-room").getAttribute("width")),
    }),
    whp: (one) => ({
      ...one.dataset, words: text(one, ".whp-words"), play: text(one, ".whp-play"), set: all(one, ".slf-value").map((value) => value.textContent),
      left: all(one, ".whp-chain").map((bar) => Number(bar.dataset.left)), heights: all(one, ".whp-bar").map((bar) => Number(bar.getAttribute("height"))),
      children: all(one, "circle.whp-child").length,
    }),
    slt: (one) => ({
      source: chosen(one, 1), text: one.querySelector("textarea").value, said: text(one, ".slt-told"),
      cut: all(one, "input[type=radio]").findIndex((radio) => radio.checked), merges: one.querySelector("input[type=range]").value,
      tokens: all(one, ".slt-token").map(({ dataset }) => [dataset.piece, dataset.id === undefined ? null : Number(dataset.id)]),
    }),
  };
})()
