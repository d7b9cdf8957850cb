// An attention map as a small picture: one pixel for each weight.

import { meanOf } from "./words.js";

const BEND = 0.7; // below 1: small weights are seen, too

/**
 * Draw the map of a layer and head, or the mean of all where the layer is null. `all` has the weights of each row by
 * layer, all heads side by side; the row `marked` has the second of the colours.
 */
export function thumbnail({ canvas, layer, head }, { columns, marked, all }, heads, [key, query]) {
  const [width, height] = [columns.length || 1, all.length || 1];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const pixels = new ImageData(width, height);
  all.forEach((weights, t) => {
    const colour = t === marked ? query : key;
    const row = layer === null ? meanOf(weights, heads, null, null) : weights[layer];
    const keys = layer === null ? row.length : row.length / heads;
    const from = layer === null ? 0 : head * keys;
    for (let s = 0; s < keys; s += 1) {
      const place = 4 * (t * width + s);
      for (let i = 0; i < 3; i += 1) pixels.data[place + i] = colour[i];
      pixels.data[place + 3] = 255 * row[from + s] ** BEND;
    }
  });
  canvas.getContext("2d").putImageData(pixels, 0, 0);
}
