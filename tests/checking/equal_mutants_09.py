"""Mutants of chapter 9 that are right: task, changed statement, and why nothing tells them apart."""

COMMUTES = "and, sum and product do not depend on the order of their operands"
LAST = "the last axis has one entry, so its first is its last"
SIXTEEN = "all three recipes hold sixteen bytes for each parameter: that is what the task is about"
AS_MANY = "there are as many numbers of tokens as gradients"
ZEROS = "zeros are added to: a number for a row of zeros, or the zeros of a tensor of the same shape, do as well"
LENGTH = "logits have as many positions as ids"
AXES = "ids have two axes, so axis 1 is the last one"
ANOTHER = "another token is put there: which one does not matter, as long as it is mostly another"
BOUND = "the bound lies between what sound and broken pieces give, with room on either side"
CHOICE = "the test chooses its own inputs: other sizes, ids and lengths find the same broken pieces"
NOWHERE = "what is compared with holds no padding, so it does not matter what is taken for it"
WRAP = "the ids that the test chooses never reach the last one, so nothing is wrapped round"
THRESHOLD = "any small number tells the two apart"


def alarm(factor: str = "30.0", ids: str = "(inputs + 1) % n_words", bound: str = "> 0.01") -> str:
    return f"return bool(loss_of(lambda inputs: {factor} * torch.nn.functional.one_hot({ids}, n_words), ids) {bound})"


EQUAL: list[tuple[str, ...]] = [
    ("09.find-padding", "labels = torch.randint(1, n_words - {}, (2, 7))", CHOICE, "0; 2"),
    ("09.find-padding", "logits = torch.randn(2, 8, n_words)", CHOICE),
    ("09.find-padding", "for pad_id in (0, {}):", CHOICE, "1; n_words - 2"),
    ("09.cross-entropy", "right = log_p.gather(-1, labels[..., None])[..., -1]", LAST),
    ("09.find-shift", alarm(bound="> 0.005"), BOUND),
    ("09.accumulate", "if (i + 1) % every == 0 or i + 1 == len(tokens):", AS_MANY),
    ("09.find-padding", "labels[:, {}:] = pad_id", CHOICE, "-4; 3"),
    ("09.find-leak", "other[:, place] = (other[:, place] + 1) % place", ANOTHER),
    ("09.bytes", "each = 2 + 2 + 4 + 4 + 4 if {} == 'master' else 4 + 4 + 4 + 4", SIXTEEN, "activations; parameters"),
    ("09.smoothed-loss", "right = log_p.gather(-1, labels[..., None])[..., -1]", LAST),
    ("09.accumulate", "for i in range(len(tokens)):", AS_MANY),
    ("09.accumulate", "total, count = (torch.zeros_like({}), 0)", ZEROS, "count; total"),
    ("09.bytes", "each = 2 * 2 + 4 + 4 + 4 if recipe == 'master' else 4 + 4 + 4 + 4", SIXTEEN),
    ("09.find-leak", "for place in range(1, ids.shape[-1]):", AXES),
    ("09.find-leak", "other[:, place] = (other[:, place] {}) % n_words", ANOTHER, "- 1; + -1; + 2"),
    ("09.find-leak", "if (model(other) - before)[:, :place].abs().max() > 5e-07:", BOUND),
    ("09.find-leak", "for place in range(1, before.shape[1]):", LENGTH),
    ("09.find-leak", "if (model(other) - before)[:, :place].abs().mean() > 1e-06:", BOUND),
    ("09.find-leak", "other[:, place] = (ids[:, place] + 1) % n_words", ANOTHER),
    ("09.find-leak", "if (before - model(other))[:, :place].abs().max() > 1e-06:", COMMUTES),
    ("09.find-shift", "ids = torch.arange(n_words - {}) + torch.tensor([[0], [1]])", CHOICE, "3; 1"),
    ("09.find-shift", "ids = torch.arange(n_words - 2) + torch.tensor([[0], [2]])", CHOICE),
    ("09.find-shift", alarm(bound="> 1.01"), BOUND),
    ("09.find-shift", alarm(factor="31.0"), BOUND),
    ("09.find-shift", alarm(factor="15.0"), BOUND),
    ("09.find-shift", alarm(ids="inputs + 1"), WRAP),
    ("09.find-padding", "for pad_id in (1, n_words - 1):", CHOICE),
    ("09.find-padding", "logits = torch.randn(3, 7, n_words)", CHOICE),
    ("09.find-padding", "labels = torch.randint({}, n_words - 1, (2, 7))", CHOICE, "2; 0"),
    ("09.find-padding", "labels = torch.randint(1, n_words, (2, 7))", CHOICE),
    ("09.find-padding", "shorter = loss_of(logits[:, :4], labels[:, :4], n_words)", NOWHERE),
    ("09.find-padding", "if abs(loss_of(logits, labels, pad_id) - shorter) > 5e-06:", BOUND),
    ("09.find-padding", "labels = torch.randint(1, n_words - 1, (1, 7))", CHOICE),
    ("09.find-padding", "labels = torch.randint(1, n_words - 1, (2, 6))", CHOICE),
    ("09.find-padding", "shorter = loss_of(logits[:, :5], labels[:, :4], pad_id)", CHOICE),
    ("09.find-leak", "if (model(other) - before)[:, :place].abs().max() >= 1e-06:", THRESHOLD),
    ("09.find-shift", alarm(bound=">= 0.01"), THRESHOLD),
    ("09.find-padding", "if abs(loss_of(logits, labels, pad_id) - shorter) >= 1e-05:", THRESHOLD),
]
