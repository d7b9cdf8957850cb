"""The bench of newer parts: what its pieces do; the committed run is a whole one. Losses are not tested."""

from dataclasses import replace

import pytest
import torch

from benchmarks.changed import bench_changed, published
from benchmarks.changed.sizes import QUICK
from benchmarks.changed.small import recall


@pytest.mark.slow
def test_record_has_all_experiments(tmp_path):
    (tmp_path / "book").mkdir()
    record = bench_changed(quick=True, root=tmp_path) if not published.installed() else None
    if record is None:
        pytest.skip("SmolLM2 is installed, and would read a book of no pages")
    assert record["window"] is None and record["cache_bits"] is None and record["ratio"] is None
    for name, ways in {
        "expert_load": {"without", "with_bias"},
        "largest_logit": {"none_x1", "none_x10", "head_x1", "head_x10"},
        "stretched": {"as_trained", "ntk", "yarn", "yarn_4"},
        "recall": {"linear", "delta"},
        "muon": {"adamw", "adamw_high", "muon"},
    }.items():
        assert ways < record[name].keys()
    assert record["draft"]["by_length"]["2"]["tokens_per_pass"] >= 1


def test_the_delta_rule_gives_the_newest_value_where_keys_are_nearly_orthogonal():
    accuracy = recall(replace(QUICK, state_width=512, seeds=(1, 2, 3)))
    assert set(accuracy.delta.values()) == {1.0}
    assert max(accuracy.linear.values()) < 1


@pytest.mark.parametrize("key_axis", [2, 3])
def test_a_cache_of_few_bits_hands_out_earlier_groups_rounded_and_the_newest_as_it_is(key_axis):
    cache = published._FewBits(2, key_axis)
    k, v = torch.randn(2, 1, 1, 4, 8)
    cache.append(k[:, :, :2], v[:, :, :2])
    all_k, all_v = cache.append(k[:, :, 2:], v[:, :, 2:])
    for seen, whole, axis in ((all_k, k, key_axis), (all_v, v, 3)):
        first = whole[:, :, :2]
        least, most = first.amin(axis, keepdim=True), first.amax(axis, keepdim=True)
        step = (most - least) / 3
        torch.testing.assert_close(seen[:, :, :2], ((first - least) / step).round() * step + least)
        torch.testing.assert_close(seen[:, :, 2:], whole[:, :, 2:])
    assert cache.length == 4


def test_prose_is_what_has_no_markup(tmp_path):
    plain = "A sentence that is long enough to be read, with nothing in it that a page's markup would need at all."
    page = f"# Title\n\n{plain}\n\n{plain} With $x$.\n\n| a | table |\n- {plain}\nshort\n"
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "01_page.md").write_text(page)
    assert published.prose(tmp_path) == plain
    with pytest.raises(FileNotFoundError, match="has no page"):
        published.prose(tmp_path / "book")
