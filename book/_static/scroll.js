// What is wider than the page scrolls inside itself. Those parts, and only those, get a place in the Tab order, and fade
// out on the side where there is more. And formulas keep their brackets and full stops on their own line. On a phone, the
// list of chapters opens at the present page; beside a wide page the theme sees to that.
(() => {
  const WIDE = ".bd-article :is(.math, .pst-scrollable-table-container, .cell_output, .widget-fallback, .slk-scroll, .slq-given, .lvm-place, .lvm-board, pre)";

  function fade(part) {
    part.classList.toggle("more-left", part.scrollLeft > 1);
    part.classList.toggle("more-right", part.scrollLeft + part.clientWidth < part.scrollWidth - 1);
  }

  function check() {
    for (const part of document.querySelectorAll(WIDE)) {
      const scrolls = part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX !== "visible";
      part.classList.toggle("scrolls", scrolls);
      if (scrolls) {
        part.tabIndex = 0;
        fade(part);
      } else {
        part.removeAttribute("tabindex");
        part.classList.remove("more-left", "more-right");
      }
    }
  }

  /** A line may break between a formula and the sign next to it; keep the two together. */
  function hold(formula) {
    const { previousSibling: before, nextSibling: after } = formula;
    const open = (before?.nodeType === Node.TEXT_NODE && before.data.match(/[([“‘]+$/)?.[0]) || "";
    const close = (after?.nodeType === Node.TEXT_NODE && after.data.match(/^[)\]”’.,;:?!]+/)?.[0]) || "";
    if (!open && !close) return;
    if (open) before.data = before.data.slice(0, -open.length);
    if (close) after.data = after.data.slice(close.length);
    const held = document.createElement("span");
    held.className = "held";
    formula.replaceWith(held);
    held.append(open, formula, close);
  }

  document.addEventListener("click", ({ target }) => {
    if (!target.closest?.(".primary-toggle")) return;
    const present = () => [...document.querySelectorAll(".bd-sidebar-primary .current > a")].at(-1);
    requestAnimationFrame(() => present()?.scrollIntoView({ block: "center", behavior: "instant" }));
  }, { capture: true }); // the theme lets the click go no further

  window.addEventListener("load", async () => {
    await window.MathJax?.startup?.promise;
    document.querySelectorAll(".bd-article span.math").forEach(hold);
    check();
    // A formula's font may come later than its boxes, and change its width without changing the page's height.
    document.fonts.ready.then(check);
    document.fonts.addEventListener("loadingdone", check);
    const article = document.querySelector(".bd-article") ?? document.body;
    // In the next frame: what changes sizes while they are being told of is an error in WebKit.
    new ResizeObserver(() => requestAnimationFrame(check)).observe(article);
    article.addEventListener("scroll", ({ target }) => target.classList?.contains("scrolls") && fade(target), true);
  });
})();
