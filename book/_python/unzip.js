// Bytes out of gzip, in a worker of any browser.

// A Blob's own stream cannot be read in WebKit's workers when the page comes from the disk, so the bytes are written.
export function unzipped(bytes) {
  const stream = new DecompressionStream("gzip");
  const writer = stream.writable.getWriter();
  writer.write(bytes);
  writer.close();
  return new Response(stream.readable).arrayBuffer();
}
