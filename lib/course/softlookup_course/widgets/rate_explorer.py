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
    """Compute the learning rate of a step, from 1, and the highest rate of all, of the schedule of width D."""
    from softlookup.model.whole.schedules import noam  # the model loads torch

    return {"rate": noam(step, d_model, warmup=warmup), "peak": noam(warmup, d_model, warmup=warmup)}


def curves(measured: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Average the runs of ``softlookup bench schedules`` over their seeds; a loss is None where a run diverged."""
    means = []
    for warmup in measured["warmups"]:
        for peak in measured["peaks"]:
            runs = [run for run in measured["runs"] if (run["warmup"], run["peak"]) == (warmup, peak)]
            losses = [run["loss"] for run in runs]
            lost = any(loss is None for loss in losses)
            shared = zip(*(run["curve"] for run in runs), strict=False)
            losses_by_step = [round(mean(points), 4) for points in shared]
            means.append(
                {"warmup": warmup, "peak": peak, "curve": losses_by_step, "loss": None if lost else mean(losses)}
            )
    return means


def static_table(means: list[dict[str, Any]]) -> str:
    """Write the final losses as HTML, for readers whose browser runs no script."""
    rows = (
        (run["warmup"], f"{run['peak']:g}", "no number" if run["loss"] is None else f"{run['loss']:.2f}")
        for run in means
    )
    sentence = (
        "<p>Loss on unseen sentences at the end of each run. With scripts switched on, you can "
        "try learning-rate schedules here.</p>"
    )
    return sentence + plain_table(("warm-up", "peak", "loss"), rows)


class RateExplorer(InteractiveFigure):
    """Choose width and warm-up to see the learning rate; choose a peak to see how a run went."""

    runs = traitlets.List(traitlets.Dict(), help="warmup, peak, curve, loss").tag(sync=True)
    every = traitlets.Int(10, help="steps between two points of a curve").tag(sync=True)
    widths = traitlets.List(traitlets.Int(), list(WIDTHS), help="widths to choose from").tag(sync=True)
    warmups = traitlets.List(traitlets.Int(), list(WARMUPS), help="warm-ups to choose from").tag(sync=True)
    first = traitlets.Float(help="the peak whose runs are shown first").tag(sync=True)
    last = traitlets.Int(LAST_STEP, help="the last step of the schedule's picture").tag(sync=True)

    def __init__(self, measured: Mapping[str, Any], *, peak: float | None = None) -> None:
        means = curves(measured)
        peaks = measured["peaks"]
        super().__init__(
            runs=means,
            every=int(measured["kept_every"]),
            first=float(peaks[len(peaks) // 2] if peak is None else peak),
            fallback=static_table(means),
        )
