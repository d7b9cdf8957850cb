// Products, norms and softmax over typed arrays. Sums run in double precision; what is kept is float32.

/** x (rows, ins) times a matrix in int8 (outs, ins) with a scale for each output: (rows, outs). */
export function product(x, rows, { data, scales, outs, ins }, bias = null) {
  const y = new Float32Array(rows * outs);
  for (let first = 0; first < rows; first += 4) {
    const count = Math.min(4, rows - first);
    // Four rows at a time read the matrix once; missing ones repeat the first.
    const [x0, x1, x2, x3] = [0, 1, 2, 3].map((r) => (first + (r < count ? r : 0)) * ins);
    for (let out = 0; out < outs; out += 1) {
      const base = out * ins;
      let a = 0, b = 0, c = 0, d = 0;
      if (count === 1) {
        for (let i = 0; i < ins; i += 4) {
          a += x[x0 + i] * data[base + i];
          b += x[x0 + i + 1] * data[base + i + 1];
          c += x[x0 + i + 2] * data[base + i + 2];
          d += x[x0 + i + 3] * data[base + i + 3];
        }
        a += b + c + d;
      } else {
        for (let i = 0; i < ins; i += 1) {
          const w = data[base + i];
          a += x[x0 + i] * w;
          b += x[x1 + i] * w;
          c += x[x2 + i] * w;
          d += x[x3 + i] * w;
        }
      }
      const scale = scales[out], added = bias === null ? 0 : bias[out];
      y[first * outs + out] = a * scale + added;
      if (count > 1) y[(first + 1) * outs + out] = b * scale + added;
      if (count > 2) y[(first + 2) * outs + out] = c * scale + added;
      if (count > 3) y[(first + 3) * outs + out] = d * scale + added;
    }
  }
  return y;
}

/** Layer normalisation of each row. */
export function layerNorm(x, rows, gain, shift, eps) {
  const width = gain.length;
  const y = new Float32Array(x.length);
  for (let r = 0; r < rows; r += 1) {
    const row = x.subarray(r * width, (r + 1) * width);
    let [mean, variance] = [0, 0];
    for (const one of row) mean += one / width;
    for (const one of row) variance += (one - mean) ** 2 / width;
    const scale = 1 / Math.sqrt(variance + eps);
    for (let i = 0; i < width; i += 1) y[r * width + i] = (row[i] - mean) * scale * gain[i] + shift[i];
  }
  return y;
}

/** Each row divided by the root of its mean square, times a gain. */
export function rmsNorm(x, rows, gain, eps) {
  const width = gain.length;
  const y = new Float32Array(x.length);
  for (let r = 0; r < rows; r += 1) {
    const row = x.subarray(r * width, (r + 1) * width);
    let square = 0;
    for (const one of row) square += one ** 2 / width;
    const scale = 1 / Math.sqrt(square + eps);
    for (let i = 0; i < width; i += 1) y[r * width + i] = row[i] * scale * gain[i];
  }
  return y;
}

export const silu = (x) => x / (1 + Math.exp(-x));
export const add = (x, y) => x.map((one, i) => one + y[i]);
export const rowsOf = (x, width) => Array.from({ length: x.length / width }, (_, r) => x.subarray(r * width, (r + 1) * width));

/** Rows one below the other. */
export function stacked(rows) {
  const all = new Float32Array(rows.length * rows[0].length);
  rows.forEach((row, r) => all.set(row, r * row.length));
  return all;
}

/** Logarithms of the softmax; softmax itself is their exponential. */
export function logSoftmax(scores) {
  let [largest, sum] = [-Infinity, 0];
  for (const score of scores) if (score > largest) largest = score;
  for (const score of scores) sum += Math.exp(score - largest);
  const shift = largest + Math.log(sum);
  return Float64Array.from(scores, (score) => score - shift);
}

/**
 * One query (all heads side by side) over keys and values, a row for each position; every head has its own slice of them.
 * Where keys are narrower than the query, groups of query heads share a slice.
 */
export function attend(q, keys, values, heads) {
  const width = q.length / heads;
  const group = q.length / keys[0].length;
  const z = new Float32Array(q.length);
  const weights = new Float32Array(heads * keys.length);
  for (let head = 0; head < heads; head += 1) {
    const [from, at] = [head * width, Math.floor(head / group) * width];
    const scores = keys.map((k) => {
      let score = 0;
      for (let i = 0; i < width; i += 1) score += q[from + i] * k[at + i];
      return score / Math.sqrt(width);
    });
    const own = weights.subarray(head * keys.length, (head + 1) * keys.length);
    own.set(logSoftmax(scores).map(Math.exp));
    for (let i = 0; i < width; i += 1) {
      let mixed = 0;
      for (let s = 0; s < own.length; s += 1) mixed += own[s] * values[s][at + i];
      z[from + i] = mixed;
    }
  }
  return { z, weights };
}
