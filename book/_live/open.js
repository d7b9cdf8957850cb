// A link to the live model's page that opens the model where it stands: script and styles are loaded when a reader asks.

import { root, script } from "../_python/scripts.js";

for (const link of document.querySelectorAll("a.lvm-open")) {
  link.addEventListener("click", async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const place = link.parentElement.nextElementSibling;
    const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: `${root()}_static/live/live.css` });
    const styled = new Promise((done) => { style.onload = done; });
    document.head.append(style);
    await Promise.all([styled, script("page.js", "live")]);
    place.hidden = false;
    link.parentElement.remove();
    place.querySelector("textarea").focus({ preventScroll: true });
    place.scrollIntoView({ block: "nearest" });
  });
}
