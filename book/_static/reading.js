// Which sections of a chapter a reader has come to the end of, kept in the reader's own browser for the page "Your way",
// and marked at the sides: at the chapters, at the sections of this page, and how many tasks are right at each notebook and
// section. Tasks that are right have a tick in tables too.
(() => {
  const { read, write } = globalThis.softlookupKept;
  const page = location.pathname.split("/").pop();
  const CHAPTER = /\/book\/\d\d_[^/]*\.html$/; // a notebook's page has its chapter's name, in another folder
  const SECTIONS = ".bd-article > section > section";

  function seen(number, total) {
    const all = read("read");
    const own = all[page]?.total === total ? all[page] : { ...all[page], total, seen: [] };
    if (own.seen.includes(number)) return;
    write("read", { ...all, [page]: { ...own, seen: [...own.seen, number].sort((a, b) => a - b) } });
  }

  /** Put a sign with its meaning behind a link, or take it away. */
  function sign(link, text, words) {
    const old = link.querySelector(".read-mark");
    old?.previousSibling.remove(); // the space before it
    old?.remove();
    if (!text) return;
    const span = Object.assign(document.createElement("span"), { className: "read-mark", textContent: text, title: words });
    span.setAttribute("role", "img");
    span.setAttribute("aria-label", words);
    link.append("\u00a0", span); // in one line with the last word
  }

  const ticks = (right) => [right && `${right} ✓`, `${right} ${right === 1 ? "task" : "tasks"} right`];

  function mark() {
    const pages = read("read");
    const notebooks = Object.entries(read("tasks").record?.tasks ?? {}).filter(([, { state }]) => state === "pass");
    const here = Object.entries(read("in-page")).filter(([, { verdict }]) => verdict === "pass");
    const done = [...new Set([...notebooks, ...here].map(([id]) => id))];
    for (const link of document.querySelectorAll(".bd-sidebar-primary a.internal")) {
      const [, folder, name, number] = link.pathname.match(/\/(book|exercises)\/(?:.*\/)?((\d\d)_[^/]*\.html)$/) ?? [];
      if (folder === "exercises") {
        sign(link, ...ticks(done.filter((id) => id.startsWith(`${number}.`)).length));
      } else if (folder) {
        const { seen: sections = [], total = 0, all = total > 0 && sections.length >= total } = pages[name] ?? {};
        sign(link, all ? "●" : sections.length && "◐", all ? "read" : `${sections.length} of ${total} sections read`);
      }
    }
    const { seen: sections = [] } = pages[page] ?? {};
    if (!CHAPTER.test(location.pathname)) return;
    const isDone = (code) => done.includes(code.firstChild?.textContent);
    document.querySelectorAll(SECTIONS).forEach((section, number) => {
      const link = document.querySelector(`.page-toc a[href="#${CSS.escape(section.id)}"]`);
      const [text, words] = ticks([...section.querySelectorAll(".task code")].filter(isDone).length);
      const own = sections.includes(number) ? ["●", "read"] : [];
      if (link) sign(link, [own[0], text].filter(Boolean).join(" "), [own[1], text && words].filter(Boolean).join(", "));
    });
    for (const code of document.querySelectorAll(".bd-article td code")) sign(code, isDone(code) && "✓", "right");
  }

  /** The last part of a section that takes up room. */
  const end = (section) => [...section.children].reverse().find((one) => one.offsetHeight > 0) ?? section;

  function watch() {
    const sections = [...document.querySelectorAll(SECTIONS)];
    const watcher = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        watcher.unobserve(target);
        seen(ends.indexOf(target), ends.length);
      }
    });
    const ends = sections.map(end);
    ends.forEach((one) => watcher.observe(one));
  }

  // Some browsers give every page on the disk a memory of its own: there the link to "Your way" carries what this one has.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (location.protocol !== "file:" || !link?.pathname.endsWith("/your_way.html") || link.hash) return;
    const verdicts = Object.entries(read("in-page")).map(([id, { verdict }]) => [id, { verdict }]);
    const known = { read: read("read"), quick: read("quick"), "in-page": Object.fromEntries(verdicts) };
    link.hash = `kept=${encodeURIComponent(JSON.stringify(known))}`;
  }, { capture: true });

  /** At the end of a chapter: a switch for what stands at each section for those who use the library or the slides. */
  function linesSwitch() {
    const article = document.querySelector(".bd-article");
    if (!article?.querySelector(".section-line, details.slides-box")) return;
    const button = Object.assign(document.createElement("button"), { type: "button" });
    const line = Object.assign(document.createElement("p"), { className: "lines-switch" });
    const show = () => {
      const { shown = false } = read("lines");
      document.documentElement.toggleAttribute("data-lines", shown);
      button.textContent = shown ? "hide it" : "show it";
      button.setAttribute("aria-pressed", String(shown));
    };
    button.addEventListener("click", () => { write("lines", { shown: !read("lines").shown }); show(); });
    line.append("What the library and the slides have on each section: ", button);
    article.append(line);
    show();
  }

  /** The first page leads on: to the chapter that was opened last, and to the task after the last right one. */
  function goOn() {
    const doors = [["last", "Go on", 'a[href$="01_motivation.html"]'], ["next", "Next task", 'a[href*="?do="]']];
    for (const [name, words, at] of doors) {
      const { path, title } = read(name);
      const link = path && document.querySelector(`.doors ${at}`);
      if (link) Object.assign(link, { href: `../${path}`, textContent: `${words}: ${title}` });
    }
  }

  mark();
  goOn();
  linesSwitch();
  document.addEventListener("softlookup-kept", mark);
  window.addEventListener("storage", mark);
  window.addEventListener("pageshow", mark);
  if (CHAPTER.test(location.pathname)) {
    const title = document.title.split(" — ")[0];
    write("last", { path: `book/${page}`, title });
    window.addEventListener("load", async () => {
      await window.MathJax?.startup?.promise; // before that, sections are shorter than they will be
      watch();
    });
  }
})();
