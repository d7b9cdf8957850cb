// Whether a reader wants the page to keep still.

export const still = matchMedia("(prefers-reduced-motion: reduce)");

/** How to scroll to a place. */
export const scrolling = () => (still.matches ? "instant" : "smooth");
