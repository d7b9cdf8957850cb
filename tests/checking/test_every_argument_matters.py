"""An answer that ignores an argument, or takes its usual value for granted, is wrong in some question of every task."""

import pytest

from arguments import gaps
from published import ALL_TASKS

LENGTH = "by contract a length of another argument"
SIZE = "a model's size, which is that of the weights that it is handed"
UNUSED = "what the right answer leaves aside, which the task asks to see"
RANGE = "ids below which a test may draw its own"
REDUNDANT = {
    ("05.cache", "n_heads"): UNUSED,
    ("09.find-leak", "n_words"): RANGE,
    ("09.find-padding", "n_words"): RANGE,
    ("09.find-shift", "n_words"): RANGE,
    ("10.cache-bytes", "n_heads"): UNUSED,
    ("10.step", "n_kv_heads"): LENGTH,
    ("12.cache", "n_heads"): UNUSED,
    ("15.layers", "n_layers"): LENGTH,
    **{("90.greedy", name): SIZE for name in ("vocab_size", "d_model", "n_heads", "d_hidden", "n_layers")},
    **{("90.train", name): SIZE for name in ("vocab_size", "d_model", "d_hidden")},
}
"""Arguments that may be replaced by something else, and why."""


@pytest.mark.one_in(7)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # an alarm in a callback
@pytest.mark.parametrize("task", ALL_TASKS, ids=lambda task: task.id)
def test_no_number_can_be_replaced(task):
    assert [gap for gap in gaps(task) if (gap.task_id, gap.argument) not in REDUNDANT] == []
