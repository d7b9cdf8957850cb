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

EQUAL: list[tuple[str, str, str]] = [
    ("09.find-padding", "labels = torch.randint(1, n_words - 0, (2, 7))", CHOICE),
    ("09.count", "norm = d_model * 2", COMMUTES),
    ("09.count", "encoder = 2 * norm + (attention + hidden)", COMMUTES),
    ("09.find-padding", "logits = torch.randn(2, 8, n_words)", CHOICE),
    ("09.adam", "v = beta_2 * v + g ** 2 * (1 - beta_2)", COMMUTES),
    ("09.find-padding", "for pad_id in (0, 1):", CHOICE),
    ("09.cross-entropy", "right = log_p.gather(-1, labels[..., None])[..., -1]", LAST),
    (
        "09.find-shift",
        "return bool(loss_of(lambda inputs: 30.0 * torch.nn.functional.one_hot((inputs + "
        "1) % n_words, n_words), ids) > 0.005)",
        BOUND,
    ),
    ("09.count", "return n_layers * (encoder + decoder) + vocab_size * d_model", COMMUTES),
    ("09.accumulate", "w = w - total * rate / count", COMMUTES),
    ("09.smoothed-loss", "loss = -(1 - epsilon) * right - every * epsilon", COMMUTES),
    ("09.accumulate", "if (i + 1) % every == 0 or i + 1 == len(tokens):", AS_MANY),
    ("09.find-padding", "labels[:, -4:] = pad_id", CHOICE),
    ("09.find-leak", "other[:, place] = (other[:, place] + 1) % place", ANOTHER),
    ("09.bytes", "each = 2 + 2 + 4 + 4 + 4 if activations == 'master' else 4 + 4 + 4 + 4", SIXTEEN),
    ("09.perplexity", "mean = (tokens * losses).sum() / tokens.sum()", COMMUTES),
    ("09.smoothed-loss", "right = log_p.gather(-1, labels[..., None])[..., -1]", LAST),
    ("09.smoothed-loss", "loss = right * -(1 - epsilon) - epsilon * every", COMMUTES),
    ("09.warmup", "step = 1 + done", COMMUTES),
    ("09.warmup", "return min(step ** (-0.5), step * warmup ** (-1.5)) * d_model ** (-0.5)", COMMUTES),
    ("09.warmup", "return d_model ** (-0.5) * min(step ** (-0.5), warmup ** (-1.5) * step)", COMMUTES),
    ("09.adam", "m = (1 - beta_1) * g + beta_1 * m", COMMUTES),
    ("09.adam", "m = m * beta_1 + (1 - beta_1) * g", COMMUTES),
    ("09.adam", "m = beta_1 * m + g * (1 - beta_1)", COMMUTES),
    ("09.adam", "v = (1 - beta_2) * g ** 2 + beta_2 * v", COMMUTES),
    ("09.adam", "v = v * beta_2 + (1 - beta_2) * g ** 2", COMMUTES),
    ("09.adam", "return (w - m_hat * rate / (torch.sqrt(v_hat) + eps), m, v)", COMMUTES),
    ("09.adam", "return (w - rate * m_hat / (eps + torch.sqrt(v_hat)), m, v)", COMMUTES),
    ("09.clip", "return (*(factor * g for g in gradients), norm)", COMMUTES),
    ("09.accumulate", "for i in range(len(tokens)):", AS_MANY),
    ("09.accumulate", "total, count = (gradients[i] + total, count + tokens[i])", COMMUTES),
    ("09.accumulate", "total, count = (total + gradients[i], tokens[i] + count)", COMMUTES),
    ("09.accumulate", "if (i + 1) % every == 0 or 1 + i == len(gradients):", COMMUTES),
    ("09.accumulate", "if (1 + i) % every == 0 or i + 1 == len(gradients):", COMMUTES),
    ("09.accumulate", "total, count = (torch.zeros_like(count), 0)", ZEROS),
    ("09.accumulate", "total, count = (torch.zeros_like(total), 0)", ZEROS),
    ("09.dropout", "return (u >= p) * x / (1 - p)", COMMUTES),
    ("09.initialise", "variance = 2 / n_in if after_relu else 2 / (n_out + n_in)", COMMUTES),
    ("09.initialise", "return math.sqrt(variance) * z", COMMUTES),
    ("09.bytes", "each = 4 + (2 + 2 + 4 + 4) if recipe == 'master' else 4 + 4 + 4 + 4", COMMUTES),
    ("09.bytes", "each = 2 + 2 + 4 + 4 + 4 if recipe == 'master' else 4 + (4 + 4 + 4)", COMMUTES),
    ("09.bytes", "each = 2 + 2 + 4 + 4 + 4 if parameters == 'master' else 4 + 4 + 4 + 4", SIXTEEN),
    ("09.bytes", "each = 4 + (2 + 2 + 4) + 4 if recipe == 'master' else 4 + 4 + 4 + 4", COMMUTES),
    ("09.bytes", "each = 2 + 2 + 4 + 4 + 4 if recipe == 'master' else 4 + (4 + 4) + 4", COMMUTES),
    ("09.bytes", "each = 4 + (2 + 2) + 4 + 4 if recipe == 'master' else 4 + 4 + 4 + 4", COMMUTES),
    ("09.bytes", "each = 2 * 2 + 4 + 4 + 4 if recipe == 'master' else 4 + 4 + 4 + 4", SIXTEEN),
    ("09.bytes", "return (parameters * each, (4 if recipe == 'float32' else 2) * activations)", COMMUTES),
    ("09.bytes", "return (each * parameters, activations * (4 if recipe == 'float32' else 2))", COMMUTES),
    ("09.count", "attention = d_model ** 2 * 4", COMMUTES),
    ("09.count", "hidden = d_model + (2 * d_model * d_hidden + d_hidden)", COMMUTES),
    ("09.count", "hidden = d_hidden + 2 * d_model * d_hidden + d_model", COMMUTES),
    ("09.count", "hidden = d_hidden * (2 * d_model) + d_hidden + d_model", COMMUTES),
    ("09.count", "hidden = d_model * 2 * d_hidden + d_hidden + d_model", COMMUTES),
    ("09.count", "encoder = hidden + attention + 2 * norm", COMMUTES),
    ("09.count", "encoder = attention + hidden + norm * 2", COMMUTES),
    ("09.count", "decoder = 3 * norm + (2 * attention + hidden)", COMMUTES),
    ("09.count", "decoder = hidden + 2 * attention + 3 * norm", COMMUTES),
    ("09.count", "decoder = 2 * attention + hidden + norm * 3", COMMUTES),
    ("09.count", "decoder = attention * 2 + hidden + 3 * norm", COMMUTES),
    ("09.count", "return d_model * vocab_size + n_layers * (encoder + decoder)", COMMUTES),
    ("09.count", "return vocab_size * d_model + (encoder + decoder) * n_layers", COMMUTES),
    ("09.count", "return vocab_size * d_model + n_layers * (decoder + encoder)", COMMUTES),
    ("09.find-leak", "for place in range(1, ids.shape[-1]):", AXES),
    ("09.find-leak", "other[:, place] = (other[:, place] - 1) % n_words", ANOTHER),
    ("09.find-leak", "other[:, place] = (1 + other[:, place]) % n_words", COMMUTES),
    ("09.find-leak", "if (model(other) - before)[:, :place].abs().max() > 5e-07:", BOUND),
    ("09.find-leak", "for place in range(1, before.shape[1]):", LENGTH),
    ("09.find-leak", "other[:, place] = (other[:, place] + -1) % n_words", ANOTHER),
    ("09.find-leak", "if (model(other) - before)[:, :place].abs().mean() > 1e-06:", BOUND),
    ("09.find-leak", "other[:, place] = (ids[:, place] + 1) % n_words", ANOTHER),
    ("09.find-leak", "if (before - model(other))[:, :place].abs().max() > 1e-06:", COMMUTES),
    ("09.find-shift", "ids = torch.tensor([[0], [1]]) + torch.arange(n_words - 2)", COMMUTES),
    ("09.find-shift", "ids = torch.arange(n_words - 3) + torch.tensor([[0], [1]])", CHOICE),
    ("09.find-shift", "ids = torch.arange(n_words - 1) + torch.tensor([[0], [1]])", CHOICE),
    ("09.find-shift", "ids = torch.arange(n_words - 2) + torch.tensor([[0], [2]])", CHOICE),
    (
        "09.find-shift",
        "return bool(loss_of(lambda inputs: 30.0 * torch.nn.functional.one_hot((inputs + "
        "1) % n_words, n_words), ids) > 1.01)",
        BOUND,
    ),
    (
        "09.find-shift",
        "return bool(loss_of(lambda inputs: torch.nn.functional.one_hot((inputs + 1) % "
        "n_words, n_words) * 30.0, ids) > 0.01)",
        COMMUTES,
    ),
    (
        "09.find-shift",
        "return bool(loss_of(lambda inputs: 31.0 * torch.nn.functional.one_hot((inputs + "
        "1) % n_words, n_words), ids) > 0.01)",
        BOUND,
    ),
    (
        "09.find-shift",
        "return bool(loss_of(lambda inputs: 15.0 * torch.nn.functional.one_hot((inputs + "
        "1) % n_words, n_words), ids) > 0.01)",
        BOUND,
    ),
    (
        "09.find-shift",
        "return bool(loss_of(lambda inputs: 30.0 * torch.nn.functional.one_hot(inputs + 1, n_words), ids) > 0.01)",
        WRAP,
    ),
    (
        "09.find-shift",
        "return bool(loss_of(lambda inputs: 30.0 * torch.nn.functional.one_hot((1 + "
        "inputs) % n_words, n_words), ids) > 0.01)",
        COMMUTES,
    ),
    ("09.find-padding", "for pad_id in (1, n_words - 1):", CHOICE),
    ("09.find-padding", "for pad_id in (0, n_words - 2):", CHOICE),
    ("09.find-padding", "logits = torch.randn(3, 7, n_words)", CHOICE),
    ("09.find-padding", "labels = torch.randint(2, n_words - 1, (2, 7))", CHOICE),
    ("09.find-padding", "labels = torch.randint(0, n_words - 1, (2, 7))", CHOICE),
    ("09.find-padding", "labels = torch.randint(1, n_words, (2, 7))", CHOICE),
    ("09.find-padding", "shorter = loss_of(logits[:, :4], labels[:, :4], n_words)", NOWHERE),
    ("09.find-padding", "if abs(loss_of(logits, labels, pad_id) - shorter) > 5e-06:", BOUND),
    ("09.find-padding", "labels = torch.randint(1, n_words - 2, (2, 7))", CHOICE),
    ("09.find-padding", "labels = torch.randint(1, n_words - 1, (1, 7))", CHOICE),
    ("09.find-padding", "labels = torch.randint(1, n_words - 1, (2, 6))", CHOICE),
    ("09.find-padding", "if abs(shorter - loss_of(logits, labels, pad_id)) > 1e-05:", COMMUTES),
    ("09.find-padding", "labels[:, 3:] = pad_id", CHOICE),
    ("09.find-padding", "shorter = loss_of(logits[:, :5], labels[:, :4], pad_id)", CHOICE),
    ("09.train", "w -= w.grad * rate", COMMUTES),
    ("09.find-leak", "other[:, place] = (other[:, place] + 2) % n_words", ANOTHER),
    ("09.find-leak", "if (model(other) - before)[:, :place].abs().max() >= 1e-06:", THRESHOLD),
    (
        "09.find-shift",
        "return bool(loss_of(lambda inputs: 30.0 * torch.nn.functional.one_hot((inputs + 1) % n_words, n_words), ids) "
        ">= 0.01)",
        THRESHOLD,
    ),
    ("09.find-padding", "if abs(loss_of(logits, labels, pad_id) - shorter) >= 1e-05:", THRESHOLD),
]
