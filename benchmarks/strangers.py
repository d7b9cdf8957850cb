"""What the judge makes of wrong and right answers that people wrote: ``softlookup bench strangers``.

A set of answers is files of percent cells. A cell begins with a line that says what is known of the answer, and the
rest is the notebook's cell as a student would leave it::

    # %% 04.scale | wrong | divides by the width in place of its square root | variant=3, names=divided-by-width
    # %% 04.scale | right | multiplies with a power

``variant`` is 0 where it is left out. ``names`` are the mistakes that are true of the answer, none after ``names=``;
without it, names are counted and not judged.
"""

import io
import linecache
import multiprocessing
import os
import re
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, fields
from itertools import groupby
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.harness import benchmark
from softlookup_judge.checking.catalogue import STANDARD
from softlookup_judge.home import Checker
from softlookup_judge.mistakes.habits import HABIT

ANSWERS = Path(__file__).with_suffix("")
"""The set of answers that is judged where no other is named."""

LIMIT_S = 120.0
"""How long one verdict may take; the check stops the answer itself much earlier."""

_HEAD = re.compile(r"^# %%(?P<fields>.*)$", re.MULTILINE)


@dataclass(frozen=True)
class StrangerAnswer:
    """One answer of a set.

    Attributes:
        place: The file and the line in which it begins.
        task: The task that it answers.
        right: Whether it is right.
        line: What is wrong with it, or how it differs.
        source: Its cell.
        variant: Which variant of the task it answers.
        names: The mistakes that are true of it; None where nobody says.
    """

    place: str
    task: str
    right: bool
    line: str
    source: str
    variant: int = 0
    names: tuple[str, ...] | None = None


@dataclass(frozen=True)
class StrangerVerdict:
    """What the check made of one answer.

    Attributes:
        answer: The answer.
        verdict: One of ``VERDICTS``, or "none" where the check came to no end.
        points: What it earned.
        diagnosis: The mistakes that were named.
        text: The verdict in words.
        seconds: How long it took.
    """

    answer: StrangerAnswer
    verdict: str
    points: float
    diagnosis: tuple[str, ...]
    text: str
    seconds: float

    @property
    def false_names(self) -> tuple[str, ...]:
        """The names that are not true of the answer, as far as that is known; of a right answer all of them."""
        true = () if self.answer.right else self.answer.names
        return () if true is None else tuple(name for name in self.diagnosis if name not in true)

    @property
    def shortfalls(self) -> tuple[str, ...]:
        """In what the verdict fell short."""
        passed = self.verdict == "pass"
        facts = {
            "wrong answer passed": passed and not self.answer.right,
            "right answer refused": not passed and self.answer.right,
            "false name": bool(self.false_names),
            "no verdict": self.verdict in ("none", "unknown"),
        }
        return tuple(what for what, is_so in facts.items() if is_so)


@dataclass(frozen=True)
class StrangerTally:
    """The verdicts on a chapter's answers, or on all, in numbers.

    Attributes:
        wrong: Wrong answers.
        wrong_passed: Those that passed.
        right: Right answers.
        right_refused: Those that did not pass.
        named: Rejected wrong answers with a name.
        named_share: Their share of all rejected wrong answers; None where there are none.
        names_known: Rejected wrong answers of which it is known which names are true.
        false_names: Answers with a name that is not true.
    """

    wrong: int
    wrong_passed: int
    right: int
    right_refused: int
    named: int
    named_share: float | None
    names_known: int
    false_names: int


@dataclass(frozen=True)
class StrangersMeasured:
    """The whole measurement: all answers together, by chapter, and each verdict."""

    ratio: float
    ratio_of: str
    together: StrangerTally
    median_s: float
    max_s: float
    chapters: dict[str, StrangerTally]
    verdicts: list[dict[str, Any]]


def read_answers(paths: Iterable[Path]) -> list[StrangerAnswer]:
    """Read sets of answers, in files or folders of files that end in .py or .txt.

    A ValueError if a cell does not begin as it has to, or there is no answer.
    """
    files = [
        file
        for path in paths
        for file in (sorted([*path.glob("*.py"), *path.glob("*.txt")]) if path.is_dir() else [path])
    ]
    answers = [answer for file in files for answer in _answers_of(file)]
    if not answers:
        raise ValueError("there is no answer in it: each begins with a line `# %% TASK | wrong | WHY`")
    return answers


def _answers_of(file: Path) -> Iterator[StrangerAnswer]:
    text = file.read_text(encoding="utf-8")
    heads = list(_HEAD.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=False):  # an empty file has an end and no head
        place = f"{file.name}:{text.count(chr(10), 0, head.start()) + 1}"
        task, side, line, *options = [field.strip() for field in head["fields"].split(" | ")] + [""] * 2
        pairs = [option.strip().partition("=") for field in options for option in field.split(",") if option.strip()]
        facts = {key.strip(): value for key, _, value in pairs}
        if side not in ("wrong", "right") or not line or not facts.keys() <= {"variant", "names"}:
            raise ValueError(
                f"{place} begins with {head[0]!r}: write `# %% TASK | wrong | WHY` or `# %% TASK | right | HOW`, "
                "and behind it, where needed, `| variant=3, names=one-name another-name`"
            )
        names = tuple(facts["names"].split()) if "names" in facts else None
        source = text[head.end() : end].strip() + "\n"
        yield StrangerAnswer(place, task, side == "right", line, source, int(facts.get("variant", 0)), names)


def submitted(answer: StrangerAnswer) -> Any:
    """What a student would hand to ``check``: the answer's cell is run below the published cells above it."""
    task = STANDARD.task(answer.task)
    space: dict[str, Any] = {"__name__": "__main__"}
    for name, source in task.notebook.cells.items():
        if name == task.slug:
            break
        _run_cell(name, source, space)
    _run_cell(task.slug, answer.source, space)
    return space[task.name]


def _run_cell(name: str, source: str, space: dict[str, Any]) -> None:
    """Run a cell as a notebook does: its lines can be read by tracebacks and by kernels."""
    file = f"<submission {name}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    exec(compile(source, file, "exec"), space)


def verdict_on(answer: StrangerAnswer) -> StrangerVerdict:
    """Judge one answer in this process, as at home."""
    start = time.perf_counter()
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        try:
            result = Checker(STANDARD).check(answer.task, submitted(answer), answer.variant)
        except Exception as error:  # its cell does not run, or it answers no task
            return StrangerVerdict(answer, "none", 0.0, (), f"{type(error).__name__}: {error}", 0.0)
    names = tuple(name.removeprefix(HABIT) for name in result.diagnosis)
    return StrangerVerdict(
        answer, result.verdict, result.points, names, result.text(), round(time.perf_counter() - start, 3)
    )


def verdicts_on(
    answers: Sequence[StrangerAnswer], workers: int | None = None, limit_s: float = LIMIT_S
) -> list[StrangerVerdict]:
    """Judge answers in processes of their own; those of one chapter share one, and what was computed for its tasks.

    None is as many processes at once as there are processors; after ``limit_s`` seconds without a verdict one is
    stopped.
    """
    ordered = sorted(answers, key=lambda answer: answer.task)
    groups = [list(group) for _, group in groupby(ordered, key=_chapter)]
    with ThreadPoolExecutor(workers or len(os.sched_getaffinity(0))) as pool:
        return [verdict for verdicts in pool.map(lambda group: _apart(group, limit_s), groups) for verdict in verdicts]


def _chapter(answer: StrangerAnswer) -> str:
    return answer.task.partition(".")[0]


def _apart(remaining: list[StrangerAnswer], limit_s: float) -> list[StrangerVerdict]:
    """Judge some answers in one process; a new process goes on behind an answer that comes to no end."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "softlookup_judge.home"])
    verdicts: list[StrangerVerdict] = []
    while len(verdicts) < len(remaining):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_send, args=(remaining[len(verdicts) :], sender))
        process.start()
        sender.close()
        try:
            while len(verdicts) < len(remaining) and receiver.poll(limit_s):
                verdicts.append(receiver.recv())
        except EOFError:
            pass
        process.kill()
        process.join()
        if len(verdicts) < len(remaining):
            text = f"the check ended without a verdict, or took more than {limit_s:g} s"
            verdicts.append(StrangerVerdict(remaining[len(verdicts)], "none", 0.0, (), text, limit_s))
    return verdicts


def _send(answers: list[StrangerAnswer], sender: Connection) -> None:
    import torch

    torch.set_num_threads(1)
    for answer in answers:
        sender.send(verdict_on(answer))


def tally(verdicts: Sequence[StrangerVerdict]) -> StrangerTally:
    """Count verdicts."""
    wrong = [each for each in verdicts if not each.answer.right]
    right = [each for each in verdicts if each.answer.right]
    rejected = [each for each in wrong if each.verdict != "pass"]
    named = sum(bool(each.diagnosis) for each in rejected)
    return StrangerTally(
        wrong=len(wrong),
        wrong_passed=len(wrong) - len(rejected),
        right=len(right),
        right_refused=sum(each.verdict != "pass" for each in right),
        named=named,
        named_share=round(named / len(rejected), 3) if rejected else None,
        names_known=sum(each.answer.names is not None for each in rejected),
        false_names=sum(bool(each.false_names) for each in verdicts),
    )


def _row(each: StrangerVerdict) -> dict[str, Any]:
    """A verdict as it is kept in the record."""
    row = {field.name: getattr(each.answer, field.name) for field in fields(StrangerAnswer) if field.name != "source"}
    row |= {field.name: getattr(each, field.name) for field in fields(StrangerVerdict) if field.name != "answer"}
    return row | {"shortfalls": each.shortfalls, "false_names": each.false_names}


@benchmark("strangers")
def bench_strangers(
    answers: Sequence[Path] = (), quick: bool = False, say: Callable[[str], None] = lambda line: None
) -> StrangersMeasured:
    """Judge a set of answers, in files or folders of them, as at home; none means the course's set.

    ``quick`` judges one answer to each task of the first chapter alone; ``say`` gets each verdict that fell short, in a
    line. ``ratio`` is (wrong answers that passed and right ones that did not) / (all answers). A ValueError if a cell
    does not begin as it has to, or there is no answer.
    """
    every = read_answers(answers or (ANSWERS,))
    if quick:
        every = list({answer.task: answer for answer in every if _chapter(answer) == _chapter(every[0])}.values())
    verdicts = verdicts_on(every)
    for each in verdicts:
        if each.shortfalls:
            names = f" ({', '.join(each.false_names)})" if each.false_names else ""
            say(f"{each.answer.place} {each.answer.task}: {', '.join(each.shortfalls)}{names}: {each.answer.line}")
    together = tally(verdicts)
    by_chapter = groupby(verdicts, key=lambda each: _chapter(each.answer))
    return StrangersMeasured(
        ratio=(together.wrong_passed + together.right_refused) / len(verdicts),
        ratio_of="wrong answers that passed and right ones that were refused / all answers",
        together=together,
        median_s=statistics.median(each.seconds for each in verdicts),
        max_s=max(each.seconds for each in verdicts),
        chapters={chapter: tally(list(group)) for chapter, group in by_chapter},
        verdicts=[_row(each) for each in verdicts],
    )
