"""The figures of chapter 9 say the numbers that they draw."""

from training_examples import RECORD, TRAINING

from softlookup.figures import LIGHT, memory_bars, peaks, rate_curves, shifted_labels, smoothing


def label(name):
    draw, args = TRAINING[name]
    return draw(*args, palette=LIGHT).get_label()


def test_shifted_labels_pair_each_token_with_the_next_and_leave_padding_out():
    said = shifted_labels(["<s>", "un", "chien", "</s>"], 2, palette=LIGHT).get_label()
    assert "after <s> comes un; after un comes chien; after chien comes </s>." in said
    assert "2 places of padding are" in said
    assert "1 place of padding is left out" in shifted_labels(["a", "b"], 1, palette=LIGHT).get_label()


def test_memory_bars_add_up():
    said = memory_bars({"one": {"a": 4, "b": 8}, "two": {"a": 2, "b": 1}}, palette=LIGHT).get_label()
    assert "together 12" in said and "together 3" in said


def test_rate_curves_name_each_peak():
    said = rate_curves([1, 2, 3], {"up and down": [0.1, 0.5, 0.2]}, palette=LIGHT).get_label()
    assert said == "Learning rate against step: up and down is highest at step 2, with 5.00e-01."


def test_smoothed_loss_is_lowest_where_the_model_gives_what_was_asked():
    said = smoothing(1000, 0.2, palette=LIGHT).get_label()
    lowest = float(said.split("lowest at ")[1].split(" ")[0])
    assert lowest == round(1 - 0.2 + 0.2 / 1000, 3)
    assert "lowest at 0.900 " in smoothing(4000, 0.1, palette=LIGHT).get_label()


def test_peaks_leave_lost_runs_out_and_count_them():
    said = peaks(RECORD, palette=LIGHT).get_label()
    assert "1 runs ended without a number" in said and "no warm-up: 0.001 gives 2.50, 0.01 gives 2.00" in said


def test_loss_of_stages_is_told_by_name():
    assert "first ends at 2.00; second ends at 1.50" in label("loss_stages")
