// Where a picture with several panels in a row is wider than the page, its panels stand below each other: each is a window
// on the same picture. `figures/show.py` says where they are, in pixels of the whole picture. Without scripts it slides.
(() => {
  /** The panels of one of the two pictures, light or dark. */
  function windows(picture, panels, least) {
    const part = document.createElement("div");
    part.className = `${picture.className} slk-panels`;
    const wide = Number(picture.getAttribute("width"));
    panels.forEach(([left, top, width, height], i) => {
      const image = new Image();
      image.className = "dark-light"; // as its colours are: the theme changes those of other pictures in the dark
      image.src = picture.src;
      image.alt = i ? "" : picture.alt; // it describes the whole picture, and is read once
      Object.assign(image.style, {
        width: `${(100 * wide) / width}%`,
        left: `${(-100 * left) / width}%`,
        top: `${(-100 * top) / height}%`,
      });
      const frame = document.createElement("div");
      Object.assign(frame.style, {
        width: `${width}px`,
        minWidth: `${(least * width) / wide}px`,
        aspectRatio: `${width} / ${height}`,
      });
      frame.append(image);
      part.append(frame);
    });
    return part;
  }

  const phone = matchMedia("(max-width: 40rem)"); // else the whole picture shrinks

  function arrange(box) {
    if (!box.clientWidth) return; // in a fold that is closed
    const least = parseFloat(box.style.getPropertyValue("--slk-least"));
    const stacked = phone.matches && box.clientWidth < least;
    if (stacked && !box.querySelector(".slk-panels")) {
      const panels = JSON.parse(box.dataset.panels);
      for (const picture of box.querySelectorAll(":scope > img")) box.append(windows(picture, panels, least));
    }
    box.classList.toggle("stacked", stacked);
  }

  const boxes = document.querySelectorAll(".slk-scroll[data-panels]");
  boxes.forEach(arrange);
  // In the next frame: what changes sizes while they are being told of is an error in WebKit.
  const observer = new ResizeObserver((changes) => requestAnimationFrame(() => changes.forEach(({ target }) => arrange(target))));
  boxes.forEach((box) => observer.observe(box));
})();
