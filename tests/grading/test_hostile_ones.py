"""The hostile hand-ins: each is what it says it is. Nothing that they hold is run here."""

import ast
import base64
import io
import json
import math
import re
import zipfile
import zlib
from collections import Counter
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from small_class import NAME, ROOT

from attacks import ROWS, HostileHandIn, answering, hostile_ones
from attacks.answering import stored_answers
from attacks.handin import ALL, EARLIER, OTHERS, Bench
from attacks.writing import write_hand_in
from softlookup_grader.course.notebooks import MAX_BYTES, grade_id
from softlookup_judge import tasks
from softlookup_judge.authoring import assignments, make_release, read_solution
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import HOME_SEED, draw

LEFT = re.compile(r"\$(NAME|TASK|SLUG|RIGHT|WRONG|LEAK|TRACE|POINTS|FULL|ALIKE)\b")
"""What an attack's template leaves to be filled in."""


@pytest.fixture(scope="module")
def bench(source):
    return Bench(source, make_release(source))


@pytest.fixture(scope="module")
def hostile(source):
    made = list(hostile_ones(source, make_release(source)))
    assert not [student for student, n in Counter(hand_in.student for hand_in in made).items() if n > 1]
    return {hand_in.student: hand_in for hand_in in made}


def cells_of(hand_in: HostileHandIn) -> list[dict]:
    return json.loads(hand_in.files[f"{NAME}.ipynb"])["cells"]


def text_of(hand_in: HostileHandIn, name: str) -> str:
    return next(cell["source"] for cell in cells_of(hand_in) if grade_id(cell) == name)


@pytest.mark.slow
def test_every_row_of_the_list_is_somebodys_and_there_are_more(hostile):
    rows = Counter(hand_in.row for hand_in in hostile.values())
    assert set(rows) == set(range(ROWS + 1))
    assert rows[0] >= 23, "attacks beyond the list"


def test_each_says_in_a_sentence_what_it_tries_and_deserves_points_of_every_task(hostile):
    best = {task.id: task.points for task in tasks(4)}
    for hand_in in hostile.values():
        assert 10 < len(hand_in.does) < 120 and "\n" not in hand_in.does and "$" not in hand_in.does, hand_in.student
        assert set(hand_in.deserves) == set(best), hand_in.student
        assert all(points in (0, best[name]) for name, points in hand_in.deserves.items()), hand_in.student
        if hand_in.stops:
            assert not any(hand_in.deserves.values()) and hand_in.remark, hand_in.student
        if hand_in.remark:
            for silence in ("", "Every case agrees with the reference."):
                assert not re.search(hand_in.remark, silence), hand_in.student


def test_target_is_called_by_no_other_answer(bench):
    assert bench.target in bench.tasks[1:-1]
    for task in bench.tasks:
        calls = (node.func for node in ast.walk(ast.parse(bench.right[task.slug])) if isinstance(node, ast.Call))
        assert task is bench.target or bench.target.name not in {getattr(func, "id", "") for func in calls}


def test_points_before_among_and_after_an_attack(source, bench):
    at = bench.tasks.index(bench.target)
    for earns, right in ((ALL, lambda i: True), (OTHERS, lambda i: i != at), (EARLIER, lambda i: i < at)):
        points = list(bench.deserves(earns, bench.target).values())
        assert [p > 0 for p in points] == [right(i) for i in range(len(points))]
    with pytest.raises(ValueError, match="has 0 tasks with a check; wanted two"):
        Bench(source, nbformat.v4.new_notebook())


def test_all_code_is_python_or_ipython_with_nothing_left_to_fill_in(hostile):
    ipython = TransformerManager()
    unsound = set()
    for hand_in in hostile.values():
        if hand_in.stops or hand_in.archive or not hand_in.student.startswith("attack-"):
            continue
        if any(word in hand_in.student for word in ("many-cells", "long-cell", "lines")):
            continue
        for cell in cells_of(hand_in):
            if cell["cell_type"] == "code":
                if not all(isinstance(line, str) for line in cell["source"]):
                    unsound.add(hand_in.student)
                    continue
                text = "".join(cell["source"])
                assert not LEFT.search(text), hand_in.student
                try:
                    ast.parse(ipython.transform_cell(text))
                except (SyntaxError, ValueError, MemoryError, RecursionError):
                    unsound.add(hand_in.student)
    names = ("deep-code", "null-in-cell", "source-kinds", "surrogates-in-cell")
    assert unsound == {f"attack-00-{name}" for name in names}


def test_an_attacks_notebook_is_honest_but_for_one_cell(bench, hostile):
    right = {grade_id(cell): cell.source for cell in bench.notebook().cells if grade_id(cell)}
    cells, target = cells_of(hostile["attack-05-do-execute"]), bench.target.slug
    assert [grade_id(cell) for cell in cells if cell["source"] != right.get(grade_id(cell), cell["source"])] == [target]
    text = text_of(hostile["attack-05-do-execute"], target)
    assert "do_execute" in text and bench.right[target] not in text
    extra = cells_of(hostile["attack-07-fake-module-extra"])
    names = [grade_id(cell) for cell in extra]
    added = next(n for n, cell in enumerate(extra) if "fake" in cell["source"])
    assert names[added] == "" and added < min(names.index(task.slug) for task in bench.tasks)


def test_whoever_is_stopped_in_the_middle_left_the_rest_blank(bench, hostile):
    released = {grade_id(cell): cell.source for cell in bench.release.cells}
    later = [task.slug for task in bench.tasks[bench.tasks.index(bench.target) + 1 :]]
    assert all(text_of(hostile["attack-25-os-exit"], name) == released[name] for name in later)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", assignments(ROOT))
def test_attacks_on_answers_can_be_made_for_every_assignment(name):
    source = read_solution(ROOT / "solutions" / f"{name}.py")
    assert len(list(answering.hand_ins(Bench(source, make_release(source), name)))) > 10


def test_stored_answers_are_those_of_the_home_questions(bench):
    arrays = json.loads(zlib.decompress(base64.b64decode(stored_answers(bench))))
    assert len(arrays) == len(draw(variant_of(bench.target), HOME_SEED))
    assert all(len(numbers) == math.prod(shape) for shape, numbers in arrays.values())


def test_files_are_as_broken_as_they_say(hostile):
    for student, hand_in in hostile.items():
        raw = hand_in.files.get(f"{NAME}.ipynb")
        if student.startswith("attack-40"):
            assert hand_in.stops
            if re.search("half|rubbish|empty|spaces|deep$|huge|utf", student):
                with pytest.raises((ValueError, RecursionError)):
                    json.loads(raw.decode("utf-8"))
    assert len(hostile["attack-43-large"].files[f"{NAME}.ipynb"]) > MAX_BYTES
    assert len(hostile["attack-43-large-outputs"].files[f"{NAME}.ipynb"]) < MAX_BYTES
    assert len(cells_of(hostile["attack-43-many-cells"])) > 100_000


def test_archives_hold_what_they_should_not(hostile):
    archives = {s: next(iter(hand_in.archive.values())) for s, hand_in in hostile.items() if hand_in.archive}
    assert len(archives) == 8 and all(hostile[s].row == 39 and not hostile[s].files for s in archives)
    names = zipfile.ZipFile(io.BytesIO(archives["attack-39-zip-outside"])).namelist()
    assert "../../gradebook.db" in names
    bomb = archives["attack-39-zip-bomb"]
    assert sum(i.file_size for i in zipfile.ZipFile(io.BytesIO(bomb)).infolist()) > 100 * len(bomb)
    with pytest.raises(zipfile.BadZipFile):
        zipfile.ZipFile(io.BytesIO(archives["attack-39-zip-broken"]))


def test_hand_ins_are_written_with_links_and_pipes_and_nothing_outside(tmp_path, hostile):
    for student in ("attack-38-links-beside", "attack-38-pipe", "attack-38-folder", "attack-34-shadow-softlookup"):
        write_hand_in(hostile[student], tmp_path / student / NAME)
    assert (tmp_path / "attack-38-links-beside" / NAME / "all").readlink() == Path("../../..")
    assert (tmp_path / "attack-38-pipe" / NAME / f"{NAME}.ipynb").is_fifo()
    assert (tmp_path / "attack-38-folder" / NAME / f"{NAME}.ipynb").is_dir()
    assert (tmp_path / "attack-34-shadow-softlookup" / NAME / "softlookup" / "__init__.py").is_file()
    outside = HostileHandIn("x", 0, "", {"../y": b""}, {})
    with pytest.raises(ValueError, match="outside its folder"):
        write_hand_in(outside, tmp_path / "x")
    assert not (tmp_path / "y").exists()


def test_pairs_come_in_the_order_of_their_names(hostile):
    groups: dict[str, list[str]] = {}
    for student, hand_in in hostile.items():
        if hand_in.group:
            groups.setdefault(hand_in.group, []).append(student)
    assert set(groups) == {"startup", "site", "files", "keys", "memory"}
    assert all(len(pair) == 2 and pair == sorted(pair) for pair in groups.values())
