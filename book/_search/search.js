// The search: loaded when somebody stands in its field, shows sections while one types.
import { Ranking } from "./ranking.js";
import css from "./search.css";
import { hits, snippet } from "./snippet.js";

const ROOT = document.documentElement.dataset.content_root;
/** Said of a result where its page's title does not say it. */
const KINDS = { reference: "Reference", instructors: "For instructors" };
const PAUSE_MS = 120;
/** What scores less than this part of the best one is not shown. */
const LEAST = 0.04;

let ranking;
let loaded = false;

/** The ranking, once the sections are there; a page on the disk may load a script and nothing else. */
function ready() {
  ranking ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${ROOT}_static/search/sections.js`;
    script.onload = () => resolve(new Ranking(globalThis.softlookupSections).filled());
    script.onerror = reject;
    document.head.append(script);
  });
  return ranking;
}

function element(name, className, ...inside) {
  const one = document.createElement(name);
  one.className = className;
  one.append(...inside);
  return one;
}

/** A text with its marked places as <mark>. */
function marked(text, places) {
  const parts = [];
  let at = 0;
  for (const [from, to] of places) {
    if (from >= at) {
      parts.push(text.slice(at, from), element("mark", "", text.slice(from, to)));
      at = to;
    }
  }
  return [...parts, text.slice(at)];
}

function shown({ section, terms }, found) {
  const [from, anchor, , title, text] = found.sections[section];
  const [address, page, kind] = found.pages[from];
  const wanted = new Set(terms);
  const link = element("a", "", ...marked(title, hits(title, wanted, found.names)));
  link.href = `${ROOT}${address}${anchor ? `#${anchor}` : ""}`;
  const [, number] = address.match(/\/([0-8]\d)_/) ?? []; // 90 and above are projects
  const where = [number && `Chapter ${Number(number)}`, title === page ? "" : page, KINDS[kind]].filter(Boolean).join(" · ");
  const cut = snippet(text, wanted, found.names);
  const quote = [cut.begins ? "" : "… ", ...marked(cut.text, cut.marks), cut.ends ? "" : " …"];
  return element("li", "", link, element("p", "sls-where", where), element("p", "sls-text", ...quote));
}

/** Results for one field, below it. */
class Results {
  constructor(form, place, most, more = "") {
    this.more = more;
    this.input = form.querySelector("input");
    this.most = most;
    this.status = element("p", "sls-status");
    this.status.setAttribute("role", "status");
    this.list = element("ol", "sls-list");
    place.classList.add("sls");
    place.replaceChildren(this.status, this.list);
    this.input.addEventListener("input", () => {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.answer(), PAUSE_MS);
    });
    for (const one of [this.input, this.list]) {
      one.addEventListener("keydown", (event) => this.#move(event));
    }
  }

  async answer() {
    const query = this.input.value.trim();
    if (!query) {
      this.#show("", []);
      return;
    }
    if (!loaded) {
      this.#show("The search is loading.", []);
    }
    try {
      const found = await ready();
      loaded = true;
      if (query === this.input.value.trim()) {
        const all = found.find(query);
        const good = all.filter(({ score }) => score > LEAST * all[0].score);
        this.#show(this.#told(query, good.length, found.replaced(query)), good.slice(0, this.most).map((one) => shown(one, found)));
      }
    } catch {
      this.#show("The search could not be loaded. Reload the page to try again.", []);
    }
  }

  #told(query, many, replaced) {
    const missing = replaced.map(([typed, nearest]) => `No section has “${typed}”; nearest: “${nearest}”. `).join("");
    const sections = many === 1 ? "1 section" : `${many} sections`;
    const best = many > this.most ? ` Here are the best ${this.most}${this.more}.` : "";
    if (many === 0) {
      return `Nothing found for “${query}”. Try fewer or other words.`;
    }
    return missing ? `${missing}${sections}.${best}` : `${sections} for “${query}”.${best}`;
  }

  #show(told, items) {
    this.status.textContent = told;
    this.list.replaceChildren(...items);
  }

  /** Arrow keys lead from the field through the results and back. */
  #move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const stops = [this.input, ...this.list.querySelectorAll("a")];
    const next = stops[stops.indexOf(document.activeElement) + step];
    if (step && next) {
      event.preventDefault();
      next.focus();
    }
  }
}

function start() {
  window.softlookupSearch = true;
  document.head.append(element("style", "", css));
  const page = document.querySelector("#search-results");
  if (page) {
    const results = new Results(page.parentElement.querySelector("form"), page, 30);
    results.input.value = new URLSearchParams(location.search).get("q") ?? "";
    results.answer();
    if (!results.input.value || matchMedia("(pointer: fine)").matches) {
      results.input.focus(); // where a keyboard on the screen would hide results, it stays away
    }
    return;
  }
  const dialog = document.querySelector("#pst-search-dialog");
  const place = dialog.appendChild(element("div", ""));
  const results = new Results(dialog.querySelector("form"), place, 12, "; Enter lists more");
  place.addEventListener("click", ({ target }) => target.closest("a") && dialog.close()); // it may be on this page
  results.answer();
}

if (!document.querySelector(".sls")) {
  start();
}
