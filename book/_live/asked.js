// What the address asks for. Links lead to a part of the translator's figure: live.html?show=encoder&layer=3&head=2,
// ?show=cross, ?show=beam&beams=4&alpha=1, ?show=candidates&temperature=0.7; and ?text=... fills the box. Behind a #
// may stand the same with the chosen token (token), the row of the encoder's map (row) and the tour's step (tour): this is
// what "Copy link" copies, and it goes before what stands behind a ?. The writer's page takes text, layer and head alone.

const PARTS = { encoder: "opened", self: "opened", cross: "opened", candidates: "candidates", beam: "tree" };
const behind = location.hash.includes("=") ? location.hash.slice(1) : "";

/** A link to a sentence and a place of the model. */
export const linked = behind !== "";
export const asked = Object.fromEntries(new URLSearchParams(behind || location.search));
/** The part of the translator's figure that is asked for, or null. */
export const part = PARTS[asked.show] ?? null;
/** The number that is asked for by this name, or null. */
export const numberOf = (name) => (asked[name]?.trim() && Number.isFinite(Number(asked[name])) ? Number(asked[name]) : null);
/** The layer or head that is asked for, counted from 0; null for the mean or none. */
export const placeOf = (name, count) => (Number.isInteger(numberOf(name)) && numberOf(name) > 0 && numberOf(name) <= count ? numberOf(name) - 1 : null);

/** Let the address say what is shown: a link to it leads here. */
export function write(values) {
  const present = Object.entries(values).filter(([, value]) => value !== null);
  history.replaceState(null, "", `${location.pathname}#${new URLSearchParams(present)}`);
}
addEventListener("hashchange", () => location.hash.includes("text=") && location.reload());
