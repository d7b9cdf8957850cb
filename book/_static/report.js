// "Report a mistake": the link gets the section that is read, and the words that are marked; nothing is sent anywhere.
// On the page on mistakes the same words stand in a field, ready to be copied.
(() => {
  const LONGEST = 300;
  const HEADINGS = ".bd-article section > :is(h1, h2, h3, h4)";
  let marked = null; // a click takes the marks away, so the last ones are remembered

  const plain = (heading) => heading.textContent.replace(/#$/, "").replace(/\s+/g, " ").trim();

  /** The last heading that begins above a line of the window. */
  function headingAbove(line) {
    const all = [...document.querySelectorAll(HEADINGS)];
    return all.filter((one) => one.getBoundingClientRect().top <= line).at(-1) ?? all[0];
  }

  function told(link) {
    const heading = marked?.heading ?? headingAbove(window.innerHeight / 3);
    const section = heading && heading.tagName !== "H1" ? plain(heading) : "";
    const { page, path, build } = link.dataset;
    // A section's own label stays when its heading is put in other words.
    const label = section ? (heading.parentElement.querySelector(":scope > span[id]") ?? heading.parentElement).id : "";
    return { page, section, path: label ? `${path}#${label}` : path, build, words: marked?.words ?? "" };
  }

  function text({ page, section, path, build, words }) {
    const lines = [`Page: ${page}`, ...(section ? [`Section: ${section}`] : []), `File: ${path}`, `Build: ${build}`];
    return `${lines.join("\n")}\n\nWhat it says:\n${words ? `${words}\n` : ""}\nWhat it should say, and why:\n`;
  }

  function aim(link) {
    const found = told(link);
    if (link.dataset.address) {
      const title = `Mistake: ${found.page}${found.section ? ` › ${found.section}` : ""}`;
      link.href = link.dataset.address
        .replace("{title}", () => encodeURIComponent(title))
        .replace("{body}", () => encodeURIComponent(text(found)));
    } else if (!document.querySelector(".report-text")) {
      link.search = new URLSearchParams(found).toString();
    }
  }

  document.addEventListener("selectionchange", () => {
    const selection = document.getSelection();
    const words = selection.toString().replace(/\s+/g, " ").trim();
    const range = words && selection.rangeCount ? selection.getRangeAt(0) : null;
    if (!range || !document.querySelector(".bd-article")?.contains(range.startContainer)) return;
    const heading = headingAbove(range.getBoundingClientRect().top + 1);
    marked = { words: words.length > LONGEST ? `${words.slice(0, LONGEST)}…` : words, heading };
  });

  document.addEventListener("DOMContentLoaded", () => {
    const links = [...document.querySelectorAll(".report-link")];
    for (const link of links) {
      for (const event of ["pointerdown", "focus", "click"]) link.addEventListener(event, () => aim(link));
    }
    const field = document.querySelector(".report-text");
    if (!field || !links.length) return;
    const asked = Object.fromEntries(new URLSearchParams(location.search));
    field.value = text({ page: "", section: "", path: "", words: "", build: links[0].dataset.build, ...asked });
    field.rows = field.value.split("\n").length + 1;
    const button = document.querySelector(".report-copy");
    button.hidden = false;
    button.addEventListener("click", async () => {
      field.select();
      let done = false;
      try {
        await navigator.clipboard.writeText(field.value);
        done = true;
      } catch {
        done = document.execCommand("copy"); // a page from the disk may have no clipboard of its own
      }
      document.querySelector(".report-done").textContent = done ? "Copied." : "Press Ctrl+C to copy.";
    });
  });
})();
