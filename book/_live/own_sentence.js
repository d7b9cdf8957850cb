// A reader's own sentence in the first page's card; loaded when the button is pressed, for the page is light.

import { translatorEngine } from "./engine.js";
import { crossOf, joined, warned } from "./words.js";

const model = translatorEngine();
let presses = 0;

/** A text as tokens, about as the model will cut it: until that is loaded. */
const guessed = (text) => (text.trim().match(/\s*([\p{L}\p{N}-]+['’]?|[^\s\p{L}\p{N}])/gu) ?? []).map((one, n) => (n && one === one.trim() ? one : `▁${one.trim()}`));

/** Translate a text with the weights of a layer and head, from 1. What is asked for later makes what came before fall silent. */
globalThis.softlookupTranslate = async (text, { layer, head }, { begin, read, wrote, end }, tell) => {
  const press = (presses += 1);
  const isLast = () => press === presses;
  const saying = (...words) => isLast() && tell(...words);
  begin([...guessed(text), "(end)"]);
  const written = [];
  let heads = 0;
  try {
    await model.ready(saying, "Translating …");
    if (!isLast()) return;
    const began = performance.now();
    await model.ask({ translate: { text, how: {} } }, ({ read: source, wrote: step }) => {
      if (!isLast()) return;
      if (source) {
        heads = source.heads;
        read(source.tokens, warned(source, text));
      } else {
        written.push(step.token);
        wrote(step.token, crossOf(step, heads, layer - 1, head - 1));
      }
    });
    saying(make("span", { class: "fse-hidden", lang: "fr" }, joined(written), " "), `Translated in this page in ${((performance.now() - began) / 1000).toFixed(1)} s.`);
  } catch (error) {
    saying(error.message);
  }
  if (isLast()) end();
};
