"""What is drawn of serving, of training, and of a student's way, says what it was given and what the course does."""

from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from figure_examples import GUESTS, STATES, STEPS
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle

from softlookup.serving.request import State
from softlookup_course import figures
from softlookup_course.figures import LIGHT

ROOT = Path(__file__).resolve().parents[2]


def test_teacher_forcing_draws_one_row_in_training_and_a_row_for_each_word_in_inference():
    figure = figures.teacher_forcing(["<s>", "a", "b", "c"], palette=LIGHT)
    rows = [[box.get_y() for box in axes.patches if isinstance(box, Rectangle)] for axes in figure.axes]
    assert [len(heights) for heights in rows] == [3, 3]
    assert [len(set(heights)) for heights in rows] == [1, 3]


def test_teacher_forcing_gives_each_box_the_token_before():
    training, inference = figures.teacher_forcing(["<s>", "a", "b"], palette=LIGHT).axes
    for axes in (training, inference):
        words = [text.get_text() for text in axes.texts if text.get_text()]
        assert words[:4] == ["<s>", "a", "a", "b"]


def test_student_path_names_the_buttons_and_folders_that_a_student_meets():
    drawn = " ".join(text.get_text().replace("\n", " ") for text in figures.student_path(palette=LIGHT).axes[0].texts)
    buttons = (ROOT / "book" / "_python" / "page.js").read_text(encoding="utf-8")
    for name in ("Do it here", "Save your answers as a notebook"):
        assert name in drawn and f'"{name}"' in buttons
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "make lab" in drawn and "\nlab:" in makefile
    assert "exercises/" in drawn and (ROOT / "exercises").is_dir()
    assert "my_work/" in drawn and "my_work" in (ROOT / ".gitignore").read_text(encoding="utf-8")


def test_row_of_children_whispers_along_the_row_and_calls_everyone_at_once():
    row, room = figures.row_of_children(["a", "cat", "says", "that", "it"], 1, 4, palette=LIGHT).axes
    heard = [text.get_text() for text in row.texts if text.get_position()[1] == 2.0]
    assert heard[0] == "cat" and len(heard) == 3
    left = [len(word.replace("·", "")) for word in heard]
    assert left == sorted(left, reverse=True) and left[-1] < left[0]
    calls = [patch for patch in room.patches if isinstance(patch, PathPatch) and not patch.get_fill()]
    assert len(calls) == 4 and sum(patch.get_linewidth() > 2 for patch in calls) == 1


def test_marked_tables_show_the_numbers_the_frames_and_the_words_at_their_edges():
    figure = figures.marked_tables(
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
    axes = figures.gains_by_task(["a", "b"], gains, "a", palette=LIGHT).axes[0]
    assert [bar.get_width() for bar in axes.patches] == [9.0, -1.0, -1.0, 0.5]
    assert [text.get_text() for text in axes.texts] == ["as printed", "again"]


def texts_of(figure: Figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_paged_memory_hatches_the_empty_cells_of_taken_blocks_and_names_what_is_shared():
    figure = figures.paged_memory(GUESTS, 7, 4, palette=LIGHT)
    hatched = [patch for patch in figure.axes[0].patches if patch.get_hatch()]
    assert len(hatched) == 2 and "last blocks: 2." in figure.get_label()  # 1 of Ada's, 1 of Ben's
    assert "Shared: [0]" in figure.get_label()
    assert texts_of(figure).count("free") == 2
    assert texts_of(figure).count("0") == 3  # two tables and the memory


def test_paged_memory_writes_the_letters_of_its_guests_into_the_tokens():
    words = texts_of(figures.paged_memory(GUESTS, 7, 4, palette=LIGHT))
    assert (words.count("AC"), words.count("A"), words.count("B"), words.count("C")) == (4, 7, 3, 4)


def test_latency_curves_draw_lines_at_more_loads_than_were_measured():
    line, points = {"first": {"p50": [1.0, 3.0, 9.0]}}, {"first": {"p50": [1.1, 8.0]}}
    figure = figures.latency_curves([0.2, 1.2], line, points, lines_at=[0.2, 1.0, 1.2], palette=LIGHT)
    assert [list(drawn.get_xdata()) for drawn in figure.axes[0].lines] == [[0.2, 1.0, 1.2], [0.2, 1.2]]
    assert "first, p50: 1.1 (1), 8 (9)." in figure.get_label()


def test_preemption_hatches_what_is_computed_again_and_keeps_the_letter_of_what_is_found():
    figure = figures.preemption(STEPS, 4, 4, palette=LIGHT)
    assert [patch.get_y() for patch in figure.axes[0].patches if patch.get_hatch()] == [0]
    slanted = [text for text in figure.axes[0].texts if text.get_style() == "italic"]
    assert [(text.get_text(), text.get_position()) for text in slanted] == [("B", (1.5, 2.52))]
    assert "no block is free:\nBen has to leave" in texts_of(figure)
    assert "Ada is complete: Ben comes back,\n4 of 8 tokens are computed again" in texts_of(figure)


def test_preemption_refuses_steps_in_which_nobody_leaves():
    with pytest.raises(ValueError, match="wanted a guest that leaves and comes back"):
        figures.preemption(STEPS[:1], 4, 4, palette=LIGHT)


def test_serving_loop_has_a_place_for_every_state_of_a_request():
    assert set(STATES) == set(get_args(State))
    words = texts_of(figures.serving_loop(STATES, palette=LIGHT))
    assert {*STATES, "nobody", "Ada, Cleo"} <= set(words)


def test_batch_limits_draws_each_limit_above_its_line():
    rates = {"no cache": ([220.0, 880.0], 66000.0), "long": ([200.0, 500.0], 1600.0)}
    lines = figures.batch_limits([1, 4], rates, palette=LIGHT).axes[0].lines
    assert [max(line.get_ydata()) for line in lines] == [880.0, 66000.0, 500.0, 1600.0]
