"""The capstone: answers that passed and are wrong, right ones that lost points, and mistakes that had no name."""

import pytest

from published import edited_source, results, solutions, world
from softlookup_judge import check

TRAIN = """def train_steps(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id, source, target, rates, *weights):
    model = with_weights(Transformer(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id), weights)
    adam = {adam}
    losses = []
    for i in range(len(rates)):
        {begin}
        adam.param_groups[0]["lr"] = float({rate})
        rows = target[i]
        loss = translation_loss(model(source[i], rows[:, :-1]), {rows}, {pad}, 0.1)
        {clear}
        loss.backward()
        adam.step()
        losses.append({loss})
    return torch.tensor(losses), {weights}"""
ADAM = "torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)"
PLAIN = {
    "adam": ADAM,
    "begin": "pass",
    "rate": "rates[i]",
    "pad": "pad_id",
    "rows": "rows[:, 1:]",
    "clear": "adam.zero_grad()",
    "loss": "loss.item()",
    "weights": "weights_of(model)",
}
LOSS = (
    "def translation_loss(logits, labels, pad_id, eps):\n"
    "    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(){})"
)
BY_HAND = (
    "def translation_loss(logits, labels, pad_id, eps):\n    v, real = logits.shape[-1], labels != pad_id\n"
    "    wanted = F.one_hot(labels, v) * {} + {}\n    each = -(wanted * logits.log_softmax(-1)).sum(-1)\n    return {}"
)


def train(**changed):
    return TRAIN.format(**(PLAIN | changed))


def greedy(edit):
    return edited_source("90.greedy", [edit])


@pytest.mark.usefixtures("verdicts_alone")
def test_steps_that_take_the_pad_to_be_zero_do_not_pass():
    """They passed while the pad was 0 in every question."""
    for result in results("90.train", train(pad="0")):
        assert result.verdict == "wrong", result.text()


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize(
    "edit",
    [("start_id)", "1)"), ("best == end_id", "best == 2"), ("ended, pad_id, best", "ended, 0, best")],
    ids=["start", "end", "pad"],
)
def test_writing_with_ids_of_ones_own_does_not_pass(edit):
    """It passed while start, end and pad were 1, 2 and 0 in every question."""
    for result in results("90.greedy", greedy(edit)):
        assert result.verdict == "wrong", result.text()


@pytest.mark.usefixtures("verdicts_alone")
def test_a_first_word_that_ends_the_sentence_is_asked():
    for result in results("90.greedy", greedy(("(best == end_id)", "((best == end_id) & (written.shape[1] > 1))"))):
        assert result.verdict == "wrong", result.text()


def test_right_answers_of_the_capstone_written_with_torchs_own_pass():
    cases = [
        ("90.train", train()),
        ("90.loss", LOSS.format(", ignore_index=pad_id, label_smoothing=eps")),
        ("90.loss", BY_HAND.format("(1 - eps)", "eps / v", "(each * real).sum() / real.sum()")),
        ("90.greedy", greedy(("best = torch.where(ended, pad_id, best)", "best[ended] = pad_id"))),
    ]
    for task_id, source in cases:
        for result in results(task_id, source):
            assert result.verdict == "pass", result.text()


def test_a_wrong_transformer_sinks_neither_training_nor_writing():
    source = solutions(90)["90-transformer"].replace("y = layer(y, memory, past, real)", "y = layer(y, x, past, real)")
    space = world(90, {"90-transformer": source})
    assert check("90.transformer", space["Transformer"]).verdict != "pass"
    for task_id, name in (("90.train", "train_steps"), ("90.greedy", "write_greedily")):
        result = check(task_id, space[name])
        assert result.verdict == "pass", result.text()
