"""A training command's frame: refusals in one sentence, a clock, a stop from the keyboard, and how to go on."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from rich.console import Console

from softlookup.training.checkpoint import Checkpoints
from softlookup.training.devices import RankLostError
from softlookup.training.loop import DivergedError, Progress
from softlookup.training.progress import ProgressDisplay, show_progress

EVERY = 200
"""Steps from one state to the next: what a kill can cost."""


class TrainingRefused(ValueError):
    """Something that whoever started the training can mend; the message is one sentence for them."""


class _TimeUp(Exception):
    """The minutes given are over, and the last state was just written."""


def shown_run(
    run_training: Callable[[ProgressDisplay, Callable[[Progress], None]], None],
    out: Path,
    steps: int,
    minutes: float | int | None,
    console: Console | None,
) -> int:
    """Run a training with a progress bar, until its end, its minutes or Ctrl-C.

    ``run_training`` gets the display, and what to tell each step. After ``minutes`` it stops at the next state that is
    kept; None: at the end. Console None is the terminal. Gives the exit status: 0 at the end or when the minutes are
    over, 1 where one of several processes was killed, 130 after Ctrl-C. ValueError if out is a file.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file: name a folder for the model")
    with show_progress(steps, console=Console() if console is None else console) as display:
        try:
            run_training(display, _watched(display, minutes))
            return 0
        except KeyboardInterrupt:
            display.note(_how_to_go_on("Stopped.", out))
            return 130
        except RankLostError as error:
            display.note(_how_to_go_on(str(error), out))
            return 1
        except _TimeUp:
            display.note(_how_to_go_on(f"The {minutes:g} minutes are over.", out))
            return 0


def _watched(show: Callable[[Progress], None], minutes: float | int | None) -> Callable[[Progress], None]:
    """Show each step, and stop the run just after a state was written once its time is over."""
    end_s = None if minutes is None else time.monotonic() + 60 * minutes
    steps_of_this_call = 0

    def on_step(progress: Progress) -> None:
        nonlocal steps_of_this_call
        steps_of_this_call += 1
        just_written = progress.step % EVERY == 1 and steps_of_this_call > 1
        if end_s is not None and time.monotonic() > end_s and just_written:
            raise _TimeUp
        show(progress)

    return on_step


def _how_to_go_on(why: str, out: Path) -> str:
    paths = Checkpoints(out / "run").paths
    if not paths:
        return f"{why} No state had been written: run the same command to start again."
    return f"{why} Run the same command to continue from step {int(paths[-1].stem.removeprefix('step-'))}."


@contextmanager
def refusing() -> Iterator[None]:
    """Raise TrainingRefused in place of what the user can mend: a wrong file, folder or number, a run that diverged."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError, ValueError, DivergedError) as error:
        raise TrainingRefused(str(error)) from error


def check_device(device: str, minutes: float | int | None, devices: int = 1) -> None:
    """Refuse a device that is not here, a time that is none and so many devices, with a ValueError."""
    if minutes is not None and not minutes > 0:
        raise ValueError(f"minutes is {minutes}: give a number above 0")
    try:
        device_type = torch.device(device).type
    except RuntimeError:
        raise ValueError(f"device is {device!r}; wanted cpu or cuda") from None
    if device_type not in ("cpu", "cuda"):
        raise ValueError(f"device is {device!r}; wanted cpu or cuda")
    if device_type == "cuda" and not torch.cuda.is_available():
        raise ValueError("no CUDA device is here: train on cpu")
    if devices > 1 and device not in ("cpu", "cuda"):
        raise ValueError(f"device is {device}, a single one, and devices is {devices}: give cpu or cuda")
    if device_type == "cuda" and devices > torch.cuda.device_count():
        raise ValueError(f"devices is {devices}, and the CUDA devices here are {torch.cuda.device_count()}: give fewer")
