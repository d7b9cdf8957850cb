// Which sections of a chapter a reader has come to the end of, kept in the reader's own browser for the page "Your way".
(() => {
  const { read, write } = globalThis.softlookupKept;
  const page = location.pathname.split("/").pop();

  function seen(number, total) {
    const all = read("read");
    const own = all[page]?.total === total ? all[page] : { ...all[page], total, seen: [] };
    if (own.seen.includes(number)) return;
    write("read", { ...all, [page]: { ...own, seen: [...own.seen, number].sort((a, b) => a - b) } });
  }

  /** The last part of a section that takes up room. */
  const end = (section) => [...section.children].reverse().find((one) => one.offsetHeight > 0) ?? section;

  function watch() {
    const sections = [...document.querySelectorAll(".bd-article > section > section")];
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
    link.hash = `kept=${encodeURIComponent(JSON.stringify({ read: read("read"), quick: read("quick") }))}`;
  }, { capture: true });

  if (/^\d\d_.*\.html$/.test(page)) {
    window.addEventListener("load", async () => {
      await window.MathJax?.startup?.promise; // before that, sections are shorter than they will be
      watch();
    });
  }
})();
