// From the text that a script carries to matrices and vectors: what softlookup.live.packing wrote.

/** Seven bits of each character, joined to bytes. */
function bytesOf(text) {
  const bytes = new Uint8Array(Math.floor((text.length * 7) / 8));
  let [held, bits, place] = [0, 0, 0];
  for (let i = 0; i < text.length && place < bytes.length; i += 1) {
    held = (held << 7) | (text.charCodeAt(i) & 127);
    bits += 7;
    if (bits >= 8) {
      bits -= 8;
      bytes[place] = held >> bits;
      place += 1;
      held &= (1 << bits) - 1;
    }
  }
  return bytes;
}

/** The tensors by name: {data, scales, outs, ins} for a matrix, a Float32Array for a vector. */
export async function unpack({ matrices, vectors }, text, unzipped) {
  const buffer = await unzipped(bytesOf(text));
  const tensors = new Map();
  let place = 0;
  for (const [name, outs, ins] of matrices) {
    tensors.set(name, { data: new Int8Array(buffer, place, outs * ins), outs, ins });
    place += outs * ins;
  }
  place = Math.ceil(place / 4) * 4;
  const floats = (count) => {
    const found = new Float32Array(buffer, place, count);
    place += 4 * count;
    return found;
  };
  for (const [name, outs] of matrices) tensors.get(name).scales = floats(outs);
  for (const [name, count] of vectors) tensors.set(name, floats(count));
  return tensors;
}
