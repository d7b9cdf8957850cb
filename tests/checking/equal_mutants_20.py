"""Mutants of chapter 20 that are right: task, changed statement, and why nothing tells them apart."""

AXIS = "the arrays have two axes, so that axis 1 is the last one, and Python reads two minus signs as none"
DEFAULT = "-1 is the default axis"
ONE_ENTRY = "the last axis has one entry"
NO_ORDER = "sums, products, minima and squares do not depend on the order of their operands, or on a sign"
EQUAL_SIZES = "both have as many entries or rows"
ALIKE = "rewards that are equal up to rounding are all of one size; others differ by more than any of these allows"
ZERO_OVER = "where rewards are equal, their difference from the mean is 0, whatever divides it"

EQUAL: list[tuple[str, ...]] = [
    ("20.sft-loss", "losses = -rows[np.arange(len(right_ids)), right_ids]", EQUAL_SIZES),
    ("20.distill", "q, p = (q - q.max(axis=1, keepdims=True), p - p.max(axis=-1, keepdims=True))", AXIS),
    ("20.distill", "q, p = (q - q.max(axis=-1, keepdims=True), p - p.max(axis=1, keepdims=True))", AXIS),
    ("20.distill", "log_q = q - np.log(np.exp(q).sum(axis=1, keepdims=True))", AXIS),
    ("20.distill", "log_p = p - np.log(np.exp(p).sum(axis=1, keepdims=True))", AXIS),
    ("20.distill", "divergence = (np.exp(log_p) * (log_p - log_q)).sum(axis=1)", AXIS),
    ("20.answer-log-probs", "of_tokens = np.take_along_axis(log_p, labels[..., None])[..., 0]", DEFAULT),
    ("20.answer-log-probs", "of_tokens = np.take_along_axis(log_p, labels[..., None], axis=-1)[..., -1]", ONE_ENTRY),
    ("20.answer-log-probs", "return np.where(is_answer[:, 1:], of_tokens, 0.0).sum(axis=-1)", AXIS),
    ("20.reward", "gradient = (in_order - 1) / len({})", EQUAL_SIZES, "difference; in_order; losses; rejected"),
    ("20.advantages", "mean = rewards.mean(axis=-1, keepdims=True)", AXIS),
    ("20.advantages", "spread = np.sqrt(((rewards - mean) ** 2).mean(axis=-1, keepdims=True))", AXIS),
    ("20.advantages", "largest = np.abs(rewards).max(axis=-1, keepdims=True)", AXIS),
    ("20.advantages", "differs = np.ptp(rewards, axis=-1, keepdims=True) > 1e-15 * largest", AXIS),
    ("20.advantages", "differs = np.ptp(rewards, axis=1, keepdims=True) > 5e-16 * largest", ALIKE),
    *[
        ("20.advantages", f"largest = np.abs({of}).{fold}(axis=1, keepdims=True)", ALIKE)
        for of, fold in [("rewards", "min"), ("rewards", "mean"), ("mean", "max")]
    ],
    *[
        (
            "20.advantages",
            f"return np.where({outer}, (rewards - mean) / np.where({inner}, spread, {divisor}), 0.0)",
            ZERO_OVER,
        )
        for outer, inner, divisor in [
            ("differs", "spread", "1.0"),
            ("differs", "largest", "1.0"),
            ("differs", "differs", "2.0"),
            ("differs", "differs", "0.5"),
        ]
    ],
    ("20.kl", "k2 = 0.5 * k1 ** 2", NO_ORDER),
    ("20.best-of-n", "sets = math.comb(len(rewards), n)", EQUAL_SIZES),
    ("20.best-of-n", "probabilities = [math.comb(i, n - 1) / sets for i in range(len(rewards))]", EQUAL_SIZES),
    ("20.pass-at-k", "misses = np.ones(len(wrong))", EQUAL_SIZES),
    ("20.paired", "means = gains[draws].mean(axis=-1)", AXIS),
    ("20.choice", "by_sum = log_probs.argmax(axis=-1)", AXIS),
    ("20.choice", "by_byte = (log_probs / lengths).argmax(axis=-1)", AXIS),
    ("20.choice", "return np.stack([by_sum, by_byte], axis=-1)", AXIS),
]
