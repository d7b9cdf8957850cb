"""Lecture 003: the soft dictionary, the next word, and one head and several of them in symbols and shapes."""

import numpy as np

from softlookup.reference import attention_weights, multi_head_attention, one_head, project, softmax, split_heads
from softlookup.slide_audit.compare import claim
from softlookup.slide_audit.item import Found, audited

FRENCH = {"apple": "pomme", "banana": "banane", "lemon": "citron"}
SHARES = np.array([0.1, 0.1, 0.8])
"""The mixing percentages, in the dictionary's order."""
SENTENCE = "To date, the cleverest thinker of all time was Issac."
WORDS = SENTENCE.replace(",", "").replace(".", "").split()


@audited(
    "E100",
    lecture="003",
    slide="A soft dictionary: the mixing percentages",
    section="02_soft_lookup#soft-lookup-mix",
    states="For an orange, mix 0.1 pomme, 0.1 banane and 0.8 citron.",
    verdict="correct",
    tell="Shares of a mixture: none negative, all together one, and the lemon, which is most like an orange, has most.",
)
def mixing_percentages() -> Found:
    lead = float(np.log(SHARES[2] / SHARES[0]))
    again = [softmax(np.array([0, 0, lead]) + start) for start in (0, 5)]
    return claim(
        bool(np.isclose(SHARES.sum(), 1) and (SHARES >= 0).all() and np.allclose(again, SHARES)),
        f"They sum to {SHARES.sum():.1f}. A softmax gives them when the lemon's score leads both others by "
        f"{lead:.3f}, the logarithm of {SHARES[2] / SHARES[0]:.0f}, wherever the scores begin.",
    )


@audited(
    "E101",
    lecture="003",
    slide="A soft dictionary: the picture of the mixture",
    section="02_soft_lookup#soft-lookup-mix",
    states="In the text of one picture the shares stand in the order 0.8, 0.1, 0.1 over pomme, banane, citron.",
    verdict="inconsistent",
    kind="damage",
    tell="The same deck mixes most of the lemon everywhere else, and an orange is no apple. Parts of an animated slide "
    "are written to its text in the order in which they were drawn, so this may be no mistake of the slide.",
)
def mixture_in_the_picture() -> Found:
    picture = np.array([0.8, 0.1, 0.1])
    same = bool(np.array_equal(picture, SHARES))
    most = [list(FRENCH.values())[int(shares.argmax())] for shares in (picture, SHARES)]
    return claim(same, f"Read in that order the picture mixes most of {most[0]}; the percentages stated, of {most[1]}.")


@audited(
    "E102",
    lecture="003",
    slide="A dictionary that is asked for an orange",
    section="02_soft_lookup#soft-lookup-hard",
    states="Python complains when a dictionary is asked for a key that it does not have.",
    verdict="correct",
    tell="An orange is no key, and square brackets have no second choice.",
)
def missing_key() -> Found:
    try:
        got = FRENCH["orange"]
    except KeyError as complaint:
        got = f"{type(complaint).__name__}: {complaint}"
    return claim(got.startswith("KeyError"), f"Python says {got}.")


def next_word(*prefix: str) -> str:
    """The word of the sentence that follows a prefix of it."""
    if tuple(WORDS[: len(prefix)]) != prefix:
        raise ValueError(f"{prefix} is no beginning of the sentence")
    return WORDS[len(prefix)]


@audited(
    "E103",
    lecture="003",
    slide="Labels from plain text: the pairs",
    section="01_motivation#motivation-next-token",
    states="Four beginnings of a sentence, each with the word that comes next; after 'thinker' that is 'was'.",
    verdict="wrong",
    tell="Put each label behind its feature: the words must be a beginning of the sentence again.",
    cause="Rows in the middle were cut out, and the label of a later row came to stand beside an earlier feature.",
)
def training_pairs() -> Found:
    printed = {
        "To date the": "cleverest",
        "To date the cleverest": "thinker",
        "To date the cleverest thinker": "was",
        "To date the cleverest thinker of all time was": "Issac",
    }
    true = {feature: next_word(*feature.split()) for feature in printed}
    off = [feature.split()[-1] for feature in printed if printed[feature] != true[feature]]
    before = " ".join(WORDS[: WORDS.index("was")][-3:])
    return claim(
        not off,
        f"{len(off)} of {len(printed)} labels is off: behind '{off[0]}' comes "
        f"'{true['To date the cleverest thinker']}'; 'was' is the label behind '{before}'.",
    )


@audited(
    "E104",
    lecture="003",
    slide="Labels from plain text: the name",
    section="01_motivation#motivation-next-token",
    states="The cleverest thinker is called Issac.",
    verdict="wrong",
    tell="Newton's name comes from the Hebrew Yitzhak by way of the Greek Isaak: two a's, one s.",
    cause="A letter doubled in the wrong place.",
)
def newtons_name() -> Found:
    printed, right = WORDS[-1], "Isaac"
    return claim(printed == right, f"{right}. Printed are {printed.count('s')} s and {printed.count('a')} a.")


@audited(
    "E105",
    lecture="003",
    slide="Labels from plain text: what is pushed up",
    section="01_motivation#motivation-next-token",
    states="For the inputs To, date, the, cleverest, the probabilities of date, the, cleverest, thinker are pushed up.",
    verdict="correct",
    tell="Labels are the inputs, moved by one.",
)
def pushed_up() -> Found:
    inputs, labels = ["To", "date", "the", "cleverest"], ["date", "the", "cleverest", "thinker"]
    true = [next_word(*inputs[: i + 1]) for i in range(len(inputs))]
    return claim(
        labels == true and inputs[1:] == labels[:-1],
        f"All {len(labels)} labels are the words that come next (the comma is not counted as a token).",
    )


def _drawn(*shapes: tuple[int, ...], seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape) for shape in shapes]


@audited(
    "E106",
    lecture="003",
    slide="Queries, keys and values in symbols",
    section="04_one_head#one-head-project",
    states="The matrices are (d, d_k); a query is q = W^T x for a token, and Q = X W for all of them, (n, d_k).",
    verdict="correct",
    tell="Row i of a product is row i of its left factor times the right one; turned into a column, the factors change "
    "places.",
)
def one_token_or_all() -> Found:
    x, w = _drawn((4, 6), (6, 3))
    q = project(x, w)
    one_by_one = np.array([w.T @ token for token in x])
    return claim(
        q.shape == (4, 3) and bool(np.allclose(q, one_by_one)),
        f"Both ways give the same {q.shape[0]} queries of {q.shape[1]} numbers, to {np.abs(q - one_by_one).max():.0e}.",
    )


PUBLISHED_HEADS = {
    "Transformer base": (512, 8),
    "BERT base": (768, 12),
    "GPT-2 small": (768, 12),
    "GPT-3 175B": (12_288, 96),
    "Llama 2 7B": (4096, 32),
}
"""Width and heads of published models."""


@audited(
    "E107",
    lecture="003",
    slide="The width of a head",
    section="05_many_heads#many-heads-split",
    states="A head is typically narrower than a token.",
    verdict="correct",
    source=("vaswani2017", "devlin2019", "brown2020"),
    tell="Several heads share the width of a token, and a model with one head only is rare.",
)
def narrow_heads() -> Found:
    widths = {name: width // heads for name, (width, heads) in PUBLISHED_HEADS.items()}
    return claim(
        all(widths[name] < width for name, (width, _) in PUBLISHED_HEADS.items()),
        "; ".join(f"{name}: {widths[name]} of {width}" for name, (width, _) in PUBLISHED_HEADS.items()) + ".",
    )


@audited(
    "E108",
    lecture="003",
    slide="The attention matrix",
    section="04_one_head#one-head-weights",
    states="A is the softmax along each row of Q K^T / sqrt(d_k), its rows sum to 1, and Z is A V.",
    verdict="correct",
    tell="A row belongs to one query, and a query shares out one whole. Columns need not sum to anything.",
)
def attention_matrix() -> Found:
    x, w_q, w_k, w_v = _drawn((4, 6), (6, 3), (6, 3), (6, 3))
    q, k, v = (project(x, w) for w in (w_q, w_k, w_v))
    a = attention_weights(q, k)
    written = np.array([softmax(k @ query / np.sqrt(3)) for query in q])
    return claim(
        bool(np.allclose(a, written) and np.allclose(a.sum(-1), 1) and np.allclose(a @ v, one_head(x, w_q, w_k, w_v))),
        f"Rows sum to {', '.join(f'{row:.2f}' for row in a.sum(-1))}; columns, here, to "
        f"{', '.join(f'{column:.2f}' for column in a.sum(0))}.",
    )


@audited(
    "E109",
    lecture="003",
    slide="Attention in parallel: the fourth output without the third",
    section="04_one_head#one-head-attention",
    states="The fourth token's output can be computed without that of the third.",
    verdict="correct",
    tell="No output stands on the right of any formula within a layer. The third token's key and value are needed, "
    "not what it found.",
)
def fourth_without_third() -> Found:
    x, w_q, w_k, w_v = _drawn((5, 6), (6, 3), (6, 3), (6, 3))
    whole = one_head(x, w_q, w_k, w_v)
    alone = attention_weights(project(x[3:4], w_q), project(x, w_k)) @ project(x, w_v)
    return claim(
        bool(np.allclose(alone[0], whole[3])),
        f"Made from one query alone, it differs by {np.abs(alone[0] - whole[3]).max():.0e} from its row in the whole. "
        "The layer above then needs the outputs of all tokens.",
    )


@audited(
    "E110",
    lecture="003",
    slide="Shapes by example: five heads",
    section="05_many_heads#many-heads-shapes",
    states="With 2 tokens of width 4 and 5 heads of width 3: every shape from (4, 3) of a matrix to (2, 4) of the "
    "result.",
    verdict="correct",
    tell="Follow the axes: what stands inside a product has to be equal, what stands outside is the result's shape.",
)
def five_heads() -> Found:
    n, d, width, heads = 2, 4, 3, 5
    x, w_o = _drawn((n, d), (heads * width, d))
    each = [_drawn((d, width), (d, width), (d, width), seed=1 + h) for h in range(heads)]
    q = project(x, each[0][0])
    a = attention_weights(q, project(x, each[0][1]))
    z = [one_head(x, *matrices) for matrices in each]
    joined = np.concatenate(z, axis=-1)
    out = joined @ w_o
    found = [one.shape for one in (each[0][0], w_o, x, q, a, z[0], joined, out)]
    printed = [(4, 3), (15, 4), (2, 4), (2, 3), (2, 2), (2, 3), (2, 15), (2, 4)]
    packed = (np.concatenate(matrices, axis=1) for matrices in zip(*each, strict=True))
    w_q, w_k, w_v = packed
    same = bool(np.allclose(out, multi_head_attention(x, w_q, w_k, w_v, w_o, heads)))
    learned = sum(m.size for matrices in each for m in matrices) + w_o.size
    return claim(
        found == printed and same,
        f"All come out so. It learns {learned} numbers; the heads together are {joined.shape[1]} wide, where usually "
        f"they are as wide as a token, {d}.",
    )


@audited(
    "E111",
    lecture="003",
    slide="Several heads in symbols",
    section="05_many_heads#many-heads-concat",
    states="Joined outputs have H times d_k numbers, W^o is (H d_k, d), and what leaves the layer has d again.",
    verdict="correct",
    tell="The output has to be of the tokens' width, or layers could not be stacked and no residual could be added.",
)
def joined_heads() -> Found:
    held = []
    for heads, width, d in ((5, 3, 4), (2, 4, 8), (1, 6, 3)):
        x, w_q, w_k, w_v, w_o = _drawn((4, d), *[(d, heads * width)] * 3, (heads * width, d))
        z = split_heads(project(x, w_v), heads)
        fits = z.shape == (heads, 4, width) and w_o.shape == (heads * width, d)
        held.append(fits and multi_head_attention(x, w_q, w_k, w_v, w_o, heads).shape == x.shape)
    return claim(all(held), f"So it is in {sum(held)} of {len(held)} layers of unlike sizes, each run on 4 tokens.")
