"""Questions on a learner's own answers, at home: the code runs in this process, as a check in a notebook does."""

import contextlib
import io
import os
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat

from softlookup.checking.catalogue import here
from softlookup.checking.inside.probe import Clock, TimeIsUp, run
from softlookup.checking.judge import judge
from softlookup.checking.local import LocalStudent
from softlookup.checking.questions import questions_at_home
from softlookup.grading.as_released import as_released
from softlookup.grading.course.notebooks import cells_in, read_file
from softlookup.grading.data.work import RunSettings
from softlookup.grading.judging.rebuild import rebuild
from softlookup.grading.judging.zygotes import asked_by
from softlookup.grading.viva.choosing import choose
from softlookup.grading.viva.questions import VivaQuestion
from softlookup.grading.viva.trials import (
    Program,
    Trial,
    agreed,
    checks_by_task,
    generator,
    is_check,
    outcome_of,
    plans_of,
    tried,
    verdict_of,
)
from softlookup.grading.viva.vivas import SPARE, explained, questions_in_any_order, with_letters

_CELL_S, _ANSWER_S = 60.0, 3.0


def home_questions(path: Path, count: int, seed: int) -> list[VivaQuestion]:
    """Draw questions on the answers of a notebook that pass.

    Args:
        path: The notebook; what of it is graded is run here, in this process.
        count: How many questions, each on another task as long as there are so many.
        seed: Draws them.

    Returns:
        So many questions, or fewer; none where no answer is right, or there are no questions on its tasks.

    Raises:
        BadNotebook: If the file is no notebook.
    """
    raw = read_file(path)
    release = as_released(cells_in(raw, path.name), path, here())
    if release is None:
        return []
    cells = rebuild(release, raw, path.name).notebook.cells
    checks = checks_by_task(asked_by(release, here()))
    settings = RunSettings(path.stem, nbformat.writes(release), seed)
    with _at(path.resolve().parent):
        runner = HomeRunner()
        for cell in cells:
            if cell.cell_type == "code" and not is_check(cell):
                runner.execute(cell.source, _CELL_S)
        trials: list[Trial] = []
        for plan in plans_of(cells, checks, settings, "", versions=False):
            trial = tried(plan, runner)
            trials += [trial] if trial else []
            if len(trials) == count + SPARE:
                break
    rng = generator(settings, "", 1)
    chosen = choose(questions_in_any_order(trials, rng), count)
    return [explained(trials, question) for question in with_letters(chosen, rng)]


@contextlib.contextmanager
def _at(folder: Path) -> Iterator[None]:
    """Work in a folder, and let the code there neither print nor warn."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
    finally:
        os.chdir(before)


class HomeRunner:
    """Runs programs in this process: for a learner's own code on the learner's own machine, and for nothing else."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def execute(self, source: str, seconds: float) -> bool:
        """Run a cell; say whether it came to its end."""
        try:
            with Clock(seconds).running():
                exec(compile(source, "<cell>", "exec"), self.names)
        except KeyboardInterrupt:
            raise
        except BaseException:  # whatever the code does: such a cell has no answer
            return False
        return True

    def ran(self, plan: Trial, program: Program, judged: bool) -> Program | None:
        """Run one program, each input twice; None where it does not come to its end."""
        task, variant = plan.check.task, plan.check.variant
        if not self.execute(program.source, _ANSWER_S):
            return None
        function = self.names.get(task.name)
        if not callable(function):
            return None
        results = 1 if program.name else len(task.returns)
        try:
            with Clock(_ANSWER_S).running():
                answers = [run(function, case, results, task.barred) for case in (*plan.cases, *plan.cases)]
            outcomes = [outcome_of(answer) for answer in answers]
            both = agreed(outcomes[: len(plan.cases)], outcomes[len(plan.cases) :])
            wrong = None
            if judged:
                drawn = questions_at_home(variant)
                student = LocalStudent(variant, function, {task.id: variant}, Clock(_ANSWER_S))
                result = judge(variant, student, task_questions=drawn, names=False)
                wrong = verdict_of(result, drawn.cases)
        except TimeIsUp:
            return None
        return replace(program, outcomes=both, wrong=wrong)
