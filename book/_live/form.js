// The box that a reader writes into, its examples and settings, and the button that starts the model.

import { asked } from "./asked.js";

/**
 * `about` says what the model was trained on. A sentence of `examples` fills the box and presses the button, and so does
 * one of `beyond`, which the model cannot do. `act(text, tell)` does the work; what it returns, or the message of
 * what it throws, stands beside the button. Without `manyLines` the box is one sentence, and Enter presses the button.
 * Where the form is `flat`, box, settings and button stand in one line, and the examples are a list.
 */
export function form({ id, label, text, lang, lines = 2, manyLines = false, flat = false, about = "", examples, examplesName, beyond = [], settings = [], press, first, more = [], act }) {
  let busy = false;
  let waiting = false;
  const box = make("textarea", { id: `${id}-text`, rows: lines, maxlength: 600, spellcheck: "false", lang });
  box.value = asked.text ?? text;
  const go = make("button", { type: "submit", class: "lvm-go" }, press);
  const state = make("span", { class: "lvm-state", role: "status" }, first);
  const chips = (words, name, texts) => (texts.length ? [make("div", { class: "lvm-examples", role: "group", "aria-label": name }, `${words}: `,
    texts.map((one) => make("button", { type: "button", onclick: () => again(one) }, one.replaceAll("\n", " ↵ "))))] : []);
  const trained = about ? [make("p", { class: "lvm-trained" }, about)] : [];
  const place = flat ? make("form", { class: "lvm-form lvm-flat" }, make("label", { for: box.id, class: "lvm-hidden" }, label), make("div", { class: "lvm-bar" }, box, ...(manyLines ? [settings, go, more, menu()] : [menu(), settings, go, more])), make("div", { class: "lvm-under" }, trained, state))
    : make("form", { class: "lvm-form" }, make("label", { for: box.id }, label), box, trained,
      chips("Examples", examplesName, examples), chips("Beyond the model", "Sentences that it cannot do", beyond), make("div", { class: "lvm-bar" }, settings, go, more, state));

  /** The examples as a list, of which one that is chosen is done at once. */
  function menu() {
    const group = (name, texts) => (texts.length ? [make("optgroup", { label: name }, texts.map((one) => make("option", { value: one }, one.replaceAll("\n", " ↵ "))))] : []);
    const list = make("select", { class: "lvm-menu", "aria-label": examplesName, onchange: () => {
      const { value } = list;
      list.selectedIndex = 0;
      again(value);
    } }, make("option", { value: "" }, "Examples"), group("Examples", examples), group("Beyond the model", beyond));
    return list;
  }

  box.onfocus = () => box.value === text && box.select(); // an example makes room for what is typed
  place.onsubmit = (event) => {
    event.preventDefault();
    if (!busy) again();
  };
  /** Press the button, with another text or with that of the box. What is asked for during work is done after it, the last wish alone; the promise ends when all is done. */
  async function again(words = box.value) {
    box.value = words;
    waiting = true;
    if (busy) return;
    busy = true;
    go.setAttribute("aria-disabled", "true");
    while (waiting) {
      waiting = false;
      try {
        state.textContent = await act(box.value, (words) => { state.textContent = words; });
      } catch (error) {
        state.textContent = error.message;
      }
    }
    busy = false;
    go.setAttribute("aria-disabled", "false");
    const { top, bottom } = place.getBoundingClientRect();
    if (bottom > 0.7 * innerHeight && top < innerHeight) place.nextElementSibling.scrollIntoView({ block: "nearest" }); // below the screen
  }
  box.onkeydown = (event) => {
    if (event.key !== "Enter" || (manyLines ? !event.ctrlKey && !event.metaKey : event.shiftKey)) return;
    event.preventDefault();
    place.requestSubmit();
  };
  return { place, again };
}
