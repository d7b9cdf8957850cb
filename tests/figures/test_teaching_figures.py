"""What is drawn of training, and of a student's way, says what the course does."""

from pathlib import Path

import numpy as np
from matplotlib.patches import PathPatch, Rectangle

from softlookup_course.figures import (
    LIGHT,
    gains_by_task,
    marked_tables,
    row_of_children,
    student_path,
    teacher_forcing,
)

ROOT = Path(__file__).resolve().parents[2]


def test_teacher_forcing_draws_one_row_in_training_and_a_row_for_each_word_in_inference():
    figure = teacher_forcing(["<s>", "a", "b", "c"], palette=LIGHT)
    rows = [[box.get_y() for box in axes.patches if isinstance(box, Rectangle)] for axes in figure.axes]
    assert [len(heights) for heights in rows] == [3, 3]
    assert [len(set(heights)) for heights in rows] == [1, 3]


def test_teacher_forcing_gives_each_box_the_token_before():
    training, inference = teacher_forcing(["<s>", "a", "b"], palette=LIGHT).axes
    for axes in (training, inference):
        words = [text.get_text() for text in axes.texts if text.get_text()]
        assert words[:4] == ["<s>", "a", "a", "b"]


def test_student_path_names_the_buttons_and_folders_that_a_student_meets():
    drawn = " ".join(text.get_text().replace("\n", " ") for text in student_path(palette=LIGHT).axes[0].texts)
    buttons = (ROOT / "book" / "_python" / "page.js").read_text(encoding="utf-8")
    for name in ("Do it here", "Save your answers as a notebook"):
        assert name in drawn and f'"{name}"' in buttons
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "make lab" in drawn and "\nlab:" in makefile
    assert "exercises/" in drawn and (ROOT / "exercises").is_dir()
    assert "my_work/" in drawn and "my_work" in (ROOT / ".gitignore").read_text(encoding="utf-8")


def test_row_of_children_whispers_along_the_row_and_calls_everyone_at_once():
    row, room = row_of_children(["a", "cat", "says", "that", "it"], 1, 4, palette=LIGHT).axes
    heard = [text.get_text() for text in row.texts if text.get_position()[1] == 2.0]
    assert heard[0] == "cat" and len(heard) == 3
    left = [len(word.replace("·", "")) for word in heard]
    assert left == sorted(left, reverse=True) and left[-1] < left[0]
    calls = [patch for patch in room.patches if isinstance(patch, PathPatch) and not patch.get_fill()]
    assert len(calls) == 4 and sum(patch.get_linewidth() > 2 for patch in calls) == 1


def test_marked_tables_show_the_numbers_the_frames_and_the_words_at_their_edges():
    figure = marked_tables(
        {"X": np.eye(2), "Y": np.full((2, 1), 0.25)},
        {"Y": np.array([[True], [False]])},
        beside={"Y": ["first", "second"]},
        below={"Y": ["sum"]},
        palette=LIGHT,
    )
    first, second = ([text.get_text() for text in axes.texts] for axes in figure.axes)
    assert first == ["1.00", "0.00", "0.00", "1.00"] and second == ["0.25", "0.25", "first", "second", "sum"]
    assert "Y, 2 by 1, 1 framed, beside its rows first, second" in figure.get_label()


def test_gains_by_task_draws_two_bars_for_each_task_and_names_them_at_one():
    gains = {"as printed": np.array([9.0, -1.0]), "again": np.array([-1.0, 0.5])}
    axes = gains_by_task(["a", "b"], gains, "a", palette=LIGHT).axes[0]
    assert [bar.get_width() for bar in axes.patches] == [9.0, -1.0, -1.0, 0.5]
    assert [text.get_text() for text in axes.texts] == ["as printed", "again"]
