// Run the anywidget figures of a page, with no kernel, no server and no other library.
//
// A built page holds each widget's state as JSON, and anywidget keeps a widget's own script and style in that state.
// What such a script asks of its surroundings is little: a model with get, set, on, off, save_changes and send.
(() => {
  const STATE = "application/vnd.jupyter.widget-state+json";
  const VIEW = "application/vnd.jupyter.widget-view+json";

  /** A model as anywidget scripts expect one; changes stay in the page, since there is no kernel to tell. */
  class Model {
    #state;
    #changed = new Set();
    #listeners = new Map();

    constructor(state) {
      this.#state = state;
    }
    get(name) {
      return this.#state[name];
    }
    set(name, value) {
      if (this.#state[name] === value) return;
      this.#state[name] = value;
      this.#changed.add(name);
      this.#tell(`change:${name}`, value);
    }
    save_changes() {
      if (this.#changed.size) this.#tell("change");
      this.#changed.clear();
    }
    on(event, listener) {
      this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
    }
    off(event = null, listener = null) {
      for (const name of event === null ? this.#listeners.keys() : [event]) {
        const kept = (this.#listeners.get(name) ?? []).filter((one) => listener !== null && one !== listener);
        this.#listeners.set(name, kept);
      }
    }
    send() {}
    #tell(event, ...values) {
      for (const listener of this.#listeners.get(event) ?? []) listener(...values);
    }
  }

  /** Put binary parts of a state, which JSON holds in base64 or hex, back where they belong. */
  function withBuffers({ state, buffers = [] }) {
    for (const { path, encoding, data } of buffers) {
      const bytes = encoding === "hex"
        ? Uint8Array.from(data.match(/../g) ?? [], (pair) => parseInt(pair, 16))
        : Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
      const parent = path.slice(0, -1).reduce((node, key) => node[key], state);
      parent[path.at(-1)] = new DataView(bytes.buffer);
    }
    return state;
  }

  /** Load a widget's script from the text in its state. */
  async function load(text) {
    const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    try {
      const { default: widget } = await import(address);
      return typeof widget === "function" ? await widget() : widget;
    } finally {
      URL.revokeObjectURL(address);
    }
  }

  /** Make a model of what the page says about a widget, or refuse one that is not an anywidget. */
  async function wake(id, record) {
    if (record?.state?._esm === undefined) throw new Error(`the widget ${id} of this page is not an anywidget`);
    const state = withBuffers(record);
    if (state._css) document.head.append(Object.assign(document.createElement("style"), { textContent: state._css }));
    const widget = await load(state._esm);
    const model = new Model(state);
    await widget.initialize?.({ model, experimental: {} });
    return { widget, model };
  }

  async function start() {
    const records = {};
    for (const script of document.querySelectorAll(`script[type="${STATE}"]`)) {
      Object.assign(records, JSON.parse(script.textContent).state);
    }
    const awake = new Map(); // several views may show one model
    for (const script of document.querySelectorAll(`script[type="${VIEW}"]`)) {
      const id = JSON.parse(script.textContent).model_id;
      if (!awake.has(id)) awake.set(id, wake(id, records[id]));
      try {
        const { widget, model } = await awake.get(id);
        const el = Object.assign(document.createElement("div"), { className: "widget-area" });
        await widget.render?.({ model, el, experimental: {} });
        const standIn = script.previousElementSibling;
        if (standIn?.classList.contains("widget-fallback")) standIn.remove();
        script.before(el);
      } catch (error) {
        console.error("an interactive figure of this page did not start:", error);
      }
    }
  }
  start();
})();
