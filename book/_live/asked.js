// What the address asks for. Links lead to a part of the translator's figure: live.html?show=encoder&layer=3&head=2,
// ?show=cross, ?show=beam&beams=4&alpha=1, ?show=candidates&temperature=0.7; and ?text=... fills the box. The writer's
// page takes text, layer and head alone.

const PARTS = { encoder: "maps", self: "maps", cross: "maps", candidates: "candidates", beam: "tree" };

export const asked = Object.fromEntries(new URLSearchParams(location.search));
/** The part of the translator's figure that is asked for, or null. */
export const part = PARTS[asked.show] ?? null;
/** The number that is asked for by this name, or null. */
export const numberOf = (name) => (asked[name]?.trim() && Number.isFinite(Number(asked[name])) ? Number(asked[name]) : null);
