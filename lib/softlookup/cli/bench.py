"""The command that runs benchmarks. Each imports what it needs when it runs."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import click

from softlookup.bench import BENCHES, refusals, run
from softlookup.cli.shared import checkout, refuse, sources


@click.command()
@click.argument(
    "name",
    type=click.Choice(list(BENCHES)),
)
@click.option("--json", "file", type=click.Path(path_type=Path, dir_okay=False), help="Write the measurements here.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="training and int8: a folder of pairs; writer: of the training text.",
)
@click.option(
    "--figure", type=click.Path(path_type=Path, dir_okay=False), help="decoding: draw the cost of a step here."
)
@click.option(
    "--device",
    default="cpu",
    show_default=True,
    help="training, decoding, layers, norms, prefill, roofline, batching and long-attention: cpu or cuda.",
)
@click.option(
    "--weights", type=click.Path(path_type=Path, dir_okay=False), help="digits and pairs: weights of the median run."
)
@click.option("--quick", is_flag=True, help="all but checks and refinement: a small run, to see that it works.")
def bench(
    name: str, file: Path | None, data: Path | None, figure: Path | None, device: str, weights: Path | None, quick: bool
) -> None:
    """Measure NAME against a peer.

    The results are ratios, measured in one run on the same work.
    """
    if figure is not None and figure.suffix not in (".svg", ".png"):
        refuse(f"{figure} ends in {figure.suffix!r}: name a file that ends in .svg or .png")
    options = {
        "root": checkout,
        "sources": lambda: sources(checkout()),
        "config": lambda: checkout() / "nbgrader_config.py",
        "folder": lambda: data,
        "device": lambda: device,
        "quick": lambda: quick,
        "weights": lambda: weights,
        "kept": lambda: file and file.with_name(file.name + ".part"),
        "say": lambda: partial(click.echo, err=True),
    }
    try:
        measured = run(name, options)
    except refusals(name) as missing:
        refuse(str(missing))
    if figure is not None and name == "decoding":
        from softlookup.figures.decoding import save_step_cost

        save_step_cost(measured["steps"], figure)
    if file is not None:
        file.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
    _show_record(measured)


def _show_record(record: dict[str, Any]) -> None:
    """Show a record's numbers and words as a table; lists are for the file."""
    from rich.table import Table

    from softlookup.grading.reports.table import terminal

    table = Table("what", "value")

    def add(values: dict[str, Any], before: str) -> None:
        for key, value in values.items():
            if isinstance(value, dict):
                add(value, f"{before}{key}: ")
            elif not isinstance(value, list | tuple):
                table.add_row(before + str(key), f"{value:.4g}" if isinstance(value, float) else str(value))

    add(record, "")
    terminal().print(table)


COMMANDS = (bench,)
