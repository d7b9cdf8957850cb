// The seam's inner side: what every Python in a worker has in common. In: {begin: {…, book}, number} once, the parts of
// the files that it needs, {file, part, parts, text}, and then {request, number}. Out: {number, result}, or {number, failed} and broken: true where Python cannot go on. Requests
// are those of in_page.session.

import { unzipped } from "./unzip.js";

// A Python that cannot go on: the next request starts another.
export class Broken extends Error {}

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const signs = atob(base64);
  const bytes = new Uint8Array(signs.length);
  for (let at = 0; at < signs.length; at += 1) bytes[at] = signs.charCodeAt(at);
  return bytes;
}

const unpacked = (base64) => unzipped(bytesOf(base64));

const files = new Map(); // the parts of each, and how to hand it over once they are complete
function entry(name) {
  if (!files.has(name)) {
    const one = { parts: [] };
    one.whole = new Promise((done, failed) => Object.assign(one, { done, failed }));
    files.set(name, one);
  }
  return files.get(name);
}

// A file, as soon as its parts have come.
export const file = (name) => entry(name).whole;

async function take({ file: name, part, parts, text }) {
  const one = entry(name);
  one.parts[part] = unpacked(text);
  if (Object.keys(one.parts).length < parts) return;
  try {
    const buffers = await Promise.all(one.parts);
    const bytes = new Uint8Array(buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0));
    let at = 0;
    for (const buffer of buffers) {
      bytes.set(new Uint8Array(buffer), at);
      at += buffer.byteLength;
    }
    one.done(bytes);
  } catch (error) {
    one.failed(error);
  }
}

// Serve the page with a Python: `begin` starts it and gives the function that hands a request over, both as JSON, and
// the one that writes a file into Python's folder /tmp.
export function serve(begin) {
  let python = null;

  async function ask({ file: packed, ...request }) {
    if (packed) {
      request.path = `/tmp/${request.do}`; // as bytes: Python would take longer to read it in a request
      python.write(request.do, new Uint8Array(await unpacked(packed)));
    }
    const { result, failed } = JSON.parse(python.answer(JSON.stringify(request)));
    if (failed) throw new Error(failed);
    return result;
  }

  async function begun({ book, ...packed }) {
    python = await begin(packed);
    return ask({ do: "begin", book });
  }

  onmessage = async ({ data }) => {
    if (data.file) {
      take(data);
      return;
    }
    try {
      const result = data.begin ? await begun(data.begin) : await ask(data.request);
      postMessage({ number: data.number, result });
    } catch (error) {
      const broken = error instanceof Broken || Boolean(data.begin);
      postMessage({ number: data.number, failed: String(error.message || error), broken });
    }
  };
}
