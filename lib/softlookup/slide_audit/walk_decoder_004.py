"""Lecture 004, the walk through an encoder-decoder, from the French sentence to the words."""

import numpy as np
import torch

from softlookup import model, reference
from softlookup.slide_audit.compare import claim
from softlookup.slide_audit.item import Found, audited
from softlookup.slide_audit.walk_004 import HEADS, HIDDEN, LAYERS, SOURCE, WIDTH, input_rows

TARGET = ("<BOS>", "J'", "aime", "l'", "apprentissage", "profond", "<PAD>")
SHIFTED = ("<BOS>", "J'", "aime", "l'", "apprentissage", "profond", "<PAD>", "<PAD>")
CHOSEN = {"J'": 0.92, "aime": 0.87, "l'": 0.91, "apprentissage": 0.84, "profond": 0.89, "<EOS>": 0.95}
MEANS = {"J'": "I", "aime": "love", "profond": "deep", "apprentissage": "learning"}
VOCABULARY = 10_000
BACK = np.array(
    [
        [1, 0, 0, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0, 0, 0],
        [1, 1, 1, 1, 0, 0, 0, 0],
        [1, 1, 1, 1, 1, 0, 0, 0],
        [1, 1, 1, 1, 1, 1, 0, 0],
        [1, 1, 1, 1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1, 1, 1, 1],
    ]
)


@audited(
    "E070",
    lecture="004",
    slide="An encoder-decoder by hand: the target, shifted right",
    section="08_decoder_and_masks#decoder-french",
    states="A row called the target, which begins with the start token and has no end token, and a row called "
    "shifted right.",
    verdict="inconsistent",
    tell="Lay one row above the other: every word stands in the same place, so nothing was shifted. And a target "
    "without an end token could teach no model to stop.",
    cause="The row for the decoder's input was written down as the target too, and was then only filled up.",
)
def shifted_right() -> Found:
    moved = ("<BOS>", *TARGET)[: len(SHIFTED)] == SHIFTED
    filled = (*TARGET, "<PAD>") == SHIFTED
    labels = [*TARGET[1:-1], "<EOS>", "<PAD>", "<PAD>"]
    given = ["<BOS>", *labels[:-1]]
    apart = [place for place, pair in enumerate(zip(given, SHIFTED, strict=True)) if pair[0] != pair[1]]
    return claim(
        moved,
        f"The second row {'is the first with one more filler' if filled else 'is not the first filled up'}. Labels "
        f"would be {' '.join(labels)}; moved by one place they differ from the printed input at place "
        f"{', '.join(map(str, apart))} alone, where the label is {labels[apart[0]]} and no loss is taken.",
    )


@audited(
    "E071",
    lecture="004",
    slide="An encoder-decoder by hand: the translation",
    section="08_decoder_and_masks#decoder-french",
    states="The French row is the translation of the English sentence.",
    verdict="inconsistent",
    tell="Tick off the English words one by one: the end of the sentence has no French beside it. As a toy it will "
    "do, but the model that learnt it would learn to leave words out.",
)
def translation() -> Found:
    real = [word for word in SOURCE if word != "<PAD>"]
    said = {MEANS[word] for word in TARGET if word in MEANS}
    missing = " ".join(word for word in real if word not in said)
    return claim(
        not missing,
        f"{len(said)} of {len(real)} English tokens have a French word; nothing says “{missing}”.",
    )


@audited(
    "E072",
    lecture="004",
    slide="An encoder-decoder by hand: the decoder's mask",
    section="08_decoder_and_masks#decoder-causal",
    states="The mask of eight by eight lets each token look at itself and back.",
    verdict="correct",
    tell="Ones on the diagonal and below, and row by row one more of them. (The last two rows look at fillers, which "
    "does no harm while fillers stand behind the words.)",
)
def eight_by_eight() -> Found:
    right = reference.causal_mask(8)
    words = np.array([word != "<PAD>" for word in SHIFTED])
    rows = np.flatnonzero((right & words != right).any(axis=1))
    return claim(
        bool((BACK.astype(bool) == right).all()),
        f"{right.sum()} of {right.size} pairs are allowed, half of 8 times 9. With fillers hidden "
        f"{(right & words).sum()} are left; rows {' and '.join(map(str, rows))} alone change, fillers themselves.",
    )


@audited(
    "E073",
    lecture="004",
    slide="An encoder-decoder by hand: cross-attention",
    section="08_decoder_and_masks#decoder-cross",
    states="Queries come from the decoder, keys and values from the encoder, and the decoder looks at all of the "
    "encoder's positions.",
    verdict="misleading",
    tell="One of the eight positions of the source is a filler. “All that are words” is what is meant: the same "
    "sentence with more fillers behind it must have the same translation.",
)
def cross_attention() -> Found:
    rng = np.random.default_rng(0)
    memory, q = input_rows(), rng.normal(size=(8, WIDTH))
    words = np.array([[word != "<PAD>" for word in SOURCE]])
    short = reference.scaled_dot_product_attention(q, memory[:-1], memory[:-1])
    everything = reference.scaled_dot_product_attention(q, memory, memory)
    masked = reference.scaled_dot_product_attention(q, memory, memory, words)
    return claim(
        np.allclose(everything, short),
        f"Shapes are right. But with the filler in view, outputs differ from those of the bare sentence by up to "
        f"{np.abs(everything - short).max():.2f}; with a mask by {np.abs(masked - short).max():.0e}.",
    )


@audited(
    "E074",
    lecture="004",
    slide="An encoder-decoder by hand: from states to words",
    section="08_decoder_and_masks#decoder-logits",
    states="A product takes eight states of width four to eight rows of ten thousand scores, of which softmax makes "
    "probabilities.",
    verdict="correct",
    tell="The inner sizes of the product agree, and the outer ones are what is left.",
)
def to_words() -> Found:
    rng = np.random.default_rng(0)
    w = rng.normal(size=(WIDTH, VOCABULARY))
    p = reference.softmax(input_rows() @ w)
    return claim(
        p.shape == (8, VOCABULARY) and np.allclose(p.sum(axis=1), 1),
        f"The matrix has {w.size:,} weights, the result the shape {p.shape}, and each row sums to {p[0].sum():.0f}.",
    )


@audited(
    "E075",
    lecture="004",
    slide="An encoder-decoder by hand: the likeliest word at each position",
    section="08_decoder_and_masks#decoder-logits",
    states="At every position the likeliest word is picked, until the end token, where writing stops.",
    verdict="misleading",
    tell="To stop at position five only means something if positions are filled one after another; all at once is "
    "what training does, with the right words given.",
)
def pick_everywhere() -> Found:
    words, length, trials, same = 12, 6, 100, 0
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        next_word = rng.normal(size=(words, words)).argmax(axis=1)  # of a model that looks at the last word alone
        given = rng.integers(words, size=length)
        at_once, written = next_word[given], [int(given[0])]
        for _ in range(length):
            written.append(int(next_word[written[-1]]))
        same += bool((at_once == written[1:]).all())
    joint = np.prod(list(CHOSEN.values()))
    return claim(
        same == trials,
        f"In {trials - same} of {trials} small random models the words picked everywhere at once, behind given "
        f"ones, are not those that the model writes by itself. They are the same where every pick "
        f"is the word that was given. The six probabilities of the slide make {joint:.2f} for the sentence.",
    )


@audited(
    "E076",
    lecture="004",
    slide="An encoder-decoder by hand: summary of the shapes",
    section="08_decoder_and_masks#decoder-whole",
    states="Eight tokens become eight rows of width four, keep that shape through both stacks, and end as eight rows "
    "of ten thousand.",
    verdict="correct",
    tell="Residual connections add, and only equal shapes can be added: so every layer has to hand on the shape that "
    "it got.",
)
def shapes() -> Found:
    torch.manual_seed(0)
    sizes = model.Config(VOCABULARY, d_model=WIDTH, n_heads=HEADS, n_layers=LAYERS, d_hidden=HIDDEN)
    whole = model.Transformer(sizes).eval()
    ids, trace = torch.arange(4, 12)[None, :], model.Trace()
    with torch.no_grad():
        memory, _ = whole.encode(ids)
        logits = whole(ids, ids, trace=trace)
    seen = {tuple(state.shape[1:]) for state in [memory, *trace.states]}
    return claim(
        seen == {(8, WIDTH)} and logits.shape[1:] == (8, VOCABULARY),
        f"A model of these sizes, run: states have the shape {', '.join(map(str, seen))} in the encoder's output and "
        f"in all {len(trace.states)} places of the decoder, logits {tuple(logits.shape[1:])}.",
    )


@audited(
    "E077",
    lecture="004",
    slide="The whole of the transformer: what the encoder is for",
    section="08_decoder_and_masks#decoder-families",
    states="Translation and summaries are named as tasks of an encoder.",
    verdict="misleading",
    kind="damage",
    tell="The heading above names encoder and decoder together for such tasks. An encoder gives one row for each "
    "word that it reads, and a translation is rarely as long as its source. (A label of two columns may have lost "
    "its other half.)",
)
def encoder_tasks() -> Found:
    torch.manual_seed(0)
    sizes = model.Config(100, d_model=WIDTH, n_heads=HEADS, n_layers=1, d_hidden=HIDDEN)
    read = sum(word != "<PAD>" for word in SOURCE)
    with torch.no_grad():
        rows = model.Encoder(sizes).eval()(torch.randn(1, read, WIDTH)).shape[1]
    return claim(
        rows == len(CHOSEN),
        f"From {read} English tokens an encoder makes {rows} rows; the slide's French has {len(CHOSEN)} with its end "
        "token. Classifying and tagging are what an encoder does alone.",
    )
