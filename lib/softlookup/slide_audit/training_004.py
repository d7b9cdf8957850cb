"""Lecture 004, how a transformer is trained: rates, precision, and a table of sizes."""

import numpy as np
import torch

from softlookup import model
from softlookup.slide_audit.compare import cited, claim
from softlookup.slide_audit.item import Found, audited

BASE = {"d_model": 512, "n_layers": 6, "n_heads": 8, "d_hidden": 2048, "dropout": 0.1}
"""The slide's base model."""

LARGE = {"d_model": 1024, "n_layers": 12, "n_heads": 16, "d_hidden": 4096, "dropout": 0.1}
"""The slide's large model, with the fewest layers that it allows."""

BIG = {"d_model": 1024, "n_layers": 6, "n_heads": 16, "d_hidden": 4096, "dropout": 0.3}
"""The big model of the paper's table 3."""

BERT_LARGE = {"d_model": 1024, "n_layers": 24, "n_heads": 16, "d_hidden": 4096, "dropout": 0.1}
"""BERT's larger model, section 3 and appendix A.2 of its paper."""

PAPER_VOCABULARY, PAPER_MILLIONS = 37_000, {"base": 65, "big": 213}
WARMUP = 4000


def millions(d_model: int, n_layers: int, n_heads: int, d_hidden: int) -> float:
    """Parameters of an encoder-decoder with the vocabulary of the paper, in millions."""
    sizes = model.Config(PAPER_VOCABULARY, d_model=d_model, n_layers=n_layers, n_heads=n_heads, d_hidden=d_hidden)
    with torch.device("meta"):  # shapes, and no numbers
        whole = model.Transformer(sizes)
    return sum(one.numel() for one in whole.parameters()) / 1e6


def near(counted: float, published: float) -> bool:
    """Whether two counts are the same up to what the paper leaves open, such as the exact vocabulary."""
    return abs(counted / published - 1) < 0.05


@audited(
    "E089",
    lecture="004",
    slide="Stable training: the learning rate's warm-up",
    section="09_training#training-warmup",
    states="The formula of the rate, with the exponents standing on the line like numbers that are subtracted.",
    verdict="wrong",
    kind="damage",
    tell="A learning rate far above one cannot be meant; put in step one. And the width should make the rate smaller, "
    "while something is subtracted from it here.",
    cause="Powers lost their raised position, in the slide or on the way from it to text; raised again, the formula is "
    "the paper's.",
    audit="It read the line from left to right, taking the first difference before the product. Multiplied first, as "
    "is usual, it comes out as another number; either is far too large, so its verdict stands.",
    source=("vaswani2017",),
)
def warm_up() -> Found:
    d, step = 512, 1
    least = min(step - 0.5, step * WARMUP - 1.5)
    literal, from_left = d - 0.5 * least, (d - 0.5) * least
    right = model.noam(step, d, warmup=WARMUP)
    return claim(
        bool(np.isclose(literal, right)),
        f"As printed, the rate of step {step} at width {d} is {literal:.2f} ({from_left:.2f} if read from left to "
        f"right). With exponents it is {right:.2e}, and {model.noam(WARMUP, d, warmup=WARMUP):.2e} at its highest, at "
        f"step {WARMUP}.",
    )


@audited(
    "E090",
    lecture="004",
    slide="Stable training: label smoothing",
    section="09_training#training-smoothing",
    states="A smoothing of 0.1 is typical and makes a model generalize better.",
    verdict="correct",
    kind="cited",
    tell="It is half of what the paper says: a model that is less sure has a worse perplexity. And a smoothed loss "
    "cannot reach zero, so read it beside its floor.",
    source=("vaswani2017", "szegedy2016"),
)
def smoothing() -> Found:
    asked = model.label_smoothing(torch.zeros(1, 1, dtype=torch.long), PAPER_VOCABULARY, 0.1)[0, 0].double()
    floor = float(-(asked * asked.log()).sum())
    return cited(
        "The paper takes 0.1, and says that this hurts perplexity but improves accuracy and BLEU. With its "
        f"{PAPER_VOCABULARY:,} pieces the smoothed loss cannot fall below {floor:.3f}."
    )


@audited(
    "E091",
    lecture="004",
    slide="Stable training: gradient clipping",
    section="09_training#training-clipping",
    states="Clipping caps the norm of the gradient at a threshold, against gradients that explode.",
    verdict="correct",
    tell="A cap on the norm leaves the direction as it is, and does nothing to a gradient that is short enough. "
    "(The paper's own recipe does without it.)",
    source=("pascanu2013",),
)
def clipping() -> Found:
    norms, turned = [], 0.0
    for size in (0.1, 1.0, 1000.0):
        weight = torch.nn.Parameter(torch.zeros(20, dtype=torch.float64))
        weight.grad = torch.from_numpy(np.random.default_rng(0).normal(size=20)) * size
        before = weight.grad.clone()
        torch.nn.utils.clip_grad_norm_([weight], 1.0)
        norms.append((float(before.norm()), float(weight.grad.norm())))
        turned = max(turned, 1 - float(torch.cosine_similarity(before, weight.grad, dim=0)))
    capped = all(after <= 1 + 1e-6 and (before > 1 or np.isclose(after, before)) for before, after in norms)
    listed = ", ".join(f"{before:.4g} becomes {after:.4g}" for before, after in norms)
    return claim(
        capped and turned < 1e-9, f"Norms with a cap of 1: {listed}. Directions stay, up to {abs(turned):.0e}."
    )


@audited(
    "E092",
    lecture="004",
    slide="Stable training: mixed precision",
    section="09_training#training-precision",
    states="Training with numbers of 16 bits takes less memory.",
    verdict="misleading",
    tell="Ask: memory of what? The optimizer keeps its averages, and a copy of the weights, in 32 bits, or small steps "
    "would be lost. What shrinks are the activations, by half in pure half precision and by less under autocast, and "
    "they are little where the batch is small.",
    source=("micikevicius2018",),
)
def mixed_precision() -> Found:
    half, single = np.dtype(np.float16).itemsize, np.dtype(np.float32).itemsize
    full = {"weights": single, "gradients": single, "Adam": 2 * single}
    mixed = {"weights": half, "gradients": half, "Adam": 2 * single, "copy": single}
    small = float(np.float16(1) + np.float16(1e-4)) - 1
    return claim(
        sum(mixed.values()) < sum(full.values()),
        f"With Adam, weights, gradients and states take {sum(full.values())} bytes a parameter in float32 and "
        f"{sum(mixed.values())} in half precision with a float32 copy. Activations go from {single} bytes to {half}. "
        f"Without the copy, 1 + 0.0001 in float16 is 1 + {small:g}.",
    )


@audited(
    "E093",
    lecture="004",
    slide="Sizes: the base model",
    section="09_training#training-sizes",
    states="Width 512, 6 layers, 8 heads, hidden width 2048, dropout 0.1.",
    verdict="correct",
    tell="Heads of width 64, and a hidden width four times the model's: the numbers of the paper's table.",
    source=("vaswani2017",),
)
def base_sizes() -> Found:
    ours = model.Config(PAPER_VOCABULARY)
    same = all(getattr(ours, name) == size for name, size in BASE.items())
    counted = millions(*(int(BASE[name]) for name in ("d_model", "n_layers", "n_heads", "d_hidden")))
    return claim(
        same and near(counted, PAPER_MILLIONS["base"]),
        f"With {PAPER_VOCABULARY:,} pieces these sizes have {counted:.1f} million parameters; the paper says "
        f"{PAPER_MILLIONS['base']} million.",
    )


@audited(
    "E094",
    lecture="004",
    slide="Sizes: the large model's layers",
    section="09_training#training-sizes",
    states="Beside the paper's base model stands a large one, with 12 layers or more.",
    verdict="misleading",
    tell="The column beside it is the paper's base model, so one takes this one for the paper's big model, which is "
    "wider and not deeper. “12+” is no size of a model that somebody has trained.",
    cause="Every number of the column is true of BERT's large model, an encoder alone.",
    audit="It called the number wrong. It is, for the paper's big model; but the slide does not say whose model it "
    "means, and BERT's large one has more than twelve layers.",
    source=("vaswani2017", "devlin2019"),
)
def large_layers() -> Found:
    d, n, f = (int(LARGE[name]) for name in ("d_model", "n_heads", "d_hidden"))
    six, twelve = millions(d, int(BIG["n_layers"]), n, f), millions(d, int(LARGE["n_layers"]), n, f)
    fits = all(LARGE[name] <= size if name == "n_layers" else LARGE[name] == size for name, size in BERT_LARGE.items())
    return claim(
        near(twelve, PAPER_MILLIONS["big"]),
        f"The paper's big model has {PAPER_MILLIONS['big']} million parameters. Six layers on each side make {six:.0f} "
        f"million, twelve {twelve:.0f} million. BERT's large model, with {BERT_LARGE['n_layers']} layers, "
        f"{'fits' if fits else 'does not fit'} all of the column.",
    )


@audited(
    "E095",
    lecture="004",
    slide="Sizes: the large model's dropout",
    section="09_training#training-sizes",
    states="The large model has a dropout of 0.1, as the base model has.",
    verdict="misleading",
    tell="Look for the condition: larger models mostly need more dropout on the same data, and less where there is "
    "more data. The paper's big model has two values, one for each pair of languages.",
    cause="It is BERT's number, or that of the paper's larger data set, English to French.",
    audit="It called the number wrong, yet named the big model of the paper that has it, the one for English to "
    "French. One of two values, given without its condition, misleads.",
    source=("vaswani2017", "devlin2019"),
)
def large_dropout() -> Found:
    published = {"English to German": 0.3, "English to French": 0.1}
    same = [pair for pair, share in published.items() if share == LARGE["dropout"]]
    listed = " and ".join(f"{share} for {pair}" for pair, share in published.items())
    return claim(
        len(same) == len(published),
        f"The paper's big model was trained with {listed}; {len(same)} of {len(published)} is the printed value. "
        f"BERT's large model has {BERT_LARGE['dropout']}.",
    )


@audited(
    "E096",
    lecture="004",
    slide="Sizes: the large model's widths and heads",
    section="09_training#training-sizes",
    states="Width 1024, 16 heads, hidden width 4096.",
    verdict="correct",
    tell="Twice the base model in all three, so heads are as wide as before.",
    source=("vaswani2017",),
)
def large_widths() -> Found:
    names = ("d_model", "n_heads", "d_hidden")
    twice = all(LARGE[name] == 2 * BASE[name] and LARGE[name] == BIG[name] for name in names)
    counted = millions(*(int(BIG[name]) for name in ("d_model", "n_layers", "n_heads", "d_hidden")))
    return claim(
        twice and near(counted, PAPER_MILLIONS["big"]),
        f"Heads are {LARGE['d_model'] / LARGE['n_heads']:.0f} wide. With the paper's {BIG['n_layers']} layers on each "
        f"side these sizes have {counted:.0f} million parameters; the paper says {PAPER_MILLIONS['big']} million.",
    )


@audited(
    "E097",
    lecture="004",
    slide="Sizes: warm-up and Adam",
    section="09_training#training-adam",
    states="4000 steps of warm-up, and Adam with 0.9, 0.98 and one billionth.",
    verdict="correct",
    kind="cited",
    tell="The second number is not Adam's usual 0.999, so it was looked up and not remembered.",
    source=("vaswani2017",),
)
def adam_numbers() -> Found:
    rates = [model.noam(step, int(BASE["d_model"]), warmup=WARMUP) for step in range(1, 3 * WARMUP)]
    return cited(
        f"Section 5.3 of the paper has these numbers. With them the rate is highest at step {np.argmax(rates) + 1}, "
        f"{max(rates):.2e} for the base model."
    )


@audited(
    "E098",
    lecture="004",
    slide="Sizes: the batch",
    section="09_training#training-accumulation",
    states="The batch should be as large as the GPU's memory allows.",
    verdict="misleading",
    tell="Then the same recipe would have another batch on each machine, and the paper could not name its own, about "
    "25,000 tokens of each language. With a given amount of text, larger batches mean fewer steps.",
    source=("vaswani2017", "mccandlish2018"),
)
def batch_size() -> Found:
    budget, width, sizes, rates = 4096, 16, (4, 32, 256, 4096), (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
    losses = dict.fromkeys(sizes, 0.0)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        right, x = rng.normal(size=width), rng.normal(size=(budget, width)) * np.linspace(0.2, 1.0, width)
        y = x @ right + 0.5 * rng.normal(size=budget)
        for size in sizes:
            losses[size] += min(_left_over(x, y, right, size, rate) for rate in rates) / 5
    best = min(losses, key=lambda size: losses[size])
    listed = ", ".join(f"{size}: {loss:.3f}" for size, loss in losses.items())
    return claim(
        best == max(sizes),
        f"A linear model reads {budget} examples once, each batch size with the best of {len(rates)} rates. How far "
        f"its answers are from the truth in the end, squared, by batch size: {listed}. Best is {best}.",
    )


def _left_over(x: np.ndarray, y: np.ndarray, right: np.ndarray, size: int, rate: float) -> float:
    """How far off the answers of a linear model are that has read all examples once, in batches of a size."""
    w = np.zeros_like(right)
    for start in range(0, len(x), size):
        some, wanted = x[start : start + size], y[start : start + size]
        w = w - rate * some.T @ (some @ w - wanted) / len(some)
    return float(((x @ (w - right)) ** 2).mean())
