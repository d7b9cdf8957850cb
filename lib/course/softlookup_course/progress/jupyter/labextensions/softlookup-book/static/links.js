// What `softlookup lab` adds to JupyterLab: links into the book, help on a task, and the verdicts of a whole notebook.
//
// JupyterLab opens a link to an HTML file in a viewer without styles, scripts and sections. Links into the book go to
// where the server shows the book as it is (softlookup_course.progress.serving), in a tab of the browser.
(() => {
  const BOOK = "_build/html/";
  const CHECK = /check\("([\w.-]+)", \w+(?:, variant=(\d+))?\)/;

  function leadIntoTheBook(base) {
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

  /** The notebook in front, null if there is none. */
  function inFront(app) {
    const panel = app.shell.currentWidget;
    return panel?.content?.activeCell && panel.context?.model?.sharedModel ? panel : null;
  }

  const gradeId = (cell) => cell.model.getMetadata("nbgrader")?.grade_id ?? "";
  const source = (cell) => cell.model.sharedModel.getSource();

  /** The check of the task that the selected cell belongs to: its own, the next one, or the one above a cell of one's own. */
  function checkOf(notebook) {
    const at = notebook.activeCellIndex;
    const own = notebook.activeCell;
    const checks = notebook.widgets.flatMap((cell, index) =>
      gradeId(cell).endsWith("-check") && CHECK.test(source(cell)) ? [{ index, found: source(cell).match(CHECK) }] : []);
    const behind = own.model.type === "code" && !gradeId(own);
    return (behind && checks.findLast((one) => one.index < at)) || checks.find((one) => one.index >= at) || checks.at(-1);
  }

  async function hint(app) {
    const panel = inFront(app);
    const check = panel && checkOf(panel.content);
    if (!check) {
      show("There is no task here", ["Open one of the course's notebooks and select a cell of a task."]);
      return;
    }
    const [, task, variant] = check.found;
    const call = `hint("${task}"${variant ? `, variant=${variant}` : ""})`;
    const notebook = panel.content;
    const at = check.index + 1;
    const next = notebook.widgets[at];
    if (!next || !source(next).endsWith(call)) {
      const cell = { cell_type: "code", source: `from softlookup import hint\n\n${call}`, metadata: {} };
      panel.context.model.sharedModel.insertCell(at, cell);
    }
    notebook.deselectAll();
    notebook.activeCellIndex = at;
    await app.commands.execute("notebook:run-cell");
    notebook.scrollToItem?.(at);
  }

  /** Show something in front of everything else; a dialog of the browser's, which Escape closes. */
  function show(title, lines, rows = []) {
    document.querySelector("dialog.softlookup")?.remove();
    const dialog = document.createElement("dialog");
    dialog.className = "softlookup";
    dialog.style = "max-width:60em;max-height:80vh;overflow:auto;padding:1.2em 1.6em;border-radius:6px;"
      + "border:1px solid var(--jp-border-color1);background:var(--jp-layout-color1);color:var(--jp-ui-font-color1);"
      + "font:var(--jp-ui-font-size1)/1.5 var(--jp-ui-font-family)";
    const put = (parent, name, text = "", style = "") => {
      const made = parent.appendChild(document.createElement(name));
      made.textContent = text;
      made.style = style;
      return made;
    };
    put(dialog, "h2", title, "margin:0 0 .5em;font-size:1.2em");
    dialog.setAttribute("aria-label", title);
    for (const line of lines) put(dialog, "p", line, "margin:.4em 0");
    if (rows.length) {
      const table = put(dialog, "table", "", "border-collapse:collapse;margin:.6em 0");
      for (const row of rows) {
        const line = put(table, "tr");
        for (const text of row) put(line, "td", text, "padding:.2em 1em .2em 0;vertical-align:top;text-align:left");
      }
    }
    const close = put(dialog, "button", "Close", "margin-top:.6em;padding:.3em 1em");
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }

  async function validate(app, base) {
    const panel = inFront(app);
    if (!panel) return;
    await app.commands.execute("docmanager:save");
    const { token } = app.serviceManager.serverSettings;
    const xsrf = document.cookie.match(/(?:^|; )_xsrf=([^;]*)/)?.[1];
    show("Validate", ["The notebook is run in a fresh kernel, from the first cell to the last …"]);
    try {
      const answer = await fetch(`${base.href}softlookup-validate`, {
        method: "POST",
        headers: { ...(token && { Authorization: `token ${token}` }), ...(xsrf && { "X-XSRFToken": xsrf }) },
        body: JSON.stringify({ path: panel.context.path }),
      });
      const said = await answer.json();
      show("Validate", said.lines ?? [said.message ?? `The server answered ${answer.status}.`], said.rows ?? []);
    } catch (error) {
      show("Validate", [`The server could not be asked: ${error.message}`]);
    }
  }

  function activate(app) {
    const base = new URL(app.serviceManager.serverSettings.baseUrl);
    leadIntoTheBook(base);
    const isEnabled = () => inFront(app) !== null;
    app.commands.addCommand("softlookup:hint", {
      label: "Hint",
      caption: "Help on the task of the selected cell, one step at a time",
      isEnabled,
      execute: () => hint(app),
    });
    app.commands.addCommand("softlookup:validate", {
      label: "Validate",
      caption: "Save, run the whole notebook in a fresh kernel, and show each verdict",
      isEnabled,
      execute: () => validate(app, base),
    });
  }

  const plugin = { id: "softlookup-book:links", autoStart: true, activate };
  // What JupyterLab asks of a prebuilt extension; a bundler would write the same around it.
  (window._JUPYTERLAB ??= {})["softlookup-book"] = {
    init: () => {},
    get: async () => () => ({ __esModule: true, default: plugin }),
  };
})();
