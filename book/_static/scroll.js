// What is wider than the page scrolls inside itself; give those parts, and only those, a place in the Tab order.
(() => {
  const WIDE = ".bd-article :is(.math, .pst-scrollable-table-container, .cell_output, .widget-fallback)";
  const check = () => {
    for (const part of document.querySelectorAll(WIDE)) {
      const scrolls = part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX !== "visible";
      if (scrolls) part.tabIndex = 0;
      else part.removeAttribute("tabindex");
    }
  };
  window.addEventListener("load", async () => {
    await window.MathJax?.startup?.promise;
    check();
    new ResizeObserver(check).observe(document.querySelector(".bd-article") ?? document.body);
  });
})();
