// Runs in a page of the built book, in print layout: makes one piece of a larger document out of its article.
// Ids get the page's name in front, links between pages become links inside, and what is too wide is made to fit.
({ name, pages, height }) => {
  const article = document.querySelector(".bd-article");
  const own = (id) => `${name}--${id}`;

  /** "#ours" for an address in the book, the address itself for the world outside, null for files that paper cannot hold. */
  function address(link) {
    const url = new URL(link.href, location.href);
    const fragment = decodeURIComponent(url.hash.slice(1));
    const page = pages[url.protocol + "//" + decodeURIComponent(url.pathname)];
    if (page !== undefined) return `#${page}${fragment ? `--${fragment}` : ""}`;
    return url.protocol === "file:" ? null : link.getAttribute("href");
  }

  // Formulas: one text alternative each, as the author wrote it; the hidden MathML would be found twice in a PDF.
  for (const { typesetRoot, math } of window.MathJax?.startup?.document?.math ?? []) {
    typesetRoot?.querySelector("mjx-assistive-mml")?.remove();
    typesetRoot?.setAttribute("role", "img");
    typesetRoot?.setAttribute("aria-label", math.trim());
  }

  // A figure that can be followed to its end shows more there than at its beginning.
  for (const button of article.querySelectorAll(".slf button")) if (button.textContent === "to the end") button.click();

  // What is wider than the column is set smaller, all of it; a second round sees what the first has changed.
  const wide = "div.math, .pst-scrollable-table-container, .cell_output > div, .widget-area, .slq, dl.py > dt, figure > table";
  for (let round = 0; round < 3; round += 1) {
    for (const part of article.querySelectorAll(wide)) {
      const share = part.clientWidth / part.scrollWidth;
      if (part.clientWidth && share < 0.999) part.style.zoom = (Number(part.style.zoom) || 1) * share * 0.998;
    }
  }
  // And a figure that is higher than a sheet, so that it stands on one.
  for (const figure of article.querySelectorAll(".widget-area")) {
    const share = height / figure.getBoundingClientRect().height;
    if (share < 1) figure.style.zoom = (Number(figure.style.zoom) || 1) * share;
  }

  // What a reader's clicks have changed lives in properties, which a text of the page would not hold.
  for (const field of article.querySelectorAll("input")) {
    field.setAttribute("value", field.value);
    field.toggleAttribute("checked", field.checked);
  }
  for (const option of article.querySelectorAll("option")) option.toggleAttribute("selected", option.selected);
  for (const canvas of article.querySelectorAll("canvas")) {
    const picture = Object.assign(new Image(), { src: canvas.toDataURL(), alt: canvas.getAttribute("aria-label") ?? "" });
    const { position, inset } = getComputedStyle(canvas); // a picture may lie under other things
    picture.style.cssText = `position: ${position}; inset: ${inset}; width: ${canvas.clientWidth}px; height: ${canvas.clientHeight}px`;
    canvas.replaceWith(picture);
  }

  article.querySelector("h1 > .chapter-number")?.remove(); // the volume writes the chapter's number above its title
  const headings = [...article.querySelectorAll("section > :is(h1, h2)")].map((heading) => ({
    level: Number(heading.tagName[1]),
    id: own(heading.closest("section").id),
    html: heading.innerHTML.replace(/<a class="headerlink".*?<\/a>/s, ""),
    text: heading.textContent.replace(/#$/, "").trim(),
  }));
  article.querySelectorAll("script, template, .slg-tip, .headerlink, .toctree-wrapper, .copybtn, details.hide, .slq-progress").forEach((part) => part.remove());
  for (const node of article.querySelectorAll("*")) {
    for (const { name: key, value } of [...node.attributes]) {
      if (key === "id") node.id = own(value);
      else if (["for", "headers", "aria-labelledby", "aria-describedby", "aria-controls"].includes(key)) {
        node.setAttribute(key, value.split(/\s+/).filter(Boolean).map(own).join(" "));
      } else if (value.includes("url(#")) node.setAttribute(key, value.replaceAll("url(#", `url(#${name}--`));
    }
    if (node.localName === "a") {
      const target = address(node);
      if (target === null) node.removeAttribute("href");
      else node.setAttribute("href", target);
    } else if (node.localName === "use") node.setAttribute("href", `#${own(node.getAttribute("href").slice(1))}`);
    else if (node.localName === "img") node.setAttribute("src", node.src); // the whole address
  }

  const rules = [];
  for (const sheet of document.styleSheets) {
    if (sheet.ownerNode?.localName === "style" && !article.contains(sheet.ownerNode)) {
      for (const rule of sheet.cssRules) rules.push(rule.cssText);
    }
  }
  const sheets = [...document.querySelectorAll("link[rel~='stylesheet']")].map(({ href, media }) => ({ href, media }));
  return { headings, html: article.innerHTML, rules, sheets };
}
