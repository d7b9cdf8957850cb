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

  // The settings of a figure, for a link that leads to them: `?set=stage:decode,batch:3` says what its controls have that
  // they did not have at first. A hidden input holds what no control shows.
  const CONTROLS = "select, textarea, input, button:is([aria-pressed], [role=tab])";
  const first = new Map(); // each figure's settings as it came

  /** For each control, when its turn comes: its setting, "" for a button that is not pressed, and what takes it from a list. */
  function* settings(figure) {
    for (const [at, control] of figure.querySelectorAll(CONTROLS).entries()) {
      const { type, dataset } = control;
      const called = (type === "radio" ? control.name : control.id).replace(/^\w+-\d+-/, "") || Object.values(dataset)[0];
      const holds = control.matches("select:not(:has([value]))") ? "selectedIndex" : "value";
      const [name, value] = type === "button" ? Object.entries(dataset)[0] ?? ["press", at]
        : [called, type === "checkbox" ? Number(control.checked) : control[holds]];
      const setting = `${name}:${encodeURIComponent(value)}`;
      if (type === "button" || type === "radio") {
        const on = control.checked ?? ["aria-pressed", "aria-selected"].some((state) => control.getAttribute(state) === "true");
        yield { setting: on ? setting : "", take: (list) => !on && list.includes(setting) && control.click() };
        continue;
      }
      yield { setting, take: (list) => {
        const other = list.find((each) => each.startsWith(`${name}:`) && each !== setting);
        if (!other || control.disabled) return;
        if (type === "checkbox") {
          control.click();
          return;
        }
        control[holds] = decodeURIComponent(other.slice(name.length + 1));
        if (control.selectedIndex === -1) control[holds] = value; // there is no such option
        else for (const event of ["input", "change"]) control.dispatchEvent(new Event(event, { bubbles: true }));
      } };
    }
  }
  const changed = (figure) => [...settings(figure)].map(({ setting }) => setting).filter((setting) => setting && !first.get(figure)?.includes(setting));

  /** What the address of a figure has for its settings: nothing while it is as it came. Twice encoded, for the theme writes addresses anew. */
  globalThis.softlookupSettings = (figure) => {
    const list = changed(figure).join().replaceAll("%", "%25");
    return list && `?set=${list}`;
  };

  /** Set the figure that the address leads to. Twice: what one control allows may depend on those behind it. */
  function follow(figure) {
    const list = new URLSearchParams(location.search).get("set")?.split(",");
    if (!list || `#${figure.previousElementSibling?.id}` !== location.hash) return;
    const others = first.get(figure).filter((setting) => !list.some((each) => each.split(":")[0] === setting.split(":")[0]));
    for (let round = 0; round < 2; round += 1) for (const { take } of settings(figure)) take([...list, ...others]);
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
        first.set(el, changed(el));
        follow(el);
      } catch (error) {
        console.error("an interactive figure of this page did not start:", error);
      }
    }
  }
  start();
})();
