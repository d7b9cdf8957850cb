// What the book keeps in its reader's browser: under the book's own address, so that two books at one host stay apart.
globalThis.softlookupKept = (() => {
  const home = new URL(document.documentElement.dataset.content_root || "./", document.baseURI).pathname;
  const key = (name) => `softlookup-${name} ${home}`;
  const held = {}; // what a browser that keeps nothing still knows until the page is left

  function read(name) {
    try { return JSON.parse(localStorage.getItem(key(name))) ?? {}; } catch { return held[name] ?? {}; }
  }
  function write(name, value) {
    held[name] = value;
    try { localStorage.setItem(key(name), JSON.stringify(value)); } catch { /* known until the page is left */ }
    document.dispatchEvent(new Event("softlookup-kept"));
  }

  // Earlier versions kept one record for all books of a host: the first book that is opened takes it over.
  function takeOver(name) {
    const before = `softlookup-${name}`;
    const record = localStorage.getItem(before);
    if (record === null) return;
    if (localStorage.getItem(key(name)) === null) localStorage.setItem(key(name), record);
    localStorage.removeItem(before);
  }
  try { ["in-page", "quick", "read", "tasks"].forEach(takeOver); } catch { /* nothing was kept */ }

  return { key, read, write };
})();
