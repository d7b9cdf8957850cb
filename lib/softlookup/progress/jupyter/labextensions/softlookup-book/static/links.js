// JupyterLab opens a link to an HTML file in a viewer without styles, scripts and sections. Links into the book go to
// where the server shows the book as it is (softlookup.progress.serving), in a tab of the browser.
(() => {
  const BOOK = "_build/html/";

  function activate(app) {
    const base = new URL(app.serviceManager.serverSettings.baseUrl);
    window.addEventListener("click", (event) => {
      const link = event.target.closest?.("a[href]");
      if (!link) return;
      const start = `${base.pathname}files/${BOOK}`;
      const path = decodeURI(link.pathname);
      if (link.origin !== base.origin || !path.startsWith(start)) return;
      event.preventDefault();
      event.stopPropagation();
      window.open(`${base.href}softlookup-book/${path.slice(start.length)}${link.hash}`, "_blank", "noopener");
    }, { capture: true });
  }

  const plugin = { id: "softlookup-book:links", autoStart: true, activate };
  // What JupyterLab asks of a prebuilt extension; a bundler would write the same around it.
  (window._JUPYTERLAB ??= {})["softlookup-book"] = {
    init: () => {},
    get: async () => () => ({ __esModule: true, default: plugin }),
  };
})();
