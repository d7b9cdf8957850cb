// A dictionary that goes soft. Python sends the weights of every query at every temperature; this file shows one of them.

function render({ model, el }) {
  const id = nextId("fst");
  const { keys, values, taus, asked } = model.get("record");
  const chosen = () => asked[model.get("asked")];

  const buttons = asked.map((one, at) => make("button", {
    type: "button", class: "fst-word", onclick: () => { model.set("asked", at); model.save_changes(); },
  }, one.name));

  const bars = keys.map(() => make("span", { class: "fst-bar" }));
  const numbers = keys.map(() => make("span", { class: "fst-number" }));
  const rows = keys.map((key, at) => make("tr", {},
    make("th", { scope: "row" }, make("span", { class: "fst-pill fst-key" }, key)),
    make("td", { class: "fst-weight" }, make("span", { class: "fst-track", "aria-hidden": "true" }, bars[at]), numbers[at]),
    make("td", {}, make("span", { class: "fst-pill fst-value" }, values[at]))));
  const table = make("table", {},
    make("caption", { class: "fst-hidden" }, "Each key, its weight, and its value"),
    make("thead", { class: "fst-hidden" }, make("tr", {}, ...["key", "weight", "value"].map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, rows));

  const slider = make("input", {
    type: "range", id: `${id}-tau`, min: 0, max: taus.length - 1, step: 1,
    oninput: () => { model.set("place", Number(slider.value)); model.save_changes(); },
  });
  const hard = make("p", { class: "fst-hard" });
  const soft = make("p", { class: "fst-soft", role: "status" });

  const root = make("div", { class: "slf fst", role: "group", "aria-label": "A lookup that goes from hard to soft" },
    make("div", { class: "fst-ask", role: "group", "aria-labelledby": `${id}-ask` }, make("span", { id: `${id}-ask` }, "Ask for"), buttons),
    table,
    make("div", { class: "fst-turn" },
      make("label", { for: `${id}-tau` }, "Temperature"),
      make("span", { class: "fst-end", "aria-hidden": "true" }, "hard"), slider, make("span", { class: "fst-end", "aria-hidden": "true" }, "soft")),
    make("div", { class: "fst-answers" }, hard, soft));

  function draw() {
    const [one, place] = [chosen(), model.get("place")];
    const weights = one.weights[place];
    const most = Math.max(...weights);
    buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(at === model.get("asked"))));
    rows.forEach((row, at) => {
      bars[at].style.inlineSize = `${100 * weights[at]}%`;
      numbers[at].textContent = show(weights[at]);
      row.classList.toggle("fst-most", weights[at] === most);
    });
    slider.value = place;
    slider.setAttribute("aria-valuetext", place ? String(taus[place]) : "0, the hard lookup: the best key takes all");
    hard.replaceChildren(...(one.found
      ? ["A dictionary has ", strong(one.name), ": ", strong(one.found), "."]
      : ["A dictionary has no ", strong(one.name), ": ", make("code", {}, "KeyError"), ", and no answer."]));
    soft.replaceChildren(place ? `A soft lookup, at temperature ${taus[place]}, gives ` : "The key that fits best gives ", strong(one.answers[place]), ".");
    root.dataset.tau = taus[place];
    root.dataset.asked = one.name;
  }

  draw();
  el.replaceChildren(root);
  return follow(model, ["asked", "place"], draw);
}

export default { render };
