"""The task on a small model that writes with a cache."""

from dataclasses import replace
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch10_inference.layer import weights
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.data.published import described
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.oracle import expected_results


def _model(rng: Rng, v: int, d: int, dtype: str) -> tuple[np.ndarray, ...]:
    """A small model; its states are far enough apart that no two logits compete."""
    w_q, w_k, w_v, w_o = weights(rng, d, d, d, dtype)
    return normal(rng, v, d, dtype=dtype), w_q, w_k, 1.6 * w_v, 1.6 * w_o


def _write_cases(rng: Rng) -> list[Case]:
    def case(
        label: str, v: int, d: int, n: int, prompt: int, limit: int, end_after: int, dtype: str = "float64"
    ) -> Case:
        """A model that writes at least three different tokens; the end token is the one it writes after so many."""
        end_given = "given" in label
        for _ in range(200):
            prompt_ids = rng.integers(0, v, size=prompt)
            args: Any = (*_model(rng, v, d, dtype), n, prompt_ids, -1, limit)
            written, logits = expected_results(variant_of(WRITE.task), Case("", args))
            two = np.sort(logits, axis=1)[:, -2:]
            ids = [int(i) for i in written]
            new_there = end_after > limit or ids[end_after - 1] not in ids[: end_after - 1]
            if end_given and ids[end_after - 1] not in prompt_ids[:-1]:
                continue
            if new_there and (two[:, 1] - two[:, 0]).min() > 1e-3:
                break
        end = ids[end_after - 1] if end_after <= limit else v - 1
        while end_after > limit and end in ids:
            end = (end + 1) % v
        return Case(label, (*args[:-2], end, limit), part="core" if dtype == "float64" else "dtype")

    prompt, limit = 6, 5
    fed = case("what is fed is counted: a prompt of six, five tokens", 9, 8, 2, prompt, limit, 9)
    return [
        case("the end comes at once", 8, 4, 1, 5, 3, 1),  # first, since all pairs of mistakes are tried on it
        case("the end comes after three tokens, V = 9, D = 6, N = 2", 9, 6, 2, 4, 6, 3),
        case("the limit comes first", 11, 8, 4, 3, 5, 9),
        case("a prompt of one token", 7, 6, 3, 1, 4, 4),
        case("V = D = 8, eight tokens", 8, 8, 2, 6, 8, 9),
        case("the end token stands in what is given", 7, 6, 2, 5, 5, 3),
        case("everything in float32", 9, 6, 2, 3, 4, 9, "float32"),
        # One vector and one pass more than it takes: the last token may be fed in, though nobody asks what follows.
        replace(fed, fed=(1, prompt + limit, limit + 1)),
    ]


def _write(
    embedding: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any, n_heads: int, prompt: Any, end_id: int, limit: int
) -> tuple[Any, Any]:
    """Everything computed again for every token: no cache, so nothing in it can be wrong."""
    import torch

    d = embedding.shape[1]
    h = d // n_heads
    places = torch.arange(len(prompt) + limit)[:, None] / 10000 ** (2 * torch.arange(d // 2).double() / d)
    position = torch.zeros(len(places), d, dtype=torch.float64)
    position[:, ::2], position[:, 1::2] = places.sin(), places.cos()
    ids: list[int] = prompt.tolist()
    chosen_from: list[Any] = []
    while len(chosen_from) < limit and (not chosen_from or ids[-1] != end_id):
        x = embedding[ids] + position[: len(ids)]
        q, k, v = ((x @ w).reshape(len(ids), n_heads, h).transpose(0, 1) for w in (w_q, w_k, w_v))
        z = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        state = x + z.transpose(0, 1).reshape(len(ids), d) @ w_o
        chosen_from.append(embedding @ state[-1])
        ids.append(int(chosen_from[-1].argmax()))
    return torch.tensor(ids[len(prompt) :]), torch.stack(chosen_from)


WRITE = described("10.write", cases=_write_cases, oracle=_write, parts={"core": 0.9, "dtype": 0.1}, forbids=ATTENTIONS)
