"""Lectures 000 to 002, what is in common: a store of orders, tokens, one head step by step, and the last layer."""

import math

import numpy as np

from softlookup.reference import (
    attention_weights,
    embed,
    multi_head_attention,
    one_head,
    one_hot,
    scaled_dot_product_attention,
    softmax,
)
from softlookup.slide_audit.compare import cited, claim
from softlookup.slide_audit.item import Found, audited

ORDERS = {
    f"order_{100 + i}": {"items": f"{letter}1", "delivery_date": f"{letter}2"} for i, letter in enumerate("abcdefghijk")
}
"""The store of lecture 001: eleven orders."""


@audited(
    "E127",
    lecture="002",
    slide="The store of orders in the other deck",
    section="02_soft_lookup#soft-lookup-hard",
    states="The text of the store has keys such as oxder_100, and items such as al.",
    verdict="wrong",
    kind="damage",
    tell="Keys that are counted up should differ in their number only, and a1 is followed by b1 and c1.",
    cause="Read from a picture of the slide: an x crept in beside the r, and the digit 1 became the letter l.",
)
def garbled_store() -> Found:
    printed = "oxder_100 oxrder_101 ordexr_102 order_103 order_104 order_105 ordexr_106 oxrder_107 order_108 oxrder_109"
    keys, items = [*printed.split(), "ordexr_110"], "al bl c1 d1 el f1 gl h1 il j1 k1l".split()
    bad = sum(key != right for key, right in zip(keys, ORDERS, strict=True))
    bad_items = sum(item != order["items"] for item, order in zip(items, ORDERS.values(), strict=True))
    return claim(
        not bad and not bad_items,
        f"{bad} of {len(keys)} keys and {bad_items} of {len(items)} items differ from lecture 001, which has the same "
        "store in clean text.",
    )


@audited(
    "E128",
    lecture="001",
    slide="The store of orders",
    section="02_soft_lookup#soft-lookup-hard",
    states="Eleven orders under their keys; two queries, for order 104 and for order 106.",
    verdict="correct",
    tell="The letters count along with the numbers: 104 is the fifth, so e; 106 is the seventh, so g.",
)
def hard_lookup() -> Found:
    found = [ORDERS[key]["items"] for key in ("order_104", "order_106")]
    return claim(
        len(ORDERS) == 11 and found == ["e1", "g1"],
        f"Of {len(ORDERS)} orders the queries find {found[0]} and {found[1]}. This is a hard lookup, a key has to be "
        "equal; attention weighs all of them.",
    )


@audited(
    "E129",
    lecture="001",
    slide="Attention as a formula",
    section="04_one_head#one-head-attention",
    states="softmax(Q K^T / sqrt(d_k)) V.",
    verdict="correct",
    source=("vaswani2017",),
    tell="It is the paper's first formula. The shapes fit: (T, d_k) times (d_k, S), times (S, d_v).",
)
def attention_formula() -> Found:
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((3, 4)), rng.standard_normal((5, 4)), rng.standard_normal((5, 2))
    written = softmax(q @ k.T / np.sqrt(q.shape[-1])) @ v
    ours = scaled_dot_product_attention(q, k, v)
    return claim(
        bool(np.allclose(written, ours)),
        f"As written it gives {written.shape[0]} answers of width {written.shape[1]}, those of the reference.",
    )


@audited(
    "E130",
    lecture="001",
    slide="One head in steps: divide by 8",
    section="04_one_head#one-head-scale",
    states="Scores are divided by 8, the square root of d_k.",
    verdict="correct",
    source=("vaswani2017",),
    tell="The first transformer's heads are 512 / 8 wide. That it has 8 heads as well is a coincidence.",
)
def divide_by_eight() -> Found:
    width = 512 // 8
    return claim(
        math.sqrt(width) == 8, f"The root of {width} is {math.sqrt(width):g}; heads of another width need another."
    )


@audited(
    "E131",
    lecture="000",
    slide="Self-attention: the numbered steps",
    section="04_one_head#one-head-scale",
    states="Embeddings, scores, normalised scores, weighted sum: three steps on some slides, four on others.",
    verdict="misleading",
    tell="Compare the list with the formula: there is a root in it. And the last step has the number three on one "
    "slide, four on another.",
)
def numbered_steps() -> Found:
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((3, 5, 64))
    listed = softmax(q @ k.T) @ v
    true = scaled_dot_product_attention(q, k, v)
    sharp, soft = softmax(q @ k.T).max(-1).mean(), attention_weights(q, k).max(-1).mean()
    return claim(
        bool(np.allclose(listed, true)),
        f"Carried out as listed, the division by the root is missing. With 5 tokens of width 64 the largest weight is "
        f"{sharp:.2f} on average, with it {soft:.2f}; answers differ by up to {np.abs(listed - true).max():.2f}.",
    )


@audited(
    "E132",
    lecture="000",
    slide="The title",
    section="01_motivation#motivation-machine",
    states="The deck's title names Deepspeed and Alphafold3.",
    verdict="misleading",
    tell="Read the list of topics on the third slide beside it.",
    cause="A title left over from another deck that this one was made from.",
)
def left_over_title() -> Found:
    title = {"deepspeed", "alphafold3"}
    topics = {"tokenization", "embeddings", "positions", "query", "key", "value", "attention", "multi-head"}
    topics |= {"feed-forward", "norm", "residual", "mask", "linear", "softmax", "encoder", "decoder"}
    shared = title & topics
    return claim(
        bool(shared),
        f"Of the title's {len(title)} names {len(shared)} are among the deck's topics, which are transformers.",
    )


@audited(
    "E133",
    lecture="000",
    slide="Tokenization: one-hot vectors",
    section="03_tokens_and_embeddings#tokens-one-hot",
    states="Tokenization makes one-hot vectors.",
    verdict="misleading",
    tell="A vocabulary of fifty thousand would make fifty thousand numbers of every token, all but one of them zero. "
    "The one that is not zero can be said with one number.",
    cause="One-hot rows are how the lookup of an embedding is written as a product. A model may compute it so, from "
    "the ids: BERT's published code does on TPUs (use_one_hot_embeddings). A tokenizer does not.",
    source=("devlin2018code",),
)
def one_hot_or_id() -> Found:
    from softlookup.text import WordTokenizer

    tokenizer = WordTokenizer.train(["ate an apple"])
    ids = np.array(tokenizer.encode("ate an apple"))
    table = np.random.default_rng(0).standard_normal((len(tokenizer), 4))
    rows = one_hot(ids, len(tokenizer))
    found = "the same" if np.allclose(rows @ table, embed(ids, table)) else "another"
    return claim(
        ids.ndim == 2 and ids.shape == rows.shape,
        f"A tokenizer gives ids: {ids.size} for three words, where one-hot rows would be {rows.size} numbers. Looking "
        f"the ids up gives {found} result as multiplying one-hot rows by the table.",
    )


@audited(
    "E134",
    lecture="002",
    slide="Why positions: two orders of the same words",
    section="06_positions#positions-order",
    states="'Ate an apple' and 'apple ate an' hold the same words in another order.",
    verdict="correct",
    tell="Sort the words of both.",
)
def same_words() -> Found:
    first, second = "ate an apple <eos>".split(), "apple ate an <eos>".split()
    rng = np.random.default_rng(0)
    rows = {word: rng.standard_normal(4) for word in sorted(set(first))}
    weights = rng.standard_normal((3, 4, 4))
    outs = [one_head(np.array([rows[word] for word in words]), *weights) for words in (first, second)]
    moved = [second.index(word) for word in first]
    return claim(
        sorted(first) == sorted(second) and first != second,
        f"The same {len(first)} tokens, and a head without positions gives each of them the same answer in both, to "
        f"{np.abs(outs[0] - outs[1][moved]).max():.0e}.",
    )


@audited(
    "E135",
    lecture="001",
    slide="The last layer: the largest of the log-probabilities",
    section="10_inference#inference-greedy",
    states="The index of the largest log-probability is that of the next word.",
    verdict="correct",
    tell="Softmax and logarithm keep the order, so the largest stays the largest. (It is the likeliest word; one may "
    "also draw.)",
)
def largest_of_logs() -> Found:
    logits = 5 * np.random.default_rng(0).standard_normal((100, 30))
    picked = [one.argmax(-1) for one in (logits, softmax(logits), np.log(softmax(logits)))]
    same = sum(len({int(one[i]) for one in picked}) == 1 for i in range(len(logits)))
    return claim(
        same == len(logits),
        f"In {same} of {len(logits)} rows of {logits.shape[1]} logits, logits, probabilities and their logarithms have "
        "the largest in the same place. To take the likeliest word one needs no softmax.",
    )


@audited(
    "E136",
    lecture="001",
    slide="Several heads",
    section="05_many_heads#many-heads-parallel",
    states="Heads work at the same time, on matrices that they do not share, and are joined at the end.",
    verdict="correct",
    tell="No head reads what another has found; and heads with the same parameters would all find the same.",
)
def heads_of_their_own() -> Found:
    rng = np.random.default_rng(0)
    heads, width, d = 3, 2, 6
    x, w_o = rng.standard_normal((4, d)), rng.standard_normal((heads * width, d))
    each = rng.standard_normal((heads, 3, d, width))
    one_by_one = np.concatenate([one_head(x, *matrices) for matrices in each], axis=-1) @ w_o
    w_q, w_k, w_v = (np.concatenate(list(each[:, i]), axis=1) for i in range(3))
    packed = multi_head_attention(x, w_q, w_k, w_v, w_o, heads)
    return claim(
        bool(np.allclose(one_by_one, packed)),
        f"{heads} heads one after another, with {each[0].size} numbers each, give what all of them at once give.",
    )


@audited(
    "E137",
    lecture="001",
    slide="Rotary positions in recent models",
    section="06_positions#positions-rotary",
    states="Rotary positions are what nearly all newer language models have.",
    verdict="correct",
    kind="cited",
    source=("grattafiori2024", "touvron2023", "black2022"),
    tell="Look into the configuration of a published model: a number called rope_theta gives it away.",
)
def recent_models() -> Found:
    return cited(
        "The papers on LLaMA, Llama 3 and GPT-NeoX-20B name them, and the published configurations of Mistral, Qwen, "
        "Gemma and DeepSeek's models have their number."
    )
