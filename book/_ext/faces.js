// The letters of a page, before it is first drawn: a face whose bytes are at hand is ready at once, one from a file only later, when
// lines break anew. Works from the disk, too, where a page cannot ask for files early. Without scripts, fonts.css loads the files.
for (const [family, data, how] of globalThis.softlookupFaces) {
  document.fonts.add(new FontFace(family, Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)), how));
}
