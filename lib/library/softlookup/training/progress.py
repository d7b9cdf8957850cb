"""Show a run as it goes: a bar in a terminal, plain lines where there is none."""

from collections.abc import Iterator
from contextlib import contextmanager

import rich.progress
from rich.console import Console

from softlookup.training.loop import Progress


def describe(progress: Progress) -> str:
    """Say in one line what happened in a step: epoch, loss, learning rate, gradient norm and speed."""
    return (
        f"epoch {progress.epoch + 1}  loss {progress.loss:.3f}  rate {progress.rate:.2e}  "
        f"gradient {progress.gradient_norm:.2f}  {progress.tokens_per_s:,.0f} tokens/s"
    )


class ProgressDisplay:
    """What show_progress lends: call it with each step's Progress, and note() what is worth a line of its own.

    ``bar`` is started and has one task; None writes a line after each ``every`` steps. total_steps is None if it is not
    known.
    """

    def __init__(
        self, console: Console, bar: rich.progress.Progress | None, every: int, total_steps: int | None
    ) -> None:
        self._console, self._bar, self._every, self._total = console, bar, every, total_steps

    def __call__(self, progress: Progress) -> None:
        """Show one step."""
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=progress.step, description=describe(progress))
        elif progress.step % self._every == 0 or progress.step in (1, self._total):
            of_total = "" if self._total is None else f"/{self._total}"
            self._print(f"step {progress.step}{of_total}  {describe(progress)}")

    def note(self, text: str) -> None:
        """Write a line that stays, above the bar: a validation loss, a sample. It is shown as it is."""
        self._print(text)

    def _print(self, text: str) -> None:
        # Square brackets in a sample are no markup, and numbers need no colours; long lines are left whole.
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def show_progress(
    total_steps: int | None = None, *, console: Console | None = None, every: int = 50
) -> Iterator[ProgressDisplay]:
    """Show a training run while a block lasts.

    Gives what train takes as on_step; its note() writes a line above the bar. total_steps None shows a bar without an
    end, console None is the terminal; without a terminal there is a line for ``every`` steps, the first and the last.
    ValueError if every is below 1.
    """
    if every < 1:
        raise ValueError(f"every is {every}; wanted at least 1 step")
    console = Console() if console is None else console
    if not console.is_terminal:
        yield ProgressDisplay(console, None, every, total_steps)
        return
    columns = (
        rich.progress.MofNCompleteColumn(),
        rich.progress.BarColumn(),
        rich.progress.TimeElapsedColumn(),
        rich.progress.TimeRemainingColumn(),
        rich.progress.TextColumn("{task.description}"),
    )
    with rich.progress.Progress(*columns, console=console) as bar:
        bar.add_task("", total=total_steps)
        yield ProgressDisplay(console, bar, every, total_steps)
