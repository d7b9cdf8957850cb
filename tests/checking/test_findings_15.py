"""Chapter 15: answers that passed and are wrong, and right ones that lost points."""

import pytest

from published import edited, everywhere
from softlookup_judge import check, get_task

WRONG = {
    "the usual rate": ("15.muon", [("    average = momentum", "    rate = 0.02\n    average = momentum")]),
    "a plateau of one step at least": (
        "15.schedule",
        [("    if step < warmup", "    stable = max(stable, 1)\n    if step < warmup")],
    ),
    "a small number added to the step": ("15.quantise", [("codes * step + least", "codes * (step + 1e-8) + least")]),
    "weights without their sign": ("15.indexer", [("w[:, :, None]", "w.abs()[:, :, None]")]),
    "hidden keys at -1": ("15.indexer", [("sums.masked_fill(~mask, -torch.inf)", "sums.masked_fill(~mask, -1.0)")]),
    "shared by two alone": ("15.fork", [("owners[table[-1]] > 1", "owners[table[-1]] == 2")]),
    "equality asked of all rows": (
        "15.accept",
        [("torch.where(total > 0, left / total, p)", "p if left.sum() == 0 else left / total")],
    ),
    "nearly equal taken for equal": ("15.accept", [("total > 0", "total > 1e-3")]),
    "the sink as the largest": (
        "15.sinks",
        [
            (
                "torch.softmax(torch.cat((scores, sink), dim=-1), dim=-1)",
                "(torch.cat((scores, sink), dim=-1) - sink).exp()",
            ),
            ("    return", "    weights = weights / weights.sum(dim=-1, keepdim=True)\n    return"),
        ],
    ),
    "one maximum for all queries": (
        "15.sinks",
        [
            (
                "torch.softmax(torch.cat((scores, sink), dim=-1), dim=-1)",
                "(torch.cat((scores, sink), dim=-1) - torch.maximum(scores.max(), sink.max())).exp()",
            ),
            ("    return", "    weights = weights / weights.sum(dim=-1, keepdim=True)\n    return"),
        ],
    ),
    "exponentials that are not shifted": (
        "15.absorb",
        [
            ("torch.softmax((scale * scores).masked_fill(~mask, -torch.inf), dim=-1)", "(scale * scores).exp() * mask"),
            ("    return", "    weights = weights / weights.sum(dim=-1, keepdim=True)\n    return"),
        ],
    ),
    "the ramp's ends moved inside": (
        "15.yarn",
        [("pair_with(slow_turns)\n", "min(pair_with(slow_turns), head_width / 2 - 1)\n")],
    ),
    "the ramp's beginning moved inside": (
        "15.yarn",
        [("first, last = pair_with(fast_turns)", "first, last = max(0, pair_with(fast_turns))")],
    ),
    "two experts at most": (
        "15.experts",
        [
            (
                "    hidden = torch.nn",
                "    v, i = weights.topk(2, -1)\n    weights = torch.zeros_like(weights).scatter(-1, i, v)\n"
                "    hidden = torch.nn",
            )
        ],
    ),
    "no shared expert without routed ones": (
        "15.experts",
        [("torch.ones_like(weights[:, :1])", "(weights.sum(1, keepdim=True) > 0).to(weights.dtype)")],
    ),
    "chosen experts set to 0": (
        "15.route",
        [
            (
                "    chosen = (gates + bias).topk(k, dim=-1).indices\n",
                "    left, chosen = (gates + bias).clone(), []\n    for _ in range(k):\n"
                "        chosen.append(left.argmax(-1, keepdim=True))\n        left.scatter_(-1, chosen[-1], 0.0)\n"
                "    chosen = torch.cat(chosen, -1)\n",
            )
        ],
    ),
    "codes of four bits at most": ("15.quantise", [(".round()", ".round().clamp(0, 15)")]),
    "experts are never tied": (
        "15.parameters",
        [('config["tie_word_embeddings"] else', 'config["tie_word_embeddings"] and "num_experts" not in config else')],
    ),
}
"""What an answer does wrong -> its task, and the edits that make it of the published solution."""


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize("title", WRONG)
def test_answer_that_passed_and_is_wrong_loses_points(title):
    task_id, edits = WRONG[title]
    for result in everywhere(task_id, edited(task_id, edits)):
        assert result.points < get_task(task_id).points, result.text()


def test_norm_with_torchs_small_constant_is_right():
    for result in everywhere("15.muon", edited("15.muon", [("x / x.norm()", "x / (x.norm() + 1e-7)")])):
        assert result.verdict == "pass", result.text()


def test_none_among_several_results_is_told_by_its_place():
    none = edited("15.fork", [("return table, owners, copied", "return table, owners, copied or None")])
    result = check("15.fork", none)
    assert "None as result 3 of 3" in result.text() and "without `return`" not in result.text()


def test_ids_are_not_asked_to_sum_to_1():
    for result in everywhere("15.speculate", edited("15.speculate", [("drafted[:kept]", "drafted[:kept] * 0 + 1")])):
        assert result.verdict != "pass" and "sum to 1" not in result.text()


def test_a_gelu_in_float32_is_right():
    edits = [("np.sqrt(P)", "math.sqrt(P)"), ("np.sqrt(2 / np.pi)", "math.sqrt(2 / math.pi)")]
    for result in everywhere("15.per-layer", edited("15.per-layer", edits), (5, 13, 19)):
        assert result.verdict == "pass", result.text()


def test_halves_and_a_logarithm_that_are_rounded_wrongly_are_both_named():
    edits = [
        ("np.round(x / step)", "np.sign(x) * np.ceil(np.abs(x) / step - 0.5)"),
        (
            "2.0 ** (np.frexp(np.abs(blocks).max(axis=-1, keepdims=True))[1] - 3)",
            "2.0 ** (np.floor(np.log2(np.maximum(np.abs(blocks).max(axis=-1, keepdims=True), 1e-30))) - 2)",
        ),
    ]
    for result in everywhere("15.block-scales", edited("15.block-scales", edits)):
        assert result.diagnosis == ("half-towards-zero", "logarithm-rounded"), result.text()
