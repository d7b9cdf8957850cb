"""The figures of chapter 9 say the numbers that they draw."""

import numpy as np
from training_examples import RECORD, TRAINING

from softlookup_course.figures import (
    LIGHT,
    learning_curves,
    memory_bars,
    peaks,
    rate_curves,
    shifted_labels,
    smoothing,
)


def label(name):
    draw, args = TRAINING[name]
    return draw(*args, palette=LIGHT).get_label()


def test_shifted_labels_pair_each_token_with_the_next_and_leave_padding_out():
    text = shifted_labels(["<s>", "un", "chien", "</s>"], 2, palette=LIGHT).get_label()
    assert "after <s> comes un; after un comes chien; after chien comes </s>." in text
    assert "2 positions of padding are" in text
    assert "1 position of padding is left out" in shifted_labels(["a", "b"], 1, palette=LIGHT).get_label()


def test_memory_bars_add_up():
    text = memory_bars({"one": {"a": 4, "b": 8}, "two": {"a": 2, "b": 1}}, palette=LIGHT).get_label()
    assert "12 in all" in text and "3 in all" in text


def test_rate_curves_name_each_peak():
    text = rate_curves([1, 2, 3], {"up and down": [0.1, 0.5, 0.2]}, palette=LIGHT).get_label()
    assert text == "Learning rate against step: up and down is highest at step 2, with 5.00e-01."


def test_names_of_rate_curves_stand_clear_of_each_other_and_of_the_lines():
    steps = np.arange(1, 201)
    rates = {"low": 1 / np.sqrt(steps), "high": 2 / np.sqrt(steps), "near": 1.01 / np.sqrt(steps)}
    axes = rate_curves(steps, rates, palette=LIGHT).axes[0]
    places = {text.get_text().split(":")[0]: text.get_position() for text in axes.texts}
    assert places["high"][1] > max(rates["high"]) and places["low"][0] > steps[-1] < places["near"][0]
    assert places["near"][1] - places["low"][1] >= 0.06 * max(rates["high"])


def test_learning_curves_name_first_and_last_losses_of_each_run():
    text = learning_curves({"": {"training": [[1, 4.0], [9, 1.5]]}}, palette=LIGHT).get_label()
    assert text == "Loss against the step, from first to last. training 4.00 to 1.50."
    assert "two: training 3.00 to 2.00, validation 3.00 to 2.50" in label("learning_curves")


def test_training_losses_are_dashed_and_share_the_colour_of_their_validation_losses():
    draw, args = TRAINING["learning_curves"]
    first, _, three = [axes.lines for axes in draw(*args, palette=LIGHT).axes[:3]]
    assert [line.get_linestyle() for line in first] == ["--", "-"] and first[0].get_color() == first[1].get_color()
    two_runs = learning_curves({"": {"A": [[1, 3.0], [5, 1.0]], "B": [[1, 3.0], [5, 2.0]]}}, palette=LIGHT)
    a, b = two_runs.axes[0].lines
    assert a.get_linestyle() == b.get_linestyle() == three[0].get_linestyle() == "-" and a.get_color() != b.get_color()


def test_clipping_by_the_common_norm_keeps_the_direction_and_each_by_its_own_turns_it():
    text = label("clipped")
    assert (
        "as one arrow at 27 degrees" in text and "the same way, 27 degrees" in text and "turned, to 45 degrees" in text
    )


def test_adams_steps_stand_beside_their_gradients():
    text = label("adam_steps")
    assert "step 2: gradient 0.5, Adam's step 0.75 times the rate; step 3: gradient \N{MINUS SIGN}2, " in text


def test_smoothed_loss_is_lowest_where_the_model_gives_what_was_asked():
    text = smoothing(1000, 0.2, palette=LIGHT).get_label()
    lowest = float(text.split("lowest at ")[1].split(" ")[0])
    assert lowest == round(1 - 0.2 + 0.2 / 1000, 3)
    assert "lowest at 0.900 " in smoothing(4000, 0.1, palette=LIGHT).get_label()


def test_peaks_leave_lost_runs_out_and_count_them():
    text = peaks(RECORD, palette=LIGHT).get_label()
    assert "1 run diverged" in text and "no warm-up: 0.001 gives 2.50, 0.01 gives 2.00" in text


def test_loss_of_stages_is_told_by_name():
    assert "first ends at 2.00; second ends at 1.50" in label("loss_stages")
