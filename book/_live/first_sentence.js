// The first page's card: a recorded translation plays, and a reader's own sentence plays in its place.

import { root as base, script } from "../_python/scripts.js";
import { unpressed } from "./engine.js";
import { still } from "./motion.js";
import { sentence } from "./sentence.js";
import { joined } from "./words.js";

const TRY = "A girl reads a red book.";

function card(root) {
  const record = JSON.parse(root.querySelector("script").textContent);
  let hasPlayed = false;
  addEventListener("beforeprint", playRecord); // before the sentence hears of it, which then shows all
  const { board, caption, ...play } = sentence(record);

  const box = make("input", { id: nextId("fse"), type: "text", maxlength: 600, autocomplete: "off", spellcheck: "false", lang: "en", enterkeyhint: "go", value: TRY });
  const state = make("span", { role: "status" }, unpressed(SIZES.translator));
  const form = make("form", { class: "fse-form", onsubmit: submit }, make("label", { for: box.id }, "Your English sentence"), make("div", {}, box, make("button", { type: "submit", class: "fse-go" }, "Translate")),
    make("p", {}, state, " Trained on captions of photographs alone: no “I”, no questions."));
  const inside = make("a", {}, "Look inside the model ▸");
  const leadTo = (text) => { inside.href = `${base()}book/live.html?text=${encodeURIComponent(text)}`; };

  function playRecord() {
    if (hasPlayed) return;
    hasPlayed = true;
    play.begin(record.source);
    record.target.forEach((token, t) => play.wrote(token, record.weights[t]));
    play.end();
  }

  async function submit(event) {
    event.preventDefault();
    const text = box.value;
    if (!text.trim()) {
      state.textContent = "There is no word in the box. Type an English sentence, then press the button.";
      return;
    }
    hasPlayed = true;
    leadTo(text);
    try {
      await script("own_sentence.js", "live");
      globalThis.softlookupTranslate(text, record, play, (...words) => state.replaceChildren(...words));
    } catch (error) {
      state.textContent = error.message;
    }
  }

  box.onfocus = () => box.value === TRY && box.select(); // an example makes room for what is typed
  leadTo(joined(record.source));
  root.replaceChildren(form, board, caption, make("p", { class: "fse-more" }, inside));
  if (still.matches) playRecord();
  const watcher = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    watcher.disconnect();
    playRecord();
  }, { threshold: 0.4 });
  watcher.observe(board);
}

for (const root of document.querySelectorAll("[data-live=first]")) card(root);
