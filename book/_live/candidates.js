// The likeliest tokens of a step, as bars.

const ROUNDING = 1e-9; // a sum of probabilities misses 1 by less

/** `drawnName` heads the column of what the token was drawn from. */
export function candidates(run, drawnName = "at temperature τ") {
  const list = make("tbody", {});
  const head = make("tr", {});
  const table = make("table", { class: "slf-table lvm-candidates" }, make("caption", {}, "Candidates for this token"), make("thead", {}, head), list);
  const about = make("p", { class: "lvm-about" });
  const place = make("section", { class: "lvm-part", "aria-label": "Candidates" }, table, about);

  function draw(at) {
    const step = run.steps[at];
    place.hidden = !step;
    if (!step) return;
    const sampled = step.candidates[0].drawn !== null;
    const percent = (p) => (p === 0 ? "cut" : p < 0.0005 ? "< 0.1 %" : `${(100 * p).toFixed(1)} %`);
    head.replaceChildren(...["token", "probability", "", ...(sampled ? [drawnName] : [])].map((name) => make(name ? "th" : "td", name ? { scope: "col" } : {}, name)));
    const row = ({ id, token, p, drawn }) => make("tr", id === step.id ? { class: "lvm-chosen" } : {},
      make("th", { scope: "row" }, token, id === step.id ? " ✓" : ""), make("td", { class: "lvm-number" }, percent(p)),
      make("td", { class: "lvm-track" }, make("div", { class: "lvm-fill", style: `inline-size: ${100 * (drawn ?? p)}%` })), ...(sampled ? [make("td", { class: "lvm-number" }, percent(drawn))] : []));
    const rest = (name) => {
      const left = 1 - step.candidates.reduce((sum, one) => sum + one[name], 0);
      return left > ROUNDING ? left : 0;
    };
    list.replaceChildren(...step.candidates.map(row), row({ id: null, token: "all others", p: rest("p"), drawn: sampled ? rest("drawn") : null }));
    const { kept } = step;
    about.hidden = !kept;
    if (kept) about.textContent = `${kept.count === 1 ? "1 token is" : `${whole(kept.count)} tokens are`} kept of ${whole(kept.of)}, with ${percent(kept.mass)} of the probability.`;
  }
  return { place, draw };
}
