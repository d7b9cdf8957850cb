// What every page has to be in every browser: each function gives findings by name, and nothing under a name where all is well.
({
  /** Nothing stays folded, so that nothing is left unlooked at; what opens has faded in. */
  unfold: async () => {
    document.querySelectorAll('details').forEach((one) => { one.open = true; });
    await new Promise(requestAnimationFrame);
    await Promise.allSettled(document.getAnimations().map((one) => one.finished));
    return true;
  },

  content: async () => {
    const all = (css) => [...document.querySelectorAll(css)];
    const images = all('img');
    for (const one of images) one.loading = 'eager';
    await Promise.allSettled(images.map((one) => one.decode()));
    const views = all("script[type='application/vnd.jupyter.widget-view+json']").length;
    const fonts = [...document.fonts];
    const mathFonts = fonts.filter((font) => font.status === 'loaded' && font.family.includes('MJX')).length;
    const words = (one) => one.textContent.trim().slice(0, 60);
    return {
      'formulas left as they were typed': all('.math').filter((one) => !one.querySelector('mjx-container')).map(words),
      'formulas with a mistake': all('mjx-merror, [data-mjx-error]').map(words),
      'formulas without their fonts': all('.math').length && !mathFonts ? ['no font of MathJax is loaded'] : [],
      'fonts that do not load': fonts // stand-ins come from the machine, which may lack them; optional ones may come too late
        .filter((font) => font.status === 'error' && font.display !== 'optional' && !/^"?Plex from/.test(font.family)).map((font) => font.family),
      'slanted letters that come late': all('script[src$="/slanted.js"], script[src*="/slanted.js?"]').length ? []
        : all('.bd-article *').filter((one) => [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim())
          && /^italic.*IBM Plex Sans/.test(`${getComputedStyle(one).fontStyle} ${getComputedStyle(one).fontFamily}`)).map(words),
      'pictures that do not show': images.filter((one) => !one.complete || one.naturalWidth === 0).map((one) => one.src),
      'figures that do not run': views === all('.widget-area').length ? [] : [`${views} wanted`],
      'figures with nothing in them': all('.widget-area').filter((one) => one.textContent.trim().length < 20
        || one.getBoundingClientRect().height < 60).map(words),
      'stand-ins left beside a figure': all('.widget-fallback').map(words),
      'links to nowhere in the page': all('a[href^="#"]').map((one) => decodeURIComponent(one.getAttribute('href').slice(1)))
        .filter((id) => id && document.getElementById(id) === null),
    };
  },

  /** At the width that the window has now. */
  layout: async () => {
    const look = () => {
      const all = (css) => [...document.querySelectorAll(css)];
      const wide = innerWidth;
      const words = (one) => one.textContent.trim().slice(0, 60);
      const sideways = document.documentElement.scrollWidth > wide;
      const column = document.querySelector('.bd-article');
      const { paddingLeft, paddingRight } = column ? getComputedStyle(column) : {};
      const edges = column?.getBoundingClientRect();
      const beyond = (one) => {
        const { left, right, width } = one.getBoundingClientRect();
        return width && (left < edges.left + parseFloat(paddingLeft) - 1 || right > edges.right - parseFloat(paddingRight) + 1);
      };
      const parted = all('.bd-article span.math').filter((one) => {
        const box = (node, from, to) => {
          const range = document.createRange();
          range.setStart(node, from);
          range.setEnd(node, to);
          return range.getBoundingClientRect();
        };
        const own = one.getBoundingClientRect();
        const [before, after] = [one.previousSibling, one.nextSibling];
        const text = (node) => (node?.nodeType === Node.TEXT_NODE ? node.data : '');
        const open = /[([]$/.test(text(before)) && box(before, before.length - 1, before.length);
        const close = /^[).,;:?!]/.test(text(after)) && box(after, 0, 1);
        return (open && open.left > own.left) || (close && close.right < own.right - 3);
      });
      return {
        'scrolls sideways': !sideways ? [] : [`${document.documentElement.scrollWidth} > ${wide}`,
          ...all('main *').filter((one) => one.getBoundingClientRect().right > wide + 1).slice(0, 5).map((one) => one.outerHTML.slice(0, 120))],
        'wider than the column of text': column ? all('.bd-article :is(figure, figure img:not(.slk-panels *), .slk-panels > div, table, .math, .slf, .slf > *)')
          .filter((one) => one.checkVisibility() && beyond(one) && !one.closest('.scrolls')).map(words) : [],
        // A phone may have to slide a picture or a table in its box; a wide window never.
        'pictures and tables that slide in a wide window': wide < 1200 ? []
          : all('.bd-article :is(.slk-scroll, .pst-scrollable-table-container).scrolls').map(words),
        // From 390 pixels on, no formula has to be scrolled.
        'formulas wider than their place, or with a Tab stop': wide < 390 ? [] : all('.math')
          .filter((one) => one.scrollWidth > one.clientWidth + 1 || one.tabIndex >= 0).map(words),
        'parts that scroll without a Tab stop': all('.bd-article .scrolls').filter((one) => one.tabIndex < 0).map(words),
        'parts that do not fade where there is more': all('.bd-article .scrolls:not(.more-right)')
          .filter((one) => one.scrollLeft + one.clientWidth < one.scrollWidth - 1).map(words),
        'code that is cut off': all('.bd-article pre:not(.scrolls)').filter((one) => one.scrollWidth > one.clientWidth + 1).map(words),
        'signs parted from their formula': parted.map((one) => one.parentElement.textContent.slice(0, 60)),
      };
    };
    // A new size is noticed in one frame and answered in the next, or later where the machine is busy.
    let told = {};
    for (let frame = 0; frame < 120; frame += 1) {
      await new Promise(requestAnimationFrame);
      told = frame < 3 ? {} : look();
      if (frame >= 3 && Object.values(told).every((found) => found.length === 0)) break;
    }
    return told;
  },

  /** What was scrolled to its end fades on the left alone. */
  scrolled: async () => {
    // Looked for in each frame: what scrolled before the last change of size may fit now, and never fade.
    const parts = () => [...document.querySelectorAll('.bd-article .scrolls')].filter((one) => one.checkVisibility()).slice(0, 1);
    const faded = (one) => one.matches('.more-left:not(.more-right)');
    for (let round = 0; round < 150 && !parts().every(faded); round += 1) {
      // From its beginning each time: a part that stands at its end already moves no further, and tells the page nothing.
      // A font that comes late moves the end.
      for (const place of [() => 0, (one) => one.scrollWidth]) {
        for (const one of parts()) one.scrollLeft = place(one);
        await new Promise(requestAnimationFrame);
      }
    }
    return parts().filter((one) => !faded(one)).map((one) => one.textContent.trim().slice(0, 60));
  },

  /** The addresses that a search found. */
  search: async () => {
    while (!document.querySelector('#search-results li a') && performance.now() < 30000) await new Promise(requestAnimationFrame);
    return [...document.querySelectorAll('#search-results li a')].map((one) => one.href);
  },
})
