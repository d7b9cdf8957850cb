// Questions in the page: they answer at once, call a known mistake by its name, and keep in this browser which are done.
(() => {
  const page = location.pathname.split("/").pop() || "index.html";

  const kept = () => globalThis.softlookupKept.read("quick");
  const keep = (all) => globalThis.softlookupKept.write("quick", all);

  /** "0,35", "−1", "1/4" and "1e-3" as numbers; NaN for anything else. */
  function number(text) {
    const plain = text.trim().replace("\u2212", "-").replace(/^([^,]*),([^,]*)$/, "$1.$2");
    const parts = plain.split("/");
    if (parts.length > 2 || parts.some((part) => !/^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(part))) return NaN;
    return parts.length === 2 ? Number(parts[0]) / Number(parts[1]) : Number(parts[0]);
  }

  function shape(text) {
    const sizes = text.replace(/[()[\]\s]/g, " ").split(/[,x×\s]+/).filter(Boolean);
    return sizes.length && sizes.every((size) => /^\d+$/.test(size)) ? sizes.map(Number) : [NaN];
  }

  const near = (one, other, tolerance) =>
    one.length === other.length && one.every((value, i) => Math.abs(value - other[i]) <= tolerance * (1 + 1e-9));

  function done(key) {
    const all = kept();
    (all[page] ??= {}).right = { ...all[page].right, [key]: true };
    keep(all);
    show();
  }

  function say(box, verdict, ...parts) {
    const told = box.querySelector(".slq-told");
    box.classList.remove("slq-is-right", "slq-is-wrong");
    if (verdict) box.classList.add(`slq-is-${verdict}`);
    told.replaceChildren(...parts);
  }

  const strong = (text) => Object.assign(document.createElement("strong"), { textContent: text });

  /** How far a guess is off, from the two binary logarithms. */
  function factor(guess, right) {
    const times = 2 ** Math.abs(guess - right);
    const written = times < 10 ? times.toFixed(1) : times < 1e6 ? Math.round(times).toLocaleString("en") : "over a million";
    return `Too ${guess > right ? "high" : "low"}, by a factor of ${written}. Guess once more, or unfold the answer.`;
  }

  /** Which known mistake gives an answer, or which ones. */
  function named(says) {
    if (says.length === 1) return [strong("A known mistake. "), says[0]];
    const list = document.createElement("ul");
    list.append(...says.map((one) => Object.assign(document.createElement("li"), { textContent: one })));
    return [strong("A known mistake, "), "one of these:", list];
  }

  function judge(form, asked, answer) {
    const guess = asked.kind === "guess";
    if (!answer.length || !answer.every(guess ? Number.isFinite : (value) => !Number.isNaN(value))) {
      say(form, "", asked.kind === "shape" ? "A shape is whole numbers with commas, as (2, 3)." : "That is not a number yet: 0.35, or 7/20.");
      return;
    }
    if (near(answer, asked.right, asked.tolerance)) {
      if (guess) say(form, "right", strong("Within a factor of two. "), `The count is ${form.querySelector("details p").textContent}.`);
      else say(form, "right", strong("Right."));
      done(asked.key);
      return;
    }
    const known = asked.wrong.find((one) => near(answer, one.answer, Math.max(asked.alike, 1e-9)));
    if (known) say(form, "wrong", ...named(known.says));
    else if (guess) say(form, "wrong", strong("Not yet. "), factor(answer[0], asked.right[0]));
    else say(form, "wrong", strong("Not yet. "), "Try once more, or unfold the answer.");
  }

  function typed(form) {
    const asked = JSON.parse(form.dataset.quick);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const fields = [...form.querySelectorAll("input")].map((field) => field.value);
      const answer = asked.kind === "shape" ? shape(fields[0]) : fields.map(number);
      judge(form, asked, asked.kind === "guess" ? answer.map(Math.log2) : answer);
    });
    for (const cell of form.querySelectorAll("[data-cell]")) {
      cell.addEventListener("click", () => {
        form.querySelectorAll("[data-cell]").forEach((one) => one.setAttribute("aria-pressed", String(one === cell)));
        judge(form, asked, cell.dataset.cell.split(",").map(Number));
      });
    }
    return asked.key;
  }

  /** The words that an answer has for an option, without the letter in front. */
  function reason(box, letter, right) {
    const body = box.querySelector(".sd-summary-content");
    const found = right ? body.querySelector("p")
      : [...body.querySelectorAll("li")].find((item) => item.textContent.trim().startsWith(`(${letter})`));
    const copy = (found.querySelector(":scope > p") ?? found).cloneNode(true);
    const walk = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      if (!node.data.includes(`(${letter})`)) continue;
      node.data = node.data.replace(`(${letter})`, "").trimStart();
      break;
    }
    return copy.childNodes;
  }

  function chosen(box) {
    const right = [...box.classList].find((name) => name.startsWith("slq-right-")).slice(-1);
    const options = [...box.querySelectorAll(".slq-options > li")];
    const told = Object.assign(document.createElement("p"), { className: "slq-told" });
    told.setAttribute("role", "status");
    box.querySelector("details").before(told);
    const buttons = options.map((option, i) => {
      const letter = String.fromCharCode(97 + i);
      const button = Object.assign(document.createElement("button"), { type: "button" });
      button.append(Object.assign(document.createElement("span"), { className: "slq-letter", textContent: `(${letter})` }));
      const words = document.createElement("span");
      words.append(...(option.querySelector(":scope > p") ?? option).childNodes);
      button.append(words);
      button.setAttribute("aria-pressed", "false");
      option.replaceChildren(button);
      button.addEventListener("click", () => {
        buttons.forEach((one) => one.setAttribute("aria-pressed", String(one === button)));
        const is = letter === right;
        say(box, is ? "right" : "wrong", strong(is ? "Right. " : "No. "), ...reason(box, letter, is));
        if (is) done(box.id);
      });
      return button;
    });
    box.classList.add("slq-live");
    return box.id;
  }

  let keys = [];

  /** How many are done: beneath the questions at the end, or the whole page, and beside the chapters' names at the side. */
  function show() {
    const all = kept();
    const own = keys.filter((key) => all[page]?.right?.[key]).length;
    for (const box of document.querySelectorAll(".slq, .slq-choice")) {
      box.classList.toggle("slq-done", Boolean(all[page]?.right?.[box.dataset.key ?? box.id]));
    }
    if (keys.length) {
      document.querySelector(".slq-progress span").textContent = `${own} of ${keys.length} questions on this page answered. `;
      document.querySelector(".slq-progress button").hidden = own === 0;
    }
    for (const link of document.querySelectorAll(".bd-sidebar-primary a.internal")) {
      if (link.pathname.includes("/exercises/")) continue; // a notebook's page has its chapter's name
      const name = link.classList.contains("current") && link.getAttribute("href") === "#" ? page : link.pathname.split("/").pop();
      const about = all[name];
      const old = link.querySelector(".slq-mark");
      old?.previousSibling.remove(); // the space before it
      old?.remove();
      const count = Object.keys(about?.right ?? {}).length;
      if (!count) continue;
      const mark = Object.assign(document.createElement("span"), { className: "slq-mark" });
      mark.textContent = count >= about.total ? "✓" : `${count}/${about.total}`;
      mark.title = `${count} of ${about.total} questions answered`;
      link.append("\u00a0", mark); // in one line with the last word
    }
  }

  function start() {
    const typedOnes = [...document.querySelectorAll("form.slq")];
    const chosenOnes = [...document.querySelectorAll(".slq-choice")];
    typedOnes.forEach((form) => { form.dataset.key = typed(form); });
    chosenOnes.forEach(chosen);
    keys = [...typedOnes.map((form) => form.dataset.key), ...chosenOnes.map((box) => box.id)];
    if (keys.length) {
      const all = kept();
      const right = Object.fromEntries(Object.entries(all[page]?.right ?? {}).filter(([key]) => keys.includes(key)));
      keep({ ...all, [page]: { right, total: keys.length } });
      const line = Object.assign(document.createElement("p"), { className: "slq-progress" });
      const clear = Object.assign(document.createElement("button"), { type: "button", textContent: "Begin anew" });
      clear.addEventListener("click", () => {
        keep({ ...kept(), [page]: { right: {}, total: keys.length } });
        show();
        line.querySelector("span").focus();
      });
      const words = document.createElement("span");
      words.tabIndex = -1;
      line.append(words, clear);
      if (chosenOnes.length) chosenOnes.at(-1).after(line);
      else document.querySelector(".bd-article > section").append(line); // typed ones stand in all sections
    }
    show();
  }

  window.addEventListener("load", async () => {
    await window.MathJax?.startup?.promise; // options keep their formulas when they become buttons
    start();
  });
})();
