"""Lecture 004, the walk through an encoder-decoder, from the French sentence to the words."""

from typing import Any

import numpy as np
import torch

from softlookup import model
from softlookup_course.slide_audit.walk_004 import HEADS, HIDDEN, LAYERS, SOURCE, WIDTH
from softlookup_course.slide_audit.walk_004 import input_rows as input_rows

TARGET = ("<BOS>", "J'", "aime", "l'", "apprentissage", "profond", "<PAD>")
SHIFTED = ("<BOS>", "J'", "aime", "l'", "apprentissage", "profond", "<PAD>", "<PAD>")
CHOSEN = {"J'": 0.92, "aime": 0.87, "l'": 0.91, "apprentissage": 0.84, "profond": 0.89, "<EOS>": 0.95}
MEANS = {"J'": "I", "aime": "love", "profond": "deep", "apprentissage": "learning"}
VOCABULARY = 10_000
BACK = np.tril(np.ones((8, 8), dtype=int))


def pick_everywhere() -> dict[str, Any]:
    words, length, trials, same = 12, 6, 100, 0
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        next_word = rng.normal(size=(words, words)).argmax(axis=1)  # of a model that looks at the last word alone
        ids = rng.integers(words, size=length)
        at_once, written = next_word[ids], [int(ids[0])]
        for _ in range(length):
            written.append(int(next_word[written[-1]]))
        same += bool((at_once == written[1:]).all())
    return {"same": same, "trials": trials}


def shapes() -> dict[str, Any]:
    torch.manual_seed(0)
    sizes = model.Config(VOCABULARY, d_model=WIDTH, n_heads=HEADS, n_layers=LAYERS, d_hidden=HIDDEN)
    whole = model.Transformer(sizes).eval()
    ids, trace = torch.arange(4, 12)[None, :], model.Trace()
    with torch.no_grad():
        memory, _ = whole.encode(ids)
        logits = whole(ids, ids, trace=trace)
    state_shapes = {tuple(state.shape[1:]) for state in [memory, *trace.states]}
    return {"logits": logits, "seen": state_shapes, "trace": trace}


def encoder_tasks() -> dict[str, Any]:
    torch.manual_seed(0)
    sizes = model.Config(100, d_model=WIDTH, n_heads=HEADS, n_layers=1, d_hidden=HIDDEN)
    read = sum(token != "<PAD>" for token in SOURCE)
    with torch.no_grad():
        rows = model.Encoder(sizes).eval()(torch.randn(1, read, WIDTH)).shape[1]
    return {"read": read, "rows": rows}
