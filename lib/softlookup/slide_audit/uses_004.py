"""Lecture 004, what is claimed of attention: order, paths, cost, quality, and what it is used for."""

import numpy as np

from softlookup import reference
from softlookup.slide_audit.compare import cited, claim
from softlookup.slide_audit.item import Found, audited

SEEDS = range(5)


@audited(
    "E099",
    lecture="004",
    slide="Summary: quadratic cost, and three ways out",
    section="13_beyond_text#beyond-text-cost",
    states="Attention's cost grows with the square of the length; Reformer, Linformer and Performer are cheaper.",
    verdict="correct",
    tell="There is a score for each pair. (The three models look at fewer pairs, shorten the row of keys, or take "
    "other weights: none computes the same attention for less.)",
    source=("kitaev2020", "wang2020linformer", "choromanski2021"),
)
def quadratic() -> Found:
    lengths, width = (512, 1024, 2048), 64
    counts = [reference.attention_flops(n, width, projections=False) for n in lengths]
    growth = [after / before for before, after in zip(counts, counts[1:], strict=False)]
    return claim(
        set(growth) == {4.0},
        f"Each doubling of the length, from {lengths[0]} to {lengths[-1]}, multiplies the operations of scores and "
        f"mixing by {growth[0]:.0f}. The three papers say n log n for Reformer, and n for Linformer and Performer.",
    )


@audited(
    "E168",
    lecture="004",
    slide="What transformers are used for",
    section="13_beyond_text#beyond-text-applications",
    states="Fourteen models, each beside the field that it works in.",
    verdict="correct",
    kind="cited",
    tell="Each has a paper, and its title names the field. (Not all are transformers through and through: the "
    "Temporal Fusion Transformer has attention on top of an LSTM.)",
    source=(
        "radford2019",
        "devlin2019",
        "raffel2020",
        "dosovitskiy2021",
        "caron2021",
        "radford2021",
        "radford2023",
        "ramesh2021",
        "openai2023",
        "alayrac2022",
        "lim2021",
        "chen2021",
        "li2022",
        "jumper2021",
    ),
)
def uses() -> Found:
    return cited(
        "GPT, BERT and T5 work on text, ViT and DINO on pictures, CLIP, DALL-E, Flamingo and GPT-4 on pictures and "
        "text, Whisper on speech, the Temporal Fusion Transformer on time series, Copilot (by way of Codex) and "
        "AlphaCode on programs, and AlphaFold2 on proteins: as listed."
    )


@audited(
    "E169",
    lecture="004",
    slide="Attention in an RNN beside self-attention: the advantage",
    section="01_motivation#motivation-paths",
    states="Self-attention can be computed in parallel, and long distances are easier for it.",
    verdict="correct",
    tell="No output needs another output, so none has to wait; and any two tokens meet in one step.",
    source=("vaswani2017",),
)
def parallel() -> Found:
    length = 50
    graphs = {"attention": reference.attention_graph(length), "recurrence": reference.recurrent_graph(length)}
    waits = {name: int(reference.finish_times(graph).max()) for name, graph in graphs.items()}
    paths = {name: int(reference.path_lengths(graph, length).max()) for name, graph in graphs.items()}
    return claim(
        waits["attention"] == paths["attention"] == 1 and min(waits["recurrence"], paths["recurrence"]) == length,
        f"With {length} tokens, attention has {waits['attention']} step that others wait for and a longest path of "
        f"{paths['attention']}, recurrence {waits['recurrence']} steps in a row and a path of {paths['recurrence']}.",
    )


@audited(
    "E170",
    lecture="004",
    slide="Sizes: which model for which task",
    section="09_training#training-sizes",
    states="The base model is enough for most tasks; the large one is for complex problems.",
    verdict="misleading",
    kind="cited",
    tell="No task is named, so nothing could ever contradict it. What can be compared is one task at two sizes.",
    source=("vaswani2017",),
)
def which_size() -> Found:
    return cited(
        "The paper trained both on the same tasks. English to German, on its development set (table 3), the base model "
        "has 25.8 BLEU and the big one 26.4. The one was trained for twelve hours, the other for three and "
        "a half days."
    )


@audited(
    "E171",
    lecture="004",
    slide="What transformers are used for: translation",
    section="01_motivation#motivation-impact",
    states="Machine translation is nearly as good as people.",
    verdict="misleading",
    kind="cited",
    tell="Ask for the languages, the kind of text, and what the raters were shown; such a sentence says nothing "
    "without them.",
    source=("hassan2018", "laubli2018"),
)
def near_human() -> Found:
    return cited(
        "A system was found on a par with people for news from Chinese to English, rated sentence by sentence. When "
        "raters saw whole documents, they preferred the people."
    )


@audited(
    "E172",
    lecture="004",
    slide="Why positions are needed: recurrence",
    section="06_positions#positions-order",
    states="A recurrent network takes in the order of its words by itself, since it reads them one by one.",
    verdict="correct",
    tell="Exchange two words and look at the last state. Attention without positions gives the same rows, in another "
    "order.",
)
def recurrence_knows_order() -> Found:
    moved, kept = [], []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        x, w_x, w_h, w_q, w_k, w_v = rng.normal(size=(6, 4, 4))
        turned = x[[1, 0, 2, 3]]
        states = [reference.recurrent_states(rows, w_x, w_h)[-1] for rows in (x, turned)]
        heads = [reference.one_head(rows, w_q, w_k, w_v) for rows in (x, turned)]
        moved.append(np.abs(states[0] - states[1]).max())
        kept.append(np.abs(heads[0][[1, 0, 2, 3]] - heads[1]).max())
    return claim(
        min(moved) > 1e-3 and max(kept) < 1e-12,
        f"In {len(moved)} random networks the last state moves by at least {min(moved):.2f} when the first two words "
        f"are exchanged; the rows of a random head stay the same up to {max(kept):.0e}.",
    )


@audited(
    "E173",
    lecture="004",
    slide="Positions: added, element by element",
    section="06_positions_more#positions-more-probe",
    states="Adding positions to embeddings keeps what both said.",
    verdict="misleading",
    tell="From a sum alone nobody can tell what was added. It works where the two keep out of each other's way, and "
    "that takes width, and embeddings that are learnt.",
    cause="True of wide trained models, said without the condition.",
)
def adding() -> Found:
    words, places = (one.ravel() for one in np.meshgrid(np.arange(30), np.arange(20)))
    read = {}
    for width in (8, 128):
        rng = np.random.default_rng(0)
        x = rng.normal(size=(30, width))[words] + reference.sinusoidal(20, width)[places]
        fitted = rng.random(len(words)) < 0.5
        read[width] = [_probe(x, labels, fitted) for labels in (words, places)]
    table = reference.sinusoidal(2, 4)
    other = np.array([1.0, 2.0, 3.0, 4.0]) + table[1] - table[0]
    same = np.allclose(np.array([1.0, 2.0, 3.0, 4.0]) + table[1], other + table[0])
    listed = "; ".join(f"in width {width} {a:.0%} and {b:.0%}" for width, (a, b) in read.items())
    return claim(
        not same and min(min(shares) for shares in read.values()) > 0.95,
        f"Two different words at two places {'can have' if same else 'cannot have'} the same sum. A linear probe reads "
        f"word and place from sums that it was not fitted to: {listed}.",
    )


def _probe(x: np.ndarray, labels: np.ndarray, fitted: np.ndarray) -> float:
    """How often a linear map, fitted to some rows, names the labels of the others."""
    with_one = np.hstack([x, np.ones((len(x), 1))])
    w = np.linalg.lstsq(with_one[fitted], np.eye(labels.max() + 1)[labels[fitted]], rcond=None)[0]
    return float(((with_one[~fitted] @ w).argmax(axis=1) == labels[~fitted]).mean())
