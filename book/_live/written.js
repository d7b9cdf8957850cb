// The writer's text: the reader's words, what was written, and both as tokens, shaded by the attention of the last one read.

import { LINE_END, textOf } from "./lines.js";
import { lastWeights, readBefore } from "./views.js";
import { meanOf } from "./words.js";

/** `goTo(step)` chooses a token that was written, `follow(position)` one of the beginning. */
export function written(run, goTo, follow) {
  const text = make("p", { class: "lvm-written", lang: "en", role: "group", "aria-label": "The text", tabindex: 0 });
  const tokens = make("div", { class: "lvm-tokens lvm-text", role: "group", "aria-label": "All tokens so far", tabindex: 0 });
  const said = make("p", { class: "lvm-said", "aria-live": "polite" });
  const top = make("div", {}, text, make("p", { class: "lvm-name" }, "Tokens, shaded by attention"), tokens, said);

  function draw(at, playing) {
    said.setAttribute("aria-live", playing ? "off" : "polite");
    const { source, steps } = run;
    const [step, own] = [steps[at], source.tokens.length];
    const all = [...readBefore(run, at), ...(step ? [step.token] : [])];
    const weights = meanOf(lastWeights(run, at), source.heads, null, null);
    const prompt = textOf(all.slice(0, own));
    const whole = textOf(all);
    text.replaceChildren(make("span", { class: "lvm-own" }, prompt), whole.slice(prompt.length));
    const focused = tokens.contains(document.activeElement) ? { ...document.activeElement.dataset } : null;
    tokens.replaceChildren(...all.flatMap((token, t) => {
      const style = `--w: ${weights[t] ?? 0}`;
      const one = t < own ? make("button", { type: "button", class: "lvm-token lvm-given", style, "data-token": t, onclick: () => follow(t) }, token)
        : make("button", { type: "button", class: "lvm-token", style, "data-step": t - own, "aria-pressed": String(t - own === at), onclick: () => goTo(t - own) }, token);
      return token === LINE_END ? [one, make("span", { class: "lvm-break" })] : [one];
    }));
    if (focused) tokens.querySelector(focused.token ? `[data-token='${focused.token}']` : `[data-step='${Math.min(focused.step, at)}']`)?.focus({ preventScroll: true });
    for (const one of [text, tokens]) one.scrollTop = one.scrollHeight;
    if (!step) {
      said.textContent = `The model has read ${own} tokens.`;
      return;
    }
    const most = weights.indexOf(Math.max(...weights));
    const { p } = step.candidates.find(({ id }) => id === step.id);
    said.replaceChildren(`Step ${at + 1}: after `, strong(step.fed), " the model wrote ", strong(step.token), ` (probability ${p < 0.005 ? "< 0.01" : show(p)}), with most attention on `,
      strong(all[most]), `, position ${most + 1} (${show(weights[most])}, the mean of all layers and heads).`);
  }
  return { top, draw };
}
