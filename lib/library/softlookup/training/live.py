"""A training run in a notebook: a bar and a curve that grow while it goes on, and that may be interrupted."""

import time
from html import escape
from pathlib import Path
from typing import Any

from softlookup.model.published.translator import Translator, load_translator
from softlookup.training.grammar_run import grammar_recipe, train_on_grammar
from softlookup.training.loop import Progress
from softlookup.training.recipe import Recipe

WIDE, HIGH = 640, 180
EVERY = 50
"""After how many steps the run's state is written."""


class LiveCurve:
    """Shows a run as HTML in a notebook; call it with each step's Progress.

    ``seconds`` is how long to wait between two pictures. ValueError if total_steps is below 1.
    """

    def __init__(self, total_steps: int, seconds: float = 0.5) -> None:
        if total_steps < 1:
            raise ValueError(f"total_steps is {total_steps}; wanted at least 1")
        self.total, self.seconds = total_steps, seconds
        self.points: list[tuple[int, float]] = []
        self.notes: list[str] = []
        self._begun = time.monotonic()
        self._shown = -seconds
        self._first = 0
        self._handle: Any = None

    def __call__(self, progress: Progress) -> None:
        """Take note of a step, and draw if the last picture is old enough."""
        if not self.points:
            self._first = progress.step - 1
        self.points.append((progress.step, progress.loss))
        if time.monotonic() - self._begun - self._shown >= self.seconds or progress.step == self.total:
            self._shown = time.monotonic() - self._begun
            self.show()

    def note(self, line: str) -> None:
        """Keep a line for below the picture."""
        self.notes.append(line)

    def html(self) -> str:
        """Write the run so far as HTML with an SVG in it: a bar, the loss, how long it will take, and the curve."""
        if not self.points:
            return "<p>The run begins …</p>"
        step, _ = self.points[-1]
        recent = [loss for _, loss in self.points[-20:]]
        top = max(loss for _, loss in self.points)
        thin = self.points[:: max(1, len(self.points) // 300)]
        path = " ".join(f"{WIDE * s / self.total:.1f},{HIGH - HIGH * loss / top:.1f}" for s, loss in thin)
        done = step - self._first
        remaining_s = (time.monotonic() - self._begun) / done * (self.total - step)
        mean_loss = sum(recent) / len(recent)
        words = f"step {step} of {self.total}, loss {mean_loss:.2f} nats a token, about {remaining_s:.0f} s left"
        note_html = f"<p>{escape(self.notes[-1])}</p>" if self.notes else ""
        return (
            f'<div><progress max="{self.total}" value="{step}" style="width:100%"></progress><p>{words}</p>'
            f'<svg viewBox="0 -4 {WIDE} {HIGH + 8}" role="img" aria-label="{words}" '
            'style="max-width:40rem;width:100%;border-bottom:1px solid">'
            f'<polyline points="{path}" fill="none" stroke="#1978c5" stroke-width="2"/>'
            f'<text x="{WIDE - 4}" y="10" text-anchor="end" font-size="12" fill="currentColor">top: {top:.1f}</text>'
            f"</svg>{note_html}</div>"
        )

    def show(self) -> None:
        """Put the picture into the notebook, in place of the one before."""
        from IPython.display import HTML, display

        picture = HTML(self.html())
        if self._handle is None:
            self._handle = display(picture, display_id=True)
        else:
            self._handle.update(picture)


def watch_grammar_run(folder: str | Path, recipe: Recipe | None = None, **sizes: Any) -> Translator:
    """Train a small translator on the generated grammar, and show it live; a run that was interrupted goes on.

    Recipe None takes that of ``grammar_run``: 800 steps, one to two minutes on two cores; ``sizes`` are
    train_on_grammar's n_pairs, n_validation, n_test, max_words. ValueError if a size is too small; KeyboardInterrupt,
    which says how to go on, if it is interrupted.
    """
    recipe = grammar_recipe() if recipe is None else recipe
    live_curve = LiveCurve(recipe.steps)
    live_curve.show()

    def show_line(line: str) -> None:
        live_curve.note(line)
        live_curve.show()

    try:
        report = train_on_grammar(folder, recipe, on_step=live_curve, note=show_line, every=EVERY, **sizes)
    except KeyboardInterrupt:
        print(f"Interrupted. What has been learned is kept in {folder}: run the cell again, and it goes on from there.")
        raise
    print(report)
    return load_translator(folder)
