"""The figures of chapter 16 show what they were given, and refuse what they cannot show."""

from typing import get_args

import pytest
from matplotlib.figure import Figure
from serving_examples import GUESTS, STATES, STEPS

from softlookup.serving.request import State
from softlookup_course import figures
from softlookup_course.figures import LIGHT


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
