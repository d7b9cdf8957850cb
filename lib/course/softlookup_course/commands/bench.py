"""The command that runs benchmarks. Each imports what it needs when it runs."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import click

from softlookup_command.shared import EXISTING_FOLDER, FILE, Refusal, refuse
from softlookup_course.commands.shared import beside, checkout, sources


class _Name(click.ParamType):
    """A benchmark's name. Only a checkout knows which there are."""

    name = "name"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        try:
            return "{" + "|".join(beside("benchmarks").BENCHES) + "}"
        except Refusal:
            return "NAME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return click.Choice(list(beside("benchmarks").BENCHES)).convert(value, param, ctx)


@click.command()
@click.argument("name", type=_Name())
@click.argument("answers", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--json", "file", type=FILE, help="Write the measurements here; with --for, read them.")
@click.option(
    "--data", type=EXISTING_FOLDER, help="training and int8: a folder of pairs; writer: of the training text."
)
@click.option(
    "--device",
    default="cpu",
    show_default=True,
    help="All that measure a model's speed (training, gpt2, launches, roofline ...): cpu or cuda.",
)
@click.option("--weights", type=FILE, help="digits and pairs: weights of the median run.")
@click.option(
    "--peers", type=EXISTING_FOLDER, help="judges: a folder with the other judges, as the page on checkers says."
)
@click.option(
    "--for", "judge", metavar="JUDGE", help="judges: print what was found of a peer, as Markdown for its authors."
)
@click.option("--quick", is_flag=True, help="all but checks and refinement: a small run, to see that it works.")
def bench(
    name: str,
    answers: tuple[Path, ...],
    file: Path | None,
    data: Path | None,
    device: str,
    weights: Path | None,
    peers: Path | None,
    judge: str | None,
    quick: bool,
) -> None:
    """Measure NAME against a peer.

    The results are ratios, measured in one run on the same work. It needs a clone of the course's repository.
    ANSWERS goes with strangers: files of answers to judge, or folders of them.
    """
    if answers and name != "strangers":
        refuse(f"{answers[0]} goes with strangers, and not with {name}: leave it out")
    if judge is not None:
        if name != "judges":
            refuse(f"--for goes with judges, and not with {name}: leave it out")
        _tell(judge, file)
        return
    options = {
        "answers": lambda: answers,
        "root": checkout,
        "peers": lambda: peers,
        "sources": lambda: sources(checkout()),
        "config": lambda: checkout() / "nbgrader_config.py",
        "folder": lambda: data,
        "device": lambda: device,
        "quick": lambda: quick,
        "weights": lambda: weights,
        "runs_file": lambda: file and file.with_name(file.name + ".part"),
        "say": lambda: partial(click.echo, err=True),
    }
    benchmarks = beside("benchmarks")
    try:
        measured = benchmarks.run(name, options)
    except benchmarks.refusals(name) as missing:
        refuse(str(missing))
    if file is not None:
        file.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
    if name == "strangers":
        _show_chapters(measured["chapters"] | {"in all": measured["together"]})
    else:
        _show_record(measured)


def _tell(judge: str, file: Path | None) -> None:
    """Print what a record of judges says of one peer; the committed one where no other is named."""
    path = file or checkout() / "book" / "measured" / "judges.json"
    if not path.is_file():
        refuse(f"{path} is not there: run `softlookup bench judges --json FILE` first, and name that FILE")
    try:
        click.echo(
            beside("benchmarks.judges.issue").issue(json.loads(path.read_text(encoding="utf-8")), judge), nl=False
        )
    except ValueError as wrong:
        refuse(str(wrong))


def _show_chapters(rows: dict[str, dict[str, Any]]) -> None:
    """Show what the judge made of the answers to each chapter."""
    from rich.table import Table

    from softlookup_grader.reports.table import terminal

    columns = ("wrong", "wrong_passed", "right", "right_refused", "named", "named_share", "names_known", "false_names")
    table = Table("chapter", *(column.replace("_", " ") for column in columns))
    for chapter, counts in rows.items():
        table.add_row(chapter, *("" if counts[column] is None else str(counts[column]) for column in columns))
    terminal().print(table)


def _show_record(measurement: dict[str, Any]) -> None:
    """Show a record's numbers and words as a table; lists are for the file."""
    from rich.table import Table

    from softlookup_grader.reports.table import terminal

    table = Table("what", "value")

    def add(values: dict[str, Any], before: str) -> None:
        for key, value in values.items():
            if isinstance(value, dict):
                add(value, f"{before}{key}: ")
            elif not isinstance(value, list | tuple):
                table.add_row(before + str(key), f"{value:.4g}" if isinstance(value, float) else str(value))

    add(measurement, "")
    terminal().print(table)


COMMANDS = (bench,)
