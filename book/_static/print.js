// On paper every page is light, and nothing is folded. Afterwards all is as it was.
(() => {
  const page = document.documentElement;
  let before = null;

  addEventListener("beforeprint", () => {
    if (before) return;
    const folded = [...document.querySelectorAll(".bd-article details:not([open])")];
    before = { theme: page.dataset.theme, folded };
    page.dataset.theme = "light";
    for (const part of folded) part.open = true;
  });
  addEventListener("afterprint", () => {
    if (!before) return;
    page.dataset.theme = before.theme;
    for (const part of before.folded) part.open = false;
    before = null;
  });
})();
