"""The learning rate of the paper for any width and warm-up, and measured runs at several peaks."""

from collections.abc import Mapping
from statistics import mean
from typing import Any

import traitlets

from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

WIDTHS = (64, 128, 256, 512, 1024, 2048, 4096)
WARMUPS = (250, 500, 1000, 2000, 4000, 8000, 16000)
LAST_STEP = 20_000


def describe(d_model: int, warmup: int, step: int) -> dict[str, float]:
    """Work out the numbers that the figure shows for one schedule of width D: a number below 1 is a ValueError.

    rate, the learning rate of the step, the first being 1; peak, the highest rate of all. ``warmup`` is steps of the
    rise.
    """
    from softlookup.model.whole.schedules import noam  # the model loads torch

    return {"rate": noam(step, d_model, warmup=warmup), "peak": noam(warmup, d_model, warmup=warmup)}


def curves(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Average the runs of ``softlookup bench schedules`` over their seeds.

    For each warm-up and peak: warmup, peak, the mean ``curve``, the mean ``loss`` on unseen sentences (None where a run
    ended without a number). A ValueError if the record holds no runs, or a run is missing.
    """
    if not record.get("runs"):
        raise ValueError("the record holds no runs; wanted what `softlookup bench schedules` writes")
    described = []
    for warmup in record["warmups"]:
        for peak in record["peaks"]:
            runs = [run for run in record["runs"] if (run["warmup"], run["peak"]) == (warmup, peak)]
            if not runs:
                raise ValueError(f"there is no run with a warm-up of {warmup} and a peak of {peak:g}")
            losses = [run["loss"] for run in runs]
            lost = any(loss is None for loss in losses)
            shared = zip(*(run["curve"] for run in runs), strict=False)
            curve = [round(mean(points), 4) for points in shared]
            described.append({"warmup": warmup, "peak": peak, "curve": curve, "loss": None if lost else mean(losses)})
    return described


def static_table(described: list[dict[str, Any]]) -> str:
    """Write the final losses as HTML, for readers whose browser runs no script."""
    rows = (
        (run["warmup"], f"{run['peak']:g}", "no number" if run["loss"] is None else f"{run['loss']:.2f}")
        for run in described
    )
    sentence = (
        "<p>Loss on unseen sentences at the end of each run. With scripts switched on, you can "
        "try learning-rate schedules here.</p>"
    )
    return sentence + plain_table(("warm-up", "peak", "loss"), rows)


class RateExplorer(InteractiveFigure):
    """Choose width and warm-up to see the learning rate; choose a peak to see how a run went.

    The script computes the schedule, since any step can be asked for; tests compare it with ``describe``. The record is
    of ``softlookup bench schedules``; the runs of ``peak``, None for the middle one, are shown first. A ValueError if
    the record holds no runs, or one is missing; or no run has the peak.
    """

    runs = traitlets.List(traitlets.Dict(), help="warmup, peak, curve, loss").tag(sync=True)
    every = traitlets.Int(10, help="steps between two points of a curve").tag(sync=True)
    widths = traitlets.List(traitlets.Int(), help="widths to choose from").tag(sync=True)
    warmups = traitlets.List(traitlets.Int(), help="warm-ups to choose from").tag(sync=True)
    first = traitlets.Float(help="the peak whose runs are shown first").tag(sync=True)
    last = traitlets.Int(LAST_STEP, help="the last step of the schedule's picture").tag(sync=True)

    def __init__(self, record: Mapping[str, Any], *, peak: float | None = None) -> None:
        described = curves(record)
        peaks = record["peaks"]
        if peak is not None and peak not in peaks:
            raise ValueError(f"no run has a peak of {peak:g}; there are {', '.join(f'{p:g}' for p in peaks)}")
        super().__init__(
            runs=described,
            every=int(record["kept_every"]),
            widths=list(WIDTHS),
            warmups=list(WARMUPS),
            first=float(peaks[len(peaks) // 2] if peak is None else peak),
            fallback=static_table(described),
        )
