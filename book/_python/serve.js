// The seam's inner side: what every Python in a worker has in common. In: {begin: {…, book}, number} once, then
// {request, number}. Out: {number, result}, or {number, failed} and broken: true where Python cannot go on. Requests
// are those of in_page.session.

import { unzipped } from "./unzip.js";

// A Python that cannot go on: the next request starts another.
export class Broken extends Error {}

export const unpacked = (base64) =>
  unzipped(Uint8Array.fromBase64 ? Uint8Array.fromBase64(base64) : Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0)));

// Serve the page with a Python: `begin` starts it and gives the function that hands a request over, both as JSON.
export function serve(begin) {
  let answer = null;

  function ask(request) {
    const { result, failed } = JSON.parse(answer(JSON.stringify(request)));
    if (failed) throw new Error(failed);
    return result;
  }

  async function begun({ book, ...packed }) {
    answer = await begin(packed);
    return ask({ do: "begin", book });
  }

  onmessage = async ({ data }) => {
    try {
      const result = data.begin ? await begun(data.begin) : ask(data.request);
      postMessage({ number: data.number, result });
    } catch (error) {
      const broken = error instanceof Broken || Boolean(data.begin);
      postMessage({ number: data.number, failed: String(error.message || error), broken });
    }
  };
}
