"""Chapters 19 (tasks without ranks) and 20: answers that were right on small inputs and are wrong on large ones."""

import pytest

from published import edited, everywhere
from softlookup_judge import check, get_task

TOP = ("np.exp(shifted).sum(axis=-1", "np.sort(np.exp(shifted))[..., -32:].sum(axis=-1")
UNROUNDED_IF_LARGE = "-(-parameters // world) if parameters < 20_000 else parameters / world"
CENTISECONDS = "    forward_s, backward_s = round(forward_s, 2), round(backward_s, 2)\n    stages"
FINGERPRINTS = [
    ("    def ngrams", "    import zlib\n\n    def ngrams"),
    ("[tuple(words[i : i + n])", "[zlib.crc32(' '.join(words[i : i + n]).encode()) & 0x3FFF"),
]
EDITS = [
    ("19.memory", [("-(-parameters // world)", UNROUNDED_IF_LARGE)]),
    ("19.memory", [("-(-parameters // world)", "round(parameters / world)")]),
    ("19.schedule", [("    forwards =", "    micro_batches = min(micro_batches, 256)\n    forwards =")]),
    ("19.bubble", [("    stages", CENTISECONDS)]),
    ("19.bubble", [("range(sum(len(order) for order in orders))", "range(400)")]),
    ("20.template", [("in messages:", "in messages[-64:]:")]),
    ("20.template", [("{message['content']}", "{message['content'][:1024]}")]),
    ("20.template", [("{message['content']}", "{'|'.join(message['content'].splitlines()).replace('|', chr(10))}")]),
    ("20.loss-mask", [("ids[1:], ignored", "ids[1:].astype(np.uint16).astype(int), ignored")]),
    ("20.loss-mask", [("return ids[:-1]", "return (ids % 2**16)[:-1]")]),
    ("20.sft-loss", [TOP]),
    ("20.sft-loss", [("losses.mean()", "losses[:256].mean()")]),
    ("20.sft-loss", [("losses.mean()", "losses.sum() / counted.sum(dtype=np.uint8)")]),
    ("20.packed", [("np.arange(len(lengths))", "np.arange(len(lengths)).astype(np.uint8)")]),
    ("20.packed", [("return positions", "return positions.astype(np.uint8).astype(int)")]),
    ("20.lora", [("b @ a", "b[:, :16] @ a[:16]")]),
    ("20.distill", [("np.exp(q).sum(axis=-1", "np.sort(np.exp(q))[:, -64:].sum(axis=-1")]),
    ("20.distill", [("divergence.mean()", "divergence[:256].mean()")]),
    ("20.answer-log-probs", [TOP]),
    ("20.answer-log-probs", [("of_tokens, 0.0)", "of_tokens, 0.0)[:, :256]")]),
    ("20.reward", [("losses.mean()", "losses[:256].mean()")]),
    ("20.dpo", [("losses.mean()", "losses[:256].mean()")]),
    ("20.advantages", [("rewards.mean(axis=1", "rewards[:, :256].mean(axis=1")]),
    ("20.grpo", [("gains[is_answer]", "gains[:256][is_answer[:256]]")]),
    ("20.grpo", [("gains[is_answer]", "gains[:, :256][is_answer[:, :256]]")]),
    ("20.kl", [("k1.mean()", "k1[:512].mean()")]),
    ("20.best-of-n", [("np.sort(rewards)", "np.sort(rewards[:1250])")]),
    ("20.bits-per-byte", [("len(text.encode())", "sum(len(c.encode()[:3]) + ('🌀' <= c <= '🫿') for c in text)")]),
    ("20.bits-per-byte", [("log_probs.sum()", "log_probs[:512].sum()")]),
    ("20.pass-at-k", [("1 - misses.mean()", "1 - misses[:256].mean()")]),
    ("20.paired", [("gains[draws]", "gains[draws[:400]]")]),
    ("20.paired", [("gains[draws]", "gains[draws[:1000]]")]),
    ("20.paired", [("gains[draws]", "gains[draws[:, :512]]")]),
    ("20.contamination", FINGERPRINTS),
    ("20.contamination", [("in ngrams(document)}", "in ngrams(document)[:2048]}")]),
    ("20.choice", [("log_probs / lengths", "log_probs / lengths.astype(np.uint16)")]),
    ("20.choice", [("argmax(axis=1)", "argmax(axis=1).astype(np.int8).astype(int)")]),
]
RIGHT = [
    ("19.memory", [("-(-parameters // world)", "float(math.ceil(parameters / world))")]),
    ("20.choice", [("log_probs / lengths", "log_probs / math.log(2) / lengths")]),
    ("20.choice", [("log_probs / lengths", "log_probs / (lengths * math.log(2))")]),
    ("20.choice", [("(log_probs / lengths).argmax", "(-log_probs / lengths).argmin")]),
    ("20.packed", [("return positions", "return positions.astype(np.int32)")]),
    ("20.advantages", [("> 1e-15 * largest", "> 1e-14 * largest")]),
]


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize(("task_id", "edits"), EDITS)
def test_answers_that_are_right_on_small_inputs_alone_lose_points(task_id, edits):
    task = get_task(task_id)
    for result in everywhere(task_id, edited(task_id, edits)):
        assert result.points < task.points, result.text()


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize(("task_id", "edits"), RIGHT)
def test_right_answers_that_compute_otherwise_pass(task_id, edits):
    task = get_task(task_id)
    for result in everywhere(task_id, edited(task_id, edits)):
        assert result.points == task.points, result.text()


def test_a_loss_that_is_turned_is_named_beside_a_logarithm_with_a_lid():
    edit = "np.logaddexp(0.0, -margins)", "np.log(1 + np.exp(np.minimum(margins, 700)))"
    result = check("20.dpo", edited("20.dpo", [edit]))
    assert result.diagnosis[:1] == ("loss-turned",), result.text()
    assert "take `[0]`" not in result.text()


def test_one_number_is_asked_for_where_its_mean_is_missing_under_another_mistake():
    result = check("20.reward", edited("20.reward", [("losses.mean(), gradient", "1.5 * losses, gradient")]))
    assert not result.diagnosis and "one number is asked for" in result.message and "[0]" not in result.message
