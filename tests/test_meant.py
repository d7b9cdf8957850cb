"""The words by which students name a notebook or a task in the terminal."""

import os
import shutil
from pathlib import Path

import pytest

from softlookup_command.shared import Refusal
from softlookup_course.commands.meant import folder_meant, meant, search_folders
from softlookup_judge.authoring import find_root

EXERCISES = find_root() / "exercises"
HEAD, LOOKUP = "04_one_head", "02_soft_lookup"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of a student's, as the current folder, with two notebooks in my_work."""
    (tmp_path / "_config.yml").touch()
    (tmp_path / "solutions").mkdir()
    for name in (HEAD, LOOKUP):
        (tmp_path / "my_work" / name).mkdir(parents=True)
        shutil.copy(EXERCISES / name / f"{name}.ipynb", tmp_path / "my_work" / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def notebook(home: Path, name: str = HEAD) -> Path:
    return home / "my_work" / name / f"{name}.ipynb"


@pytest.mark.parametrize("folder", [".", "my_work", f"my_work/{HEAD}", f"my_work/{LOOKUP}"])
@pytest.mark.parametrize("word", [HEAD, f"{HEAD}.ipynb", "04", "4", "04.scale", "4.scale"])
def test_a_name_a_chapter_and_a_task_are_found_from_each_folder(home, monkeypatch, folder, word):
    monkeypatch.chdir(home / folder)
    target = meant((word,))
    assert target.notebook.resolve() == notebook(home)
    assert target.task == ("04.scale" if "scale" in word else "")


def test_a_path_and_a_folder_are_taken_as_they_are(home):
    path = f"my_work/{HEAD}/{HEAD}.ipynb"
    shutil.copy(path, "my own.ipynb")
    assert meant((path,)).notebook == Path(path) and not meant((path,)).searched
    assert meant((f"my_work/{HEAD}",)).notebook == Path(path)
    for words in (("my own.ipynb", "04.scale"), ("04.scale", "my own.ipynb")):
        assert (meant(words).notebook, meant(words).task) == (Path("my own.ipynb"), "04.scale")


def test_without_a_word_it_is_the_notebook_that_was_saved_last(home):
    for name in (HEAD, LOOKUP, HEAD):
        for other in (HEAD, LOOKUP):
            os.utime(notebook(home, other), (10**9 + (other == name),) * 2)
        assert meant(()).notebook == notebook(home, name)


def test_a_notebook_in_the_current_folder_comes_before_that_of_the_checkout(home, monkeypatch):
    (home / "tries").mkdir()
    shutil.copy(notebook(home), home / "tries")
    monkeypatch.chdir(home / "tries")
    assert meant(("04.scale",)).notebook == home / "tries" / f"{HEAD}.ipynb"
    assert meant(("02",)).notebook == notebook(home, LOOKUP)


def test_folders_are_meant_by_progress_alone(home):
    assert folder_meant(()) == home / "my_work" and folder_meant(("my_work",)) == Path("my_work")
    for words in ((HEAD,), ("04",), (f"my_work/{HEAD}",), ("04.scale",), ("my_work", "04.scale")):
        assert folder_meant(words) is None
    assert folder_meant(("solutions",)) == Path("solutions")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["04_one_hed"], "there is no 04_one_hed in .* did you mean 04_one_head"),
        (["05"], "there is no notebook of chapter 05 in .*my_work: name a file"),
        (["05.split"], "there is no notebook of 05.split in .*my_work"),
        (["77"], "there is no notebook of chapter 77"),
        (["77.thing"], "unknown task '77.thing'; did you mean"),
        (["04.scal"], "unknown task '04.scal'; did you mean 04.scale"),
        (["scale"], r"scale is neither a notebook nor a task \(did you mean 04.scale"),
        (["04", "02"], "one notebook and one task of it can be named, not 04 and 02"),
        (["my_work"], "my_work is not a file. It holds no notebooks"),
    ],
)
def test_what_names_nothing_is_refused_in_a_sentence(home, words, says):
    with pytest.raises(Refusal, match=says):
        meant(tuple(words))


def test_where_there_is_no_notebook_the_places_are_named(home):
    shutil.rmtree(home / "my_work")
    with pytest.raises(Refusal, match=f"there is no notebook in {home}: name a file"):
        meant(())
    assert search_folders() == [home]
