// The page "Your way": ticks off what was read, answered and done, and says what comes next (as softlookup_course.progress.advice).
// All of it is kept in this browser. What comes from files and links is shown as text, never as HTML.
(() => {
  const FORMAT = "softlookup-progress-1";
  const STATES = {
    pass: ["✓", "right"],
    partial: ["◐", "partly right"],
    wrong: ["✗", "not right yet"],
    changed: ["✗", "changed since its check"],
    unchecked: ["✗", "no check yet"],
    blank: ["", ""],
  };
  const HELP = ["", ...["nudge", "formula", "example", "solution"].map((step) => `help up to the ${step}`)];
  const MOST = 5;
  const CODE = 100_000; // characters of an answer
  const { read, write } = globalThis.softlookupKept;
  const make = (tag, text = "", more = {}) => Object.assign(document.createElement(tag), { textContent: text, ...more });
  const root = document.getElementById("way");
  const panel = document.getElementById("way-next");
  const chapters = [...root.querySelectorAll("[data-chapter]")].map((li) => ({
    li,
    number: Number(li.dataset.chapter),
    label: li.dataset.label,
    needs: li.dataset.needs.split(" ").filter(Boolean).map(Number),
    link: li.querySelector("h3 a").getAttribute("href"),
    pages: [...li.querySelectorAll("[data-page]")],
    tasks: [...li.querySelectorAll("[data-task]")],
  }));
  const pages = new Set(chapters.flatMap((one) => one.pages.map((li) => li.dataset.page)));
  const tasks = new Map(chapters.flatMap((one) => one.tasks.map((li) => [li.dataset.task, li])));

  /** What a record says that can be true; null if it is none. */
  function sound(record) {
    if (record?.format !== FORMAT || Number.isNaN(Date.parse(record.date)) || !record.tasks) return null;
    const kept = {};
    for (const [id, one] of Object.entries(record.tasks)) {
      if (!tasks.has(id) || !Object.hasOwn(STATES, one?.state)) continue;
      const named = Array.isArray(one.named) ? one.named.filter((said) => typeof said === "string").slice(0, 2) : [];
      const points = Math.min(Math.max(Number(one.points) || 0, 0), Number(tasks.get(id).dataset.points));
      const help = HELP[one.help] ?? "";
      const [asked, right] = ["asked", "right"].map((name) => one.questions?.[name]);
      const questions = Number.isInteger(asked) && Number.isInteger(right) && asked > 0 ? `${right} of ${asked} questions on it right` : "";
      kept[id] = { state: one.state, points, help, questions, named: named.map((said) => said.slice(0, 400)) };
    }
    const written = {};
    for (const [id, is] of Object.entries(record.written ?? {})) {
      if (/^\d\d-[a-z0-9-]{1,60}$/.test(id)) written[id] = is === true;
    }
    return { format: FORMAT, date: String(record.date).slice(0, 40), tasks: kept, written };
  }

  /** Take a record that is newer than the one kept, and than the last time that all was forgotten. */
  function take(record, asked = false) {
    const found = sound(record);
    const had = read("tasks");
    const latest = Math.max(Date.parse(had.record?.date) || 0, Date.parse(had.cleared) || 0);
    if (found && (asked || Date.parse(found.date) > latest)) write("tasks", { record: found });
    return found !== null;
  }

  const IN_PAGE = { pass: "pass", partial: "partial", wrong: "wrong", error: "wrong", unchecked: "unchecked" };
  const RANK = { pass: 3, partial: 2, wrong: 1, changed: 1, unchecked: 1 };
  const rank = (answer) => RANK[IN_PAGE[answer?.verdict]] ?? 0;
  const short = (text, most = 400) => (typeof text === "string" && text.length <= most ? text : undefined);

  /** Add to what this page has what another had, or a file: never less than before. */
  function join(brought) {
    const marks = read("read");
    for (const [page, one] of Object.entries(brought.read ?? {})) {
      if (!pages.has(page) || !Number.isInteger(one?.total) || !Array.isArray(one.seen)) continue;
      const before = marks[page]?.total === one.total ? marks[page].seen : [];
      const seen = [...new Set([...before, ...one.seen])].filter((n) => Number.isInteger(n) && n >= 0 && n < one.total);
      marks[page] = { ...marks[page], total: one.total, seen, ...(one.all === true ? { all: true } : {}) };
    }
    const quick = read("quick");
    for (const [page, one] of Object.entries(brought.quick ?? {})) {
      if (!pages.has(page) || !Number.isInteger(one?.total)) continue;
      const right = Object.keys(one.right ?? {}).slice(0, one.total).map((key) => [key.slice(0, 80), true]);
      quick[page] = { total: one.total, right: { ...quick[page]?.right, ...Object.fromEntries(right) } };
    }
    const answers = read("in-page");
    for (const [id, one] of Object.entries(brought["in-page"] ?? {})) {
      if (!tasks.has(id) || !Object.hasOwn(IN_PAGE, one?.verdict) || rank(one) <= rank(answers[id])) continue;
      const [source, passed] = [one.source, one.passed].map((text) => short(text, CODE));
      answers[id] = { source, verdict: one.verdict, passed, points: Number(one.points) || 0, said: short(one.said) };
    }
    for (const name of ["last", "next"]) {
      const { path, title } = brought[name] ?? {};
      if (!read(name).path && /^(book|exercises)\/[\w./?=#-]+$/.test(path) && short(title)) write(name, { path, title });
    }
    write("read", marks);
    write("quick", quick);
    write("in-page", answers);
  }

  /** What a link from a page on the disk brought along. */
  function carried() {
    if (!location.hash.startsWith("#kept=")) return;
    let brought = {};
    try { brought = JSON.parse(decodeURIComponent(location.hash.slice(6))) ?? {}; } catch { /* no record */ }
    history.replaceState(null, "", location.pathname + location.search);
    join(brought);
  }

  /** All that is kept here as a file: the record of the notebooks, and beside it what only this browser knows. */
  function save() {
    const browser = Object.fromEntries(["read", "quick", "in-page", "last", "next"].map((name) => [name, read(name)]));
    const whole = { format: FORMAT, date: new Date().toISOString(), ...read("tasks").record, browser };
    const href = URL.createObjectURL(new Blob([JSON.stringify(whole, null, 1)], { type: "application/json" }));
    make("a", "", { href, download: "soft-lookup-progress.json" }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
    document.getElementById("way-says").textContent = "soft-lookup-progress.json is saved.";
  }

  /** Firefox gives every page on the disk a storage of its own, unless somebody has set that aside. */
  const apart = () => location.protocol === "file:" && /\bFirefox\//.test(navigator.userAgent);

  /** The notebooks' record, with a page's verdict wherever it is better; null if neither exists. */
  function joinedWithPages(record) {
    const found = { tasks: {}, written: {}, ...record, own: record?.date };
    found.tasks = { ...found.tasks };
    let some = Boolean(record);
    for (const [id, one] of Object.entries(read("in-page"))) {
      const state = IN_PAGE[one?.verdict];
      if (!tasks.has(id) || !state) continue;
      some = true;
      if (RANK[state] <= (RANK[found.tasks[id]?.state] ?? 0)) continue;
      const named = state !== "pass" && typeof one.said === "string" && one.said ? [one.said.slice(0, 400)] : [];
      found.tasks[id] = { state, help: "", named };
    }
    return some ? found : null;
  }

  const whole = (mark) => Boolean(mark && (mark.all ?? (mark.total > 0 && mark.seen?.length >= mark.total)));

  /** Everything that is known of a chapter. */
  function about(one, marks, quick, record) {
    const own = one.pages.map((li) => marks[li.dataset.page]);
    const states = one.tasks.map((li) => record?.tasks[li.dataset.task]?.state ?? "blank");
    const asked = one.pages.map((li) => quick[li.dataset.page]).filter(Boolean);
    const start = `${String(one.number).padStart(2, "0")}-`;
    const wrote = Object.entries(record?.written ?? {}).some(([id, is]) => is && id.startsWith(start));
    const isRead = own.every(whole);
    const opened = own.some((mark) => whole(mark) || mark?.seen?.length);
    const right = states.filter((state) => state === "pass").length;
    return {
      ...one, states, right, isRead, opened,
      answered: asked.reduce((sum, page) => sum + Object.keys(page.right ?? {}).length, 0),
      questions: asked.reduce((sum, page) => sum + page.total, 0),
      done: record ? right === states.length : isRead,
      begun: opened || wrote || states.some((state) => state !== "blank"),
    };
  }

  const linked = (one) => make("a", one.label, { href: one.link });
  const row = (...parts) => { const p = make("p"); p.append(...parts); return p; };
  const joined = (all) => all.flatMap((one, i) => (i ? [", ", linked(one)] : [linked(one)]));

  function advise(all, record) {
    const done = new Set(all.filter((one) => one.done).map((one) => one.number));
    const free = all.filter((one) => !one.begun && !one.done);
    const ready = free.filter((one) => one.needs.every((number) => done.has(number)));
    const last = Math.max(-1, ...all.filter((one) => one.begun || one.done).map((one) => one.number));
    const goOn = all.find((one) => one.begun && !one.done);
    const next = ready.find((one) => one.number > last) ?? ready[0] ?? free[0];
    const mend = [...tasks].filter(([id]) => !["pass", "blank"].includes(record?.tasks[id]?.state ?? "blank"));
    const said = [];
    if (goOn) {
      const blank = record && goOn.tasks.find((li, i) => goOn.states[i] === "blank")?.querySelector("a");
      const task = blank ? [", with ", make("a", blank.textContent, { href: blank.getAttribute("href") })] : [];
      said.push(row(make("strong", "Go on with "), linked(goOn), ...task, "."));
    }
    if (next) {
      const missing = all.filter((one) => next.needs.includes(one.number) && !one.done);
      const needs = missing.length ? [" It needs ", ...joined(missing), "."] : [];
      said.push(row(make("strong", goOn ? "Then " : "Begin with "), linked(next), ".", ...needs));
    }
    const open = ready.filter((one) => one !== next);
    if (open.length) said.push(row("Open to you as well: ", ...joined(open), "."));
    if (!goOn && !next) said.push(row(record ? "All tasks are right." : "You have read it all.", " What now? Look at the book's last pages, or build something of your own."));
    if (mend.length) {
      const list = make("ul");
      for (const [id, li] of mend.slice(0, MOST)) {
        const item = make("li");
        const link = li.querySelector("a");
        const { state, named } = record.tasks[id];
        item.append(make("a", link.textContent, { href: link.getAttribute("href") }), `: ${STATES[state][1]}.`);
        if (named[0]) item.append(" ", make("em", named[0]));
        list.append(item);
      }
      const more = mend.length > MOST ? [make("p", `And ${mend.length - MOST} more.`)] : [];
      said.push(row(make("strong", "To mend")), list, ...more);
    }
    return said;
  }

  function show() {
    const [marks, quick, kept] = ["read", "quick", "tasks"].map(read);
    const record = joinedWithPages(kept.record ?? null);
    const all = chapters.map((one) => about(one, marks, quick, record));
    for (const one of all) {
      one.li.classList.toggle("way-done", one.isRead && (!record || one.done));
      const told = [];
      if (one.isRead) told.push("read");
      if (one.questions) told.push(`${one.answered} of ${one.questions} questions`);
      one.li.querySelector(".way-mark").textContent = told.join(", ");
      for (const li of one.pages) {
        const mark = marks[li.dataset.page];
        li.querySelector("input").checked = whole(mark);
        const span = li.querySelector(".way-read");
        span.dataset.said ??= span.textContent;
        const part = !whole(mark) && mark?.seen?.length ? `, ${mark.seen.length} of ${mark.total} sections read` : "";
        span.textContent = span.dataset.said + part;
      }
      const count = record ? `${one.right} of ${one.tasks.length} tasks right` : `${one.tasks.length} tasks`;
      one.li.querySelector(".way-count").textContent = count;
      one.tasks.forEach((li, i) => {
        const [sign, words] = STATES[one.states[i]];
        li.dataset.state = one.states[i];
        li.querySelector(".way-sign").textContent = sign;
        const span = li.querySelector(".way-told");
        span.dataset.said ??= span.textContent;
        const { named = [], help = "", questions = "" } = record?.tasks[li.dataset.task] ?? {};
        span.textContent = [span.dataset.said, words, help, questions].filter(Boolean).join(", ") + (named.length ? `. ${named.join(" ")}` : "");
      });
    }
    const sum = (what) => all.reduce((total, one) => total + what(one), 0);
    const line = [`${sum((one) => Number(one.isRead))} of ${all.length} chapters read`];
    if (record) line.push(`${sum((one) => one.right)} of ${tasks.size} tasks right`);
    if (sum((one) => one.questions)) line.push(`${sum((one) => one.answered)} questions answered`);
    document.getElementById("way-sum").textContent = `${line.join(", ")}.`;
    document.getElementById("way-date").textContent = record?.own
      ? `Your notebooks as they were on ${new Date(record.own).toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short" })}, and tasks done in pages.`
      : record ? "Tasks done in pages of the book, in this browser; of your notebooks nothing is known here yet."
      : "Of your notebooks nothing is known here yet; the page goes by what you have read.";
    panel.replaceChildren(...advise(all, record));
  }

  async function open(file) {
    const says = document.getElementById("way-says");
    let record = null;
    try { record = JSON.parse(await file.text()); } catch { /* said below */ }
    const browser = record?.format === FORMAT && record.browser;
    if (browser) join(browser);
    const good = (record?.tasks && take(record, true)) || Boolean(browser);
    says.textContent = good ? `${file.name} is read.` : `${file.name} is no file that this page or softlookup progress --json wrote.`;
    show();
  }

  function start() {
    document.getElementById("way-controls").hidden = false;
    document.getElementById("way-apart").hidden = !apart();
    for (const one of chapters) {
      for (const li of one.pages) {
        const box = li.querySelector("input");
        box.disabled = false;
        box.addEventListener("change", () => {
          const marks = read("read");
          marks[li.dataset.page] = { total: 0, seen: [], ...marks[li.dataset.page], all: box.checked };
          if (!box.checked) marks[li.dataset.page].seen = [];
          write("read", marks);
          show();
        });
      }
    }
    const chooser = document.getElementById("way-file");
    chooser.addEventListener("change", async () => {
      if (chooser.files[0]) await open(chooser.files[0]);
      chooser.value = "";
    });
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      if (event.dataTransfer.files[0]) open(event.dataTransfer.files[0]);
    });
    document.getElementById("way-save").addEventListener("click", save);
    document.getElementById("way-forget").addEventListener("click", () => {
      if (!window.confirm("Forget which pages you have read, which questions you have answered, and what your notebooks said? Your answers in pages are deleted, too.")) return;
      for (const name of ["read", "quick", "in-page", "last", "next", "lines"]) write(name, {});
      write("tasks", { cleared: new Date().toISOString() });
      document.getElementById("way-says").textContent = "All is forgotten.";
      show();
    });
    carried();
    show();
    // What `softlookup progress` has written beside the book; a page on the disk may load a script, and nothing else.
    const beside = make("script", "", { src: "../my_progress.js" });
    beside.addEventListener("load", () => { if (take(window.softlookupProgress)) show(); });
    document.head.append(beside);
    // A chapter that is read in another tab shows here too.
    window.addEventListener("storage", show);
    window.addEventListener("pageshow", show);
  }

  start();
})();
