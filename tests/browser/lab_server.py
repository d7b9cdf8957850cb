"""A JupyterLab for tests, started as ``softlookup lab`` starts it: on a free port, with nobody's settings."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from own_jupyter import free_port, own_folders, running
from playwright.sync_api import Browser, Page, expect

from softlookup_course.progress.workplace import START, lab_command, lab_environment

TOKEN = "lab-in-a-test"
START_S = 120.0
SLOW_MS = 180_000
"""How long a kernel may take to begin and to import torch on a machine that does other things too."""

SETTINGS = {
    # All cells stay in the page, so that a test can ask for one that is not in view.
    "notebook-extension/tracker": {"windowingMode": "none"},
}
SHOWN = ".jp-NotebookPanel:not(.lm-mod-hidden)"
"""The notebook in front."""
CONNECTED = """async () => {
  const sessions = await (await fetch('/api/sessions')).json();
  const name = document.querySelector('.lm-TabBar-tab.lm-mod-current .lm-TabBar-tabLabel').textContent;
  return sessions.some(({ path, kernel: { connections, execution_state: state } }) =>
    path.endsWith(name) && connections > 0 && state === 'idle');
}"""
"""Whether the kernel of the notebook in front runs: "idle" is shown before it does, and *Run* then does nothing."""


@contextmanager
def running_lab(root: Path, home: Path, theme: str) -> Iterator[str]:
    """Start a server on a checkout; gives its address."""
    for name, chosen in {**SETTINGS, "apputils-extension/themes": {"theme": theme}}.items():
        file = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(chosen))
    port = free_port()
    options = ["ip=127.0.0.1", f"port={port}", "port_retries=0", "open_browser=False"]
    command = lab_command(root, [*(f"--ServerApp.{option}" for option in options), f"--IdentityProvider.token={TOKEN}"])
    folders = own_folders(home, JUPYTERLAB_SETTINGS_DIR="settings", JUPYTERLAB_WORKSPACES_DIR="workspaces")
    env = {**lab_environment(), **folders}
    with running(command, port, TOKEN, cwd=root, env=env, home=home, start_s=START_S, stop_s=60) as address:
        yield address


@dataclass
class Visit:
    """A page of JupyterLab, what it asked others for, and what went wrong in it."""

    page: Page
    address: str
    outside: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str = "") -> None:
        """Open a notebook, or what JupyterLab opens on, and wait until its kernel can be asked."""
        printed = f"{self.address}{START}?token={TOKEN}"
        self.page.goto(f"{self.address}lab/tree/{path}" if path else printed, wait_until="load")
        name = (path or "welcome.ipynb").split("/")[-1]
        self.page.wait_for_selector(f".lm-TabBar-tab.lm-mod-current:has-text('{name}')", timeout=SLOW_MS)
        self.page.wait_for_selector(f"{SHOWN} .jp-Notebook .jp-Cell", timeout=SLOW_MS)
        self.page.wait_for_selector(f"{SHOWN} [data-status='idle']", state="attached", timeout=SLOW_MS)

    def run_all(self) -> None:
        """Run all cells, by the menu, once there is a kernel."""
        kernel = self.page.locator(f"{SHOWN} .jp-Toolbar-kernelName")
        expect(kernel).to_contain_text("ipykernel", timeout=SLOW_MS)
        self.page.wait_for_function(CONNECTED, timeout=SLOW_MS, polling=200)
        self.page.locator(".lm-MenuBar-item", has_text="Run").click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        prompt = self.page.locator(f"{SHOWN} .jp-CodeCell .jp-InputPrompt").first
        expect(prompt).not_to_have_text("[ ]:", timeout=SLOW_MS)

    def validate(self) -> str:
        """Press Validate, and give back what it says."""
        self.press("softlookup-validate")
        dialog = self.page.locator("dialog.softlookup", has_text="points")
        dialog.wait_for(timeout=SLOW_MS)
        message = dialog.inner_text()
        self.page.keyboard.press("Escape")
        dialog.wait_for(state="detached")
        return message

    def press(self, name: str) -> None:
        """Press a button above the notebook."""
        self.page.locator(f"{SHOWN} [data-jp-item-name={name}]").locator("jp-button, button").first.click()


@contextmanager
def visiting(chromium: Browser, address: str) -> Iterator[Visit]:
    """A browser at a server; afterwards nothing may have left the machine, and nothing may have failed."""
    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    try:
        seen = Visit(context.new_page(), address)
        local_origins = (address, address.replace("http", "ws"), "data:", "blob:")
        context.on("request", lambda request: request.url.startswith(local_origins) or seen.outside.append(request.url))
        seen.page.on("pageerror", lambda error: seen.complaints.append(f"error: {error}"))
        seen.page.on("console", lambda message: message.type == "error" and seen.complaints.append(message.text))
        yield seen
        assert seen.outside == []
        assert seen.complaints == []
    finally:
        context.close()
