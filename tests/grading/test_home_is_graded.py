"""What is checked at home is what is graded: the same points for the same file, however it was left."""

import itertools
import json
import random

import mangled
import nbformat
import pytest
from sandbox_tools import NEEDS_SANDBOX
from small_class import ROOT

from softlookup_course.at_home.as_released import as_released
from softlookup_course.at_home.validate import rebuilt_at, rehearse
from softlookup_course.samples.handins import answers, filled
from softlookup_grader.course.notebooks import BadNotebook, cells_in, grade_id, is_graded, is_solution
from softlookup_grader.data.work import Limits, RunSettings
from softlookup_grader.judging.examine import SandboxExaminer
from softlookup_grader.judging.rebuild import rebuild
from softlookup_judge.authoring import draw_variants, make_release, read_solution
from softlookup_judge.checking.catalogue import STANDARD

CHAPTERS = ("04_one_head", "08_decoder_and_masks", "10_inference")
MORE = 1
"""How many notebooks of each kind: with the chapters and two courses some two hundred in all."""


class ReleasedChapter:
    """A chapter as a course released it, filled in rightly."""

    def __init__(self, name, seed):
        self.name, self.source = name, read_solution(ROOT / "solutions" / f"{name}.py", draw_variants(seed))
        self.release = make_release(self.source)
        self.blank = {grade_id(cell): cell.source for cell in self.release.cells}
        self.right = json.loads(nbformat.writes(filled(self.release, answers(self.source))))
        for cell in self.right["cells"]:
            cell["source"] = "".join(cell["source"])
        self.best = sum(c.metadata.nbgrader.points for c in self.release.cells if is_graded(c) and not is_solution(c))

    def at_home(self, raw, folder):
        """The notebook that a check at home runs, and what it says beforehand."""
        path = folder / "mine.ipynb"
        made = as_released(cells_in(raw, path.name), path, STANDARD)
        assert made is not None
        return rebuild(made, raw, path.name)


@pytest.fixture(scope="module", params=list(itertools.product(CHAPTERS, (None, "a word of ours"))), ids=str)
def chapter(request):
    return ReleasedChapter(*request.param)


@pytest.fixture(scope="module")
def examiner(chapter):
    limits = Limits(cell_s=10, answer_s=10)
    with SandboxExaminer(
        RunSettings.single(chapter.name, nbformat.writes(chapter.release), 7, limits=limits)
    ) as examiner:
        yield examiner


def sources(notebook):
    named = [(grade_id(cell), cell.source) for cell in notebook.cells if grade_id(cell)]
    return [pair for pair in named if not pair[0].endswith("-library")]


@NEEDS_SANDBOX
@pytest.mark.one_in(12)
def test_mangled_notebooks_earn_at_home_what_they_earn_graded(chapter, examiner, tmp_path):
    rng = random.Random(f"{chapter.name} {chapter.best}")
    seen = {}
    for how, number in itertools.product((*mangled.HARMLESS, *mangled.COSTS), range(MORE)):
        raw = mangled.mangled(chapter.right, how, rng, chapter.blank.__getitem__)
        home, graded = chapter.at_home(raw, tmp_path), rebuild(chapter.release, raw, "x.ipynb")
        what = f"{how.__name__} {number}: {home.remarks}"
        assert sources(home.notebook) == sources(graded.notebook), what
        assert home.remarks == graded.remarks, what
        key = tuple(sources(graded.notebook))
        if key not in seen:
            marks = examiner.examine("somebody", raw).marks
            seen[key] = sum(mark.points or 0 for mark in marks if mark.verdict != "by hand")
        if how in mangled.HARMLESS:
            assert seen[key] == chapter.best, what
            assert how not in mangled.UNSEEN or not home.remarks, what
        else:
            assert seen[key] < chapter.best and home.remarks, what


@pytest.mark.slow
@NEEDS_SANDBOX
@pytest.mark.parametrize("name", [CHAPTERS[0], pytest.param(CHAPTERS[1], marks=pytest.mark.slow)])
def test_a_fresh_kernel_and_the_grader_give_the_same_points(name, tmp_path):
    """Some right, some wrong, some blank; a constant in a cell of one's own; all marks lost."""
    chapter, rng = ReleasedChapter(name, "another word"), random.Random(5)
    spoiled = mangled.answers(chapter.right)
    spoiled[1]["source"] = spoiled[1]["source"].replace("return ", "return 2 * ", 1)
    spoiled[-1]["source"] = chapter.blank[mangled.named(spoiled[-1])]
    mangled.constant_in_a_cell_of_ones_own(chapter.right, rng)
    mangled.no_metadata_and_no_ids(chapter.right, rng)
    path = tmp_path / "mine.ipynb"
    path.write_text(json.dumps(chapter.right))
    home = rehearse(path)
    with SandboxExaminer(RunSettings.single(name, nbformat.writes(chapter.release), 7)) as examiner:
        graded = examiner.examine("somebody", path.read_bytes())
    marks = {mark.task: mark.points for mark in graded.marks if mark.verdict != "by hand"}
    assert {outcome.task: outcome.points for outcome in home.outcomes} == marks
    assert 0 < sum(marks.values()) < chapter.best and set(home.remarks) <= set(graded.remarks)
    assert any("`HALF`" in remark and "`WHOLE`" in remark for remark in home.remarks)


@pytest.fixture(scope="module")
def one_head():
    return ReleasedChapter(CHAPTERS[0], None)


@pytest.mark.parametrize("how", mangled.AS_FILES)
def test_a_file_in_another_encoding_is_read_and_the_marks_of_a_merge_are_named(one_head, how, tmp_path):
    text = json.dumps(one_head.right, indent=1).encode()
    graded = rebuild(one_head.release, how(text), "x.ipynb")
    assert one_head.at_home(how(text), tmp_path).remarks == graded.remarks == ()
    with pytest.raises(BadNotebook, match=r"x.ipynb holds the marks of a Git merge \(line \d+\): keep one"):
        cells_in(mangled.merge_in_the_file(text), "x.ipynb")


def test_what_a_check_at_home_cannot_know_is_said(tmp_path):
    chapter = ReleasedChapter(CHAPTERS[0], None)
    mix = next(cell for cell in chapter.right["cells"] if mangled.named(cell) == "04-mix")
    chapter.right["cells"].append(mangled.code(mix["source"], id="again"))
    mix["source"] = f"import einops\n\n{mix['source']}"
    path = tmp_path / "mine.ipynb"
    path.write_text(json.dumps(chapter.right))
    rebuilt = rebuilt_at(path)
    remarks = rebuilt.remarks
    assert len(rebuilt.notebook.cells) == len(chapter.release.cells)
    for says in (
        "imports einops, which the grader may not have",
        "was taken from its own cell. Another one stands in cell",
    ):
        assert any(f"The answer to 04.mix {says}" in remark for remark in remarks)


def test_a_notebook_under_the_name_of_another_chapter_is_named(one_head, tmp_path):
    path = tmp_path / f"{one_head.name}.ipynb"
    path.write_text(json.dumps(ReleasedChapter(CHAPTERS[1], None).right))
    remark = rebuilt_at(path).remarks[0]
    assert remark == f"The file is called {path.name} and holds the notebook of chapter 08: hand it in for that one."
    with pytest.raises(BadNotebook, match="is the notebook of assignment 08_decoder_and_masks: hand in that of this"):
        rebuild(one_head.release, path.read_bytes(), path.name)


def test_a_notebook_without_its_checks_is_still_the_course_s(tmp_path):
    chapter = ReleasedChapter(CHAPTERS[0], None)
    chapter.right["cells"] = [cell for cell in chapter.right["cells"] if not mangled.named(cell).endswith("-check")]
    raw = json.dumps(chapter.right).encode()
    assert sources(chapter.at_home(raw, tmp_path).notebook) == sources(rebuild(chapter.release, raw, "x").notebook)


ASSIGNMENTS = sorted(path.stem for path in (ROOT / "solutions").glob("[0-9][0-9]_*.py"))


@NEEDS_SANDBOX
@pytest.mark.one_in(14)
@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_published_answers_earn_everything_when_graded(name):
    chapter = ReleasedChapter(name, None)
    for seed in (1, 2):
        with SandboxExaminer(RunSettings.single(name, nbformat.writes(chapter.release), seed)) as examiner:
            graded = examiner.examine("somebody", json.dumps(chapter.right).encode())
        lost = {mark.task: mark.verdict for mark in graded.marks if mark.verdict not in ("pass", "by hand")}
        assert not lost, seed
