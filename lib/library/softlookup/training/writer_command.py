"""What `softlookup train-writer` does: a text file in, a language model out; the same command goes on after a kill."""

from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from softlookup.text.corpus import read_text
from softlookup.training import command_frame
from softlookup.training.command_frame import check_device, refusing, shown_run
from softlookup.training.loop import Progress
from softlookup.training.progress import ProgressDisplay
from softlookup.training.recipe import WriterRecipe
from softlookup.training.writing import train_writer


def train_writer_command(
    file: str | Path,
    *,
    recipe: str | Path | None = None,
    out: str | Path = "writer",
    device: str = "cpu",
    minutes: float | int | None = None,
    console: Console | None = None,
) -> int:
    """Train a decoder-only model on a text; given once more, go on where the run was stopped.

    The text is UTF-8, in .gz or not, and its last tenth is held out, to choose the weights by; ``recipe`` is JSON with
    fields of WriterRecipe, None the default one; after ``minutes`` it stops at the next state that is kept, None: at
    the end; console None is the terminal. Gives the exit status: 0 at the end or when the minutes are over, 130 after
    Ctrl-C. TrainingRefused if the text is missing, too short or not UTF-8, a recipe is wrong, there is no such device,
    the folder holds another run, or the loss is no longer a number.
    """
    out = Path(out)
    with refusing():
        check_device(device, minutes)
        chosen = WriterRecipe() if recipe is None else WriterRecipe.read(recipe)
        text = read_text(file)

        def run_training(display: ProgressDisplay, on_step: Callable[[Progress], None]) -> None:
            train_writer(
                text, out, chosen, device=device, on_step=on_step, note=display.note, every=command_frame.EVERY
            )
            display.note(f'done: load_writer("{out}").write("...") uses it')

        return shown_run(run_training, out, chosen.steps, minutes, console)
