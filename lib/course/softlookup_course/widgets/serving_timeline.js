// A batch that is served. Python has served the guests each way; here its records are drawn up to a time.

const FRAME = { least: 280, left: 52, right: 12, top: 20, lane: 34, below: 12, wait: 20, letter: 7.4, tick: 5 };

function render({ model, el }) {
  const id = nextId("svt");
  const [guests, records, titles, about] = ["guests", "records", "titles", "about"].map((trait) => model.get(trait));
  const distinct = (key) => [...new Set(records.map((record) => record[key]))].filter((value) => value !== 0);
  const end = Math.ceil(Math.max(...records.map((record) => record.total)));
  const chosen = { way: "static", slots: 3, budget: 512, guest: "", at: end };
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let wide = 640;
  const x = (ms) => FRAME.left + (ms / end) * (wide - FRAME.left - FRAME.right);
  const long = (name) => FRAME.letter * name.length + 6; // how wide a name is at most
  const ms = (value) => `${Math.round(value)} ms`;
  const recordOf = (way) => records.find((record) => record.way === way && record.slots === chosen.slots
    && (record.budget === 0 || record.budget === chosen.budget));

  function select(name, title, options, set) {
    const box = make("select", { id: `${id}-${name}`, "data-ask": name, onchange: () => { pause(); set(box.value); draw(); } },
      options.map(([value, label]) => make("option", { value, ...(String(chosen[name]) === String(value) ? { selected: "" } : {}) }, label)));
    return make("label", { for: box.id }, `${title} `, box);
  }
  const ways = distinct("way"); // in the order of the records, since a page's JSON sorts names
  const buttons = ways.map((way) =>
    make("button", { type: "button", "data-way": way, onclick: () => { pause(); chosen.way = way; draw(); } }, titles[way]));
  const choices = make("div", { class: "svt-choices" },
    select("slots", "Slots", distinct("slots").map((value) => [value, whole(value)]), (value) => { chosen.slots = Number(value); }),
    select("budget", "Tokens in a step, chunked", distinct("budget").map((value) => [value, whole(value)]), (value) => { [chosen.budget, chosen.way] = [Number(value), "chunked"]; }),
    select("guest", "Follow", [["", "everybody"], ...guests.map((guest, i) => [i, guest.name])], (value) => { chosen.guest = value; }));
  const words = make("p", { class: "slf-words svt-words", "aria-live": "polite", "aria-atomic": "true" });
  const [time, timeValue, timeLabel] = slider(`${id}-time`, "svt", "time", (at) => { pause(); chosen.at = at; draw(); }, true);
  time.max = end;
  const { play, pause } = player("svt", {
    root: () => root,
    sentence: words,
    wait: () => (still.matches ? 500 : 100),
    waitsFirst: true,
    isAtEnd: () => chosen.at >= recordOf(chosen.way).total,
    rewind: () => { chosen.at = 0; draw(); },
    goOn: () => {
      const next = chosen.at + (still.matches ? 5 : 1) * FRAME.tick;
      chosen.at = next < recordOf(chosen.way).total ? next : end;
      draw();
    },
  });
  const picture = make("svg:svg", { class: "svt-picture", role: "img" });
  const key = make("p", { class: "svt-key", "aria-hidden": "true" }, make("span", { class: "svt-mark svt-wait" }), " waits ",
    make("span", { class: "svt-mark svt-prefill" }), " prefill ", make("span", { class: "svt-mark svt-decode" }), " one token of the answer");
  const compared = make("tbody", {});
  const heads = ["mean wait for the first token", "longest pause between tokens", "all complete after", "tokens a second"];
  const table = make("table", { class: "slf-table svt-table" },
    make("thead", {}, make("tr", {}, make("td", {}), heads.map((head) => make("th", { scope: "col" }, head)))), compared);

  /** Rows for those who wait: each takes the first row that is free. */
  function waiting(record) {
    const until = [];
    return guests.map((guest, i) => ({ i, from: guest.arrives, to: record.guests[i].enters })).filter(({ from, to }) => to - from > 0.01)
      .sort((a, b) => a.from - b.from).map((wait) => {
        const row = until.findIndex((free) => free <= wait.from);
        const lane = row < 0 ? until.length : row;
        until[lane] = Math.max(wait.to, wait.from + (long(guests[wait.i].name) * end) / (wide - FRAME.left - FRAME.right));
        return { ...wait, lane };
      });
  }

  /** Names above the row of a slot, or below it where the name before is in the way: by guest, whether below and from where. */
  function naming(record) {
    const [free, at] = [Array.from({ length: chosen.slots }, () => [0, 0]), {}];
    for (const [from, , rows] of record.steps) {
      for (const [slot, guest] of rows) {
        if (guest in at) continue;
        const [above, under] = free[slot];
        const below = Number(x(from) < above && under < above);
        const left = Math.min(Math.max(x(from), free[slot][below]), wide - long(guests[guest].name));
        free[slot][below] = left + long(guests[guest].name);
        at[guest] = { below, left };
      }
    }
    return at;
  }

  function sketch(record) {
    const shown = records.filter((each) => each.slots === chosen.slots);
    const lanes = Math.max(1, ...records.flatMap((each) => waiting(each).map((wait) => wait.lane + 1)));
    const low = shown.some((each) => Object.values(naming(each)).some(({ below }) => below)) ? FRAME.below : 0;
    const tall = FRAME.lane + low; // as tall for each way, so that nothing moves when another is chosen
    const names = naming(record);
    const faint = (guest) => (chosen.guest !== "" && Number(chosen.guest) !== guest ? " svt-faint" : "");
    const text = (left, y, label, cls, anchor = "start") => make("svg:text", { x: left, y, class: cls, "text-anchor": anchor }, label);
    const waits = waiting(record);
    const slotsTop = FRAME.top + lanes * FRAME.wait + 12;
    const bottom = slotsTop + chosen.slots * tall;
    const parts = [text(FRAME.left - 6, FRAME.top + 13, "queue", "svt-axis", "end")];
    for (let tick = 0; tick <= end; tick += 50) {
      parts.push(make("svg:line", { class: "svt-tick", x1: x(tick), x2: x(tick), y1: FRAME.top - 4, y2: bottom }), text(x(tick), FRAME.top - 7, tick ? String(tick) : "0 ms", "svt-axis", tick ? "middle" : "start"));
    }
    for (const wait of waits) {
      if (wait.from > chosen.at) continue;
      const y = FRAME.top + wait.lane * FRAME.wait;
      parts.push(make("svg:rect", { class: `svt-wait${faint(wait.i)}`, x: x(wait.from), y, width: x(Math.min(wait.to, chosen.at)) - x(wait.from), height: 15, rx: 3 }),
        text(x(wait.from) + 4, y + 12, guests[wait.i].name, `svt-name${faint(wait.i)}`));
    }
    for (let slot = 0; slot < chosen.slots; slot += 1) {
      const y = slotsTop + slot * tall;
      parts.push(text(FRAME.left - 6, y + 26, `slot ${slot + 1}`, "svt-axis", "end"),
        make("svg:rect", { class: "svt-slot", x: FRAME.left, y: y + 15, width: x(record.total) - FRAME.left, height: 14 }));
    }
    const named = new Set();
    for (const [from, to, rows] of record.steps.filter(([begins]) => begins < chosen.at)) {
      for (const [slot, guest, tokens] of rows) {
        const y = slotsTop + slot * tall;
        parts.push(make("svg:rect", { class: `svt-step ${tokens ? "svt-prefill" : "svt-decode"}${faint(guest)}`, x: x(from), y: y + 15,
          width: Math.max(0.8, x(Math.min(to, chosen.at)) - x(from) - 0.7), height: 14, "data-slot": slot, "data-guest": guest, "data-tokens": tokens }));
        if (!named.has(guest)) parts.push(text(names[guest].left, y + (names[guest].below ? 41 : 12), guests[guest].name, `svt-name${faint(guest)}`));
        named.add(guest);
      }
    }
    if (chosen.at < end) parts.push(make("svg:line", { class: "svt-now-line", x1: x(chosen.at), x2: x(chosen.at), y1: FRAME.top - 4, y2: bottom }));
    picture.setAttribute("viewBox", `0 0 ${wide} ${bottom + 4}`);
    picture.replaceChildren(...parts);
  }

  /** Who waits, who is served and who has the whole answer, at the time that is shown. */
  function moment(record) {
    const those = (is) => guests.filter((guest, i) => is(guest.arrives, record.guests[i])).map(({ name }) => name).join(", ") || "nobody";
    const now = chosen.at;
    return `At ${ms(now)} of ${ms(record.total)}, with ${titles[chosen.way]}. Waiting: ${those((arrives, { enters }) => arrives <= now && now < enters)}. `
      + `Served: ${those((_, { enters, ends }) => enters <= now && now < ends)}. Complete: ${those((_, { ends }) => ends <= now)}.`;
  }

  function draw() {
    const record = recordOf(chosen.way);
    time.value = chosen.at;
    timeValue.textContent = ms(Math.min(chosen.at, record.total));
    time.setAttribute("aria-valuetext", timeValue.textContent);
    if (chosen.way === "chunked") choices.querySelector("[data-ask=budget]").value = chosen.budget;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.way === chosen.way));
    sketch(record);
    const budget = record.budget ? `, at most ${whole(record.budget)} tokens in a step` : "";
    const slowest = record.guests.findIndex((guest) => guest.first === record.worst);
    const told = `With ${titles[chosen.way]} in ${chosen.slots} slots${budget}, all answers are complete after ${ms(record.total)}: ${Math.round(record.rate)} tokens a second. `
      + `A guest waits ${ms(record.first)} for the first token on average, and ${guests[slowest].name} the longest, ${ms(record.worst)}. The longest pause between two tokens is ${ms(record.pause)}.`;
    const said = chosen.at < record.total ? moment(record) : told;
    picture.setAttribute("aria-label", `Slots over time. ${said}`);
    words.replaceChildren(said);
    if (chosen.guest !== "") {
      const [guest, became] = [guests[chosen.guest], record.guests[chosen.guest]];
      words.append(" ", strong(`${guest.name} arrives at ${ms(guest.arrives)} with a prompt of ${whole(guest.prompt)} tokens, gets a slot at ${ms(became.enters)}, has the first of ${guest.answer} tokens `
        + `${ms(became.first)} after arriving, never pauses longer than ${ms(became.pause)}, and is complete at ${ms(became.ends)}.`));
    }
    compared.replaceChildren(...ways.map((way) => {
      const row = recordOf(way);
      return make("tr", { "data-way": way, class: way === chosen.way ? "svt-now" : "" }, make("th", { scope: "row" }, titles[way]),
        ["first", "pause", "total", "rate"].map((name) => make("td", { "data-value": row[name] }, name === "rate" ? String(Math.round(row[name])) : ms(row[name]))));
    }));
  }

  const root = make("div", { class: "slf slf-buttons svt", role: "group", "aria-label": `A batch that is served, ${about}` },
    make("div", { class: "svt-bar", role: "group", "aria-label": "How the steps are shared" }, buttons), choices, make("div", { class: "slf-bar svt-playing" }, play, timeLabel), words, picture, key, table);
  el.replaceChildren(root);
  draw();
  const unwatch = keepWide(picture, FRAME.least, (width) => { wide = width; draw(); });
  return () => { pause(); unwatch(); };
}

export default { render };
