// Figures and verdicts to take along: a quiet button offers each as a picture for the clipboard, and as a link or text.
(() => {
  const SCALE = 2; // dots for each pixel of the page
  const EDGE = 16; // pixels around a picture
  const SOURCE = "Soft Lookup, CC BY 4.0"; // stands in the edge below it
  const LASTS = 1500; // milliseconds for which the menu says what was copied

  const make = (tag, text, more = {}) => Object.assign(document.createElement(tag), { textContent: text, ...more });
  const menu = make("span", "", { className: "shr-menu", popover: "auto" });
  const state = make("span", "", { className: "shr-state" });
  state.setAttribute("role", "status");

  /** A button whose menu has these offers: [words, what copies and gives words for what it did]. */
  function share(label, offers, text = "") {
    const button = make("button", text, { type: "button", className: "shr-button" });
    if (!text) button.setAttribute("aria-label", label);
    button.title = label;
    button.popoverTargetElement = menu;
    button.addEventListener("click", () => {
      if (!menu.matches(":popover-open")) open(button, offers);
    });
    return button;
  }

  function open(button, offers) {
    const { top, left, right, bottom } = button.getBoundingClientRect();
    const { clientWidth: wide } = document.documentElement;
    const upwards = bottom + 120 > innerHeight;
    menu.style.left = left < wide / 2 ? `${left}px` : "auto";
    menu.style.right = left < wide / 2 ? "auto" : `${wide - right}px`;
    menu.style.top = upwards ? "auto" : `${bottom}px`;
    menu.style.bottom = upwards ? `${innerHeight - top}px` : "auto";
    state.textContent = "";
    menu.replaceChildren(...offers.map(([words, copy], place) => {
      const item = make("button", words, { type: "button", autofocus: place === 0 });
      item.onclick = async () => {
        try {
          state.textContent = await copy();
          setTimeout(() => menu.contains(item) && menu.hidePopover(), LASTS);
        } catch (error) {
          state.textContent = error.message;
        }
      };
      return item;
    }), state);
    button.after(menu);
    const from = scrollY;
    addEventListener("scroll", function away() {
      if (Math.abs(scrollY - from) < 40 && menu.matches(":popover-open")) return;
      removeEventListener("scroll", away);
      if (menu.matches(":popover-open")) menu.hidePopover();
    }, { passive: true });
  }

  async function copyText(text, done) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const field = make("textarea", "", { value: text });
      menu.append(field);
      field.select();
      const copied = document.execCommand("copy"); // all that a page without a secure address has
      field.remove();
      if (!copied) throw new Error("This browser does not let the page copy.");
    }
    return done;
  }

  /** The picture in the clipboard, or where that takes none, in a file. */
  async function copyPicture(picture, name) {
    const png = picture();
    try {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": png })]);
      return "Picture copied";
    } catch {
      const address = URL.createObjectURL(await png);
      make("a", "", { href: address, download: `${name}.png` }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
      return `Saved as ${name}.png`;
    }
  }

  /** An image on the page's background, as PNG. */
  async function onPaper(source, width, height) {
    const canvas = make("canvas", "", { width: SCALE * (width + 2 * EDGE), height: SCALE * (height + 2 * EDGE) });
    const paper = canvas.getContext("2d");
    paper.fillStyle = getComputedStyle(document.body).backgroundColor;
    paper.fillRect(0, 0, canvas.width, canvas.height);
    const image = Object.assign(new Image(), { src: source });
    await image.decode();
    paper.drawImage(image, SCALE * EDGE, SCALE * EDGE, SCALE * width, SCALE * height);
    const { color, fontFamily } = getComputedStyle(document.body);
    Object.assign(paper, { fillStyle: color, globalAlpha: 0.7, font: `${SCALE * 10}px ${fontFamily}`, textBaseline: "middle" });
    paper.fillText(SOURCE, SCALE * EDGE, canvas.height - (SCALE * EDGE) / 2);
    return new Promise((done, failed) => {
      canvas.toBlob((png) => (png ? done(png) : failed(new Error("This browser does not let the page draw it."))));
    });
  }

  // What a copy need not be told: movements, and what other names say too.
  const NEEDLESS = /^(animation|transition|scroll|view|timeline|offset|overflow-(anchor|block|inline)|inset-|.*(inline|block)-(size|start|end)|border-(start|end))|-(inline|block)$/;
  const NAMES = [...getComputedStyle(document.documentElement)].filter((name) => !NEEDLESS.test(name));
  const DISPLAY = NAMES.indexOf("display");
  const WIDTH = /^(border|outline|column-rule).*-width$/; // is 0 while there is no line, whatever it is called initially

  /** A part of the page as PNG. Its copy carries what all styles come to: a picture sees no stylesheet. */
  function drawn(part) {
    const plain = document.documentElement.appendChild(make("span", "", { style: "all: unset" }));
    const all = (style) => NAMES.map((name) => style.getPropertyValue(name));
    const initial = all(getComputedStyle(plain));
    plain.remove();
    const rules = (globalThis.softlookupFaces ?? []).map(([family, data, { weight = 400, style = "normal" }]) =>
      `@font-face{font-family:"${family}";font-weight:${weight};font-style:${style};src:url("data:font/woff2;base64,${data}")}`);
    let count = 0;

    const written = (values, above) => `all:unset;${NAMES.map((name, i) => {
      if (name === "height" && values[DISPLAY].startsWith("table")) return ""; // that of a table has its caption in it
      const shown = /^overflow/.test(name) && /auto|scroll/.test(values[i]) ? "hidden" : values[i];
      return shown === initial[i] && shown === above[i] && !WIDTH.test(name) ? "" : `${name}:${shown};`;
    }).join("")}`;
    function copied(node, above) {
      if (node.nodeType === Node.TEXT_NODE) return [node.cloneNode()];
      if (node.nodeType !== Node.ELEMENT_NODE || ["style", "script"].includes(node.localName)) return [];
      const style = getComputedStyle(node);
      if (style.display === "none") return [];
      const values = all(style);
      const copy = node.localName === "canvas" ? make("img", "", { src: node.toDataURL() }) : node.cloneNode(false);
      for (const { name } of [...copy.attributes]) if (name === "class" || name.startsWith("on")) copy.removeAttribute(name);
      copy.setAttribute("style", written(values, above));
      if (node.localName === "input") copy.setAttribute("value", node.value);
      if ("checked" in node) copy.toggleAttribute("checked", node.checked);
      if (node.localName === "option") copy.toggleAttribute("selected", node.selected);
      for (const side of ["::before", "::after"]) {
        const more = getComputedStyle(node, side);
        if (["none", "normal"].includes(more.content) || more.display === "none") continue;
        copy.dataset.copied ??= count += 1;
        rules.push(`[data-copied="${copy.dataset.copied}"]${side}{${written(all(more), values)}}`);
      }
      copy.append(...[...node.childNodes].flatMap((child) => copied(child, values)));
      return [copy];
    }

    const { width, height } = part.getBoundingClientRect();
    const [copy] = copied(part, []);
    copy.style.margin = "0";
    const look = rules.join("").replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    const inside = `<foreignObject width="100%" height="100%">${new XMLSerializer().serializeToString(copy)}</foreignObject>`;
    const source = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><style>${look}</style>${inside}</svg>`;
    return onPaper(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`, width, height);
  }

  function figure(caption) {
    const holder = caption.closest("figure");
    const place = holder ?? caption.parentElement.querySelector(`[id="${caption.querySelector(".figure-number")?.hash.slice(1)}"]`);
    const id = place?.id || caption.closest("section[id]")?.id || "";
    const image = () => [...holder.querySelectorAll("img")].find((one) => one.checkVisibility());
    const live = () => place.parentElement.querySelector(`[id="${id}"] + .widget-area`);
    const picture = holder
      ? () => onPaper(image().src, Number(image().getAttribute("width")), Number(image().getAttribute("height")))
      : () => drawn(live().firstChild);
    const address = () => `${location.href.replace(/[?#].*/, "")}${holder ? "" : globalThis.softlookupSettings(live())}${id && `#${id}`}`;
    const named = caption.querySelector(".figure-number")?.textContent ?? "this figure";
    caption.append(share(`Share ${named}`, [
      ["Copy picture", () => copyPicture(picture, id || "figure")],
      ["Copy link", () => copyText(address(), "Link copied")],
    ]));
  }

  if (!("popover" in menu)) return; // a browser of before 2024 goes without
  /** A button for a verdict: its text, and its picture, which is drawn of `part()` and saved as `name` where the clipboard takes none. */
  globalThis.softlookupShare = (part, text, name) => share("Copy this verdict", [
    ["Copy as text", () => copyText(text, "Text copied")],
    ["Copy as picture", () => copyPicture(() => drawn(part()), name)],
  ], "Share");
  document.querySelectorAll(".bd-article :is(figure.slk-figure > figcaption, p.figure-live)").forEach(figure);
})();
