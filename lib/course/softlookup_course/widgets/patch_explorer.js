// A picture cut into patches. Every number comes from softlookup_course.widgets.patch_explorer.describe; here they are shown.

const ABOUT = {
  lost: "By how much the probability of the answer falls when a patch is replaced by that of the mean picture (occlusion). This is the result of an experiment, not of the attention weights.",
  rollout: "Attention rollout: how much of the class token comes from each patch through all layers, if half of each layer comes from attention and half from the residual stream.",
  mean: "The attention weights of the class token in this layer, averaged over the heads.",
  head: "The attention weights of the class token in this head.",
};

function render({ model, el }) {
  const id = nextId("pat");
  const pictures = model.get("pictures");
  const picture = () => pictures[model.get("chosen")];
  const view = () => picture().views[model.get("view")];
  let asked = 0;

  const choose = (trait, node) => () => { model.set(trait, node.selectedIndex); model.save_changes(); };
  const pictureChooser = make("select", { id: `${id}-picture` }, pictures.map((one) => make("option", {}, one.title)));
  pictureChooser.addEventListener("change", choose("chosen", pictureChooser));
  const viewChooser = make("select", { id: `${id}-view` }, picture().views.map((one) => make("option", {}, one.title)));
  viewChooser.addEventListener("change", choose("view", viewChooser));

  const about = make("p", { class: "pat-about" });
  const words = make("p", { class: "pat-words", "aria-live": "polite", "aria-atomic": "true" });
  const board = make("div", { class: "pat-board" });

  /** A patch, its pixels as squares of ink. */
  function inked(pixels) {
    const side = Math.sqrt(pixels.length);
    return make("svg:svg", { viewBox: `0 0 ${side} ${side}`, class: "pat-ink", "aria-hidden": "true" },
      pixels.map((ink, i) => make("svg:rect", { x: i % side, y: Math.floor(i / side), width: 1.02, height: 1.02, "fill-opacity": ink / 16 })));
  }

  function table(grid, caption, cell) {
    const { down, across } = picture();
    const rows = Array.from({ length: down }, (_, i) => make("tr", {}, Array.from({ length: across }, (_, j) => make("td", {
      class: "pat-cell", "data-grid": grid, "data-row": i, "data-column": j, tabindex: i === 0 && j === 0 ? 0 : -1,
    }, cell(i * across + j)))));
    return make("table", { class: `pat-table pat-${grid}` }, make("caption", {}, caption), make("tbody", {}, rows));
  }

  function says(n) {
    const { patches, across, views } = picture();
    const value = view().values[n];
    const row = Math.floor(n / across);
    const shown = {
      lost: `Hiding it lowers the probability by ${show(value)}.`,
      rollout: `${show(value)} of the class token comes from it.`,
      mean: `It gets the attention weight ${show(value)}.`,
      head: `It gets the attention weight ${show(value)}.`,
    }[view().kind];
    const beside = view().kind === "lost" ? "" : ` Hiding it lowers the probability by ${show(views[0].values[n])}.`;
    return [strong(`Patch ${n}`), ` (row ${row}, column ${n % across}), ink ${patches[n].join(" ")}. ${shown}${beside}`];
  }

  function explain(td) {
    asked = Number(td.dataset.row) * picture().across + Number(td.dataset.column);
    words.replaceChildren(...says(asked));
    const place = [Number(td.dataset.row), Number(td.dataset.column)];
    markCells(board, [["picture", ...place], ["map", ...place]], td, "pat");
  }

  function draw() {
    const { best, sure, patches } = picture();
    const { values, own, kind, title } = view();
    pictureChooser.selectedIndex = model.get("chosen");
    viewChooser.selectedIndex = model.get("view");
    const most = Math.max(...values.map(Math.abs), 1e-9);
    board.replaceChildren(
      table("picture", "picture", (n) => [inked(patches[n])]),
      table("map", title, (n) => [show(values[n])]));
    for (const td of board.querySelectorAll('td[data-grid="map"]')) {
      const value = values[Number(td.dataset.row) * picture().across + Number(td.dataset.column)];
      td.dataset.value = value;
      td.style.setProperty("--pat-share", Math.abs(value) / most);
      td.classList.toggle("pat-less", value < 0);
    }
    const largest = values.indexOf(Math.max(...values));
    about.replaceChildren(ABOUT[kind], " ", strong(`Read as ${best}`), `, with probability ${show(sure)}.`,
      own === null ? "" : ` The weight of the class token on itself is ${show(own)}.`,
      ` The largest number is that of patch ${largest}.`);
    words.replaceChildren(...says(asked < values.length ? asked : 0));
  }

  answerCells(board, explain);
  el.replaceChildren(make("div", { class: "slf pat", role: "group", "aria-label": "The patches of a picture, and attention maps of them" },
    make("div", { class: "pat-bar" }, make("label", { for: pictureChooser.id }, "Picture ", pictureChooser), make("label", { for: viewChooser.id }, "Shown ", viewChooser)),
    about, board, words));
  draw();
  return follow(model, ["chosen", "view"], draw);
}

export default { render };
