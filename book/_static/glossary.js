// A word of the glossary says what it means where it stands: on pointing, on focus, and on a first tap; a second tap follows it.
(() => {
  const WORD = ".bd-article a:has(> .std-term)";
  const SHOW_MS = 150; // a pointer that only passes by asks nothing
  const HIDE_MS = 250; // time to go over from the word to what it says
  const GAP_PX = 6;

  const known = document.getElementById("glossary-words")?.content;
  if (!known) return;
  const tip = Object.assign(document.createElement("div"), { id: "glossary-tip", className: "slg-tip", hidden: true });
  tip.setAttribute("role", "tooltip");
  let word = null;
  let timer = 0;
  let touched = false;
  let place = null; // which line of a word that runs over two lines was pointed at

  /** Above the word where there is no room beneath, and never beyond the window's edges. */
  function put() {
    const lines = [...word.getClientRects()];
    const line = lines.find(({ top, bottom }) => place !== null && place >= top && place <= bottom) ?? lines[0];
    const { clientWidth: width, clientHeight: height } = document.documentElement;
    const beneath = line.bottom + GAP_PX + tip.offsetHeight <= height || line.top < tip.offsetHeight + GAP_PX;
    tip.style.left = `${Math.max(8, Math.min(line.left, width - tip.offsetWidth - 8))}px`;
    tip.style.top = `${beneath ? line.bottom + GAP_PX : line.top - GAP_PX - tip.offsetHeight}px`;
  }

  function hide() {
    clearTimeout(timer);
    if (!word) return;
    word.removeAttribute("aria-describedby");
    word = null;
    tip.hidden = true;
  }

  function show(asked) {
    clearTimeout(timer);
    if (asked === word) return;
    hide();
    const said = known.querySelector(`[data-term="${CSS.escape(asked.hash.slice(1))}"]`);
    if (!said) return;
    word = asked;
    tip.replaceChildren(...said.cloneNode(true).childNodes);
    tip.hidden = false;
    word.setAttribute("aria-describedby", tip.id);
    put();
    if (tip.querySelector(".math")) window.MathJax?.typesetPromise?.([tip]).then(() => word && put());
  }

  const later = (act, wait) => {
    clearTimeout(timer);
    timer = setTimeout(act, wait);
  };
  const asked = ({ target }) => target.closest?.(WORD);

  document.querySelector(".bd-article").append(tip);
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    place = event.clientY;
    if (asked(event)) later(() => show(asked(event)), SHOW_MS);
    else if (tip.contains(event.target)) clearTimeout(timer);
    else if (word && word !== document.activeElement) later(hide, HIDE_MS);
    else if (!word) clearTimeout(timer);
  });
  document.addEventListener("pointerdown", (event) => {
    touched = event.pointerType === "touch";
    if (!asked(event) && !tip.contains(event.target)) hide();
  });
  document.addEventListener("click", (event) => {
    const link = asked(event);
    if (!link || !touched || link === word) return;
    event.preventDefault();
    place = event.clientY;
    show(link);
  });
  document.addEventListener("focusin", (event) => {
    place = null;
    if (asked(event)?.matches(":focus-visible")) show(asked(event));
    else if (!tip.contains(event.target)) hide();
  });
  document.addEventListener("keydown", ({ key }) => key === "Escape" && hide());
  for (const moved of ["scroll", "resize"]) addEventListener(moved, () => word && put(), { passive: true });
})();
