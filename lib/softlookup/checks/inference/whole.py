"""Tasks that put it together: a layer with a cache, and a small model that writes with one."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.inference import switches
from softlookup.checks.inference.page import PAGE, Flags
from softlookup.checks.known import ATTENTIONS, known
from softlookup.checks.positions.switches import table as sinusoids
from softlookup.checks.task import Case, Task


def _weights(rng: Rng, d: int, wide: int, narrow: int, dtype: str = "float32") -> tuple[np.ndarray, ...]:
    shapes = (d, wide), (d, narrow), (d, narrow), (wide, d)
    return tuple(normal(rng, *shape, dtype=dtype, scale=1.5 * shape[0] ** -0.5) for shape in shapes)


def _step_cases(rng: Rng) -> list[Case]:
    def case(label: str, b: int, t: int, s: int, d: int, n: int, kv: int, h: int, part: str = "core") -> Case:
        kept = normal(rng, b, kv, s, h), normal(rng, b, kv, s, h)
        return Case(label, (normal(rng, b, t, d), *_weights(rng, d, n * h, kv * h), n, kv, *kept), part=part)

    return [
        case("one new token behind four, N = K = 2", 2, 1, 4, 5, 2, 2, 3),
        case("three new tokens behind two", 2, 3, 2, 6, 3, 3, 2),
        case("B = T = S = N = K = H = 3, D = 9", 3, 3, 3, 9, 3, 3, 3),
        case("a prompt, and an empty cache", 2, 4, 0, 6, 2, 2, 3),
        case("four query heads, two key-value heads", 2, 2, 3, 8, 4, 2, 2, "groups"),
        case("one key-value head, one token", 1, 1, 5, 6, 3, 1, 2, "groups"),
    ]


def _step(
    x: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any, n_heads: int, n_kv_heads: int, k: Any, v: Any
) -> tuple[Any, Any, Any]:
    """Query by query, head by head, by torch's own attention."""
    import torch

    b, t, _ = x.shape
    h = w_q.shape[1] // n_heads
    new_k, new_v = (torch.stack([x @ w[:, i * h : i * h + h] for i in range(n_kv_heads)], dim=1) for w in (w_k, w_v))
    all_k, all_v = torch.cat((k, new_k), dim=-2), torch.cat((v, new_v), dim=-2)
    y = torch.zeros_like(x)
    for i in range(n_heads):
        own = slice(i * h, i * h + h)
        head = i * n_kv_heads // n_heads
        for j in range(t):
            m = k.shape[2] + j + 1
            z = torch.nn.functional.scaled_dot_product_attention(
                x[:, j : j + 1] @ w_q[:, own], all_k[:, head, :m], all_v[:, head, :m]
            )
            y[:, j : j + 1] += z @ w_o[own]
    return y, all_k, all_v


LONGER = "k, v = extend_cache(k, v, new_k, new_v, torch.arange(len(x)))"
LOOKED = "z = attend(q, k, v)"
RETURNED = "return merge_heads(z) @ w_o, k, v"

STEP = Task(
    id="10.step",
    name="cached_attention",
    title="A layer that remembers",
    points=4,
    minutes=12,
    difficulty=3,
    page=PAGE,
    anchor="inference-cache",
    returns=("y", "k", "v"),
    cases=_step_cases,
    oracle=_step,
    mistaken=switches.layer,
    parts={"core": 0.75, "groups": 0.25},
    forbids=ATTENTIONS,
    mistakes=(
        known(
            "old-cache-returned",
            (LONGER, f"old_k, old_v = k, v\n    {LONGER}"),
            (RETURNED, RETURNED.replace("k, v", "old_k, old_v")),
            says="The cache comes back as it went in: without the newest keys and values the next token forgets them.",
            number=72,
        ),
        known(
            "new-alone-returned",
            (RETURNED, RETURNED.replace("k, v", "new_k, new_v")),
            says="Only the newest keys and values come back: the next token needs those before them too.",
            number=72,
        ),
        known(
            "cache-not-read",
            (LOOKED, "z = attend(q, new_k, new_v)"),
            says="The newest tokens look at each other alone: it is the whole cache that they look at.",
            number=72,
        ),
        known(
            "new-in-front",
            (LONGER, "k, v = extend_cache(new_k, new_v, k, v, torch.arange(len(x)))"),
            says="The newest keys stand in front of the old ones: they belong behind them.",
            number=72,
        ),
        known(
            "top-left",
            (
                LOOKED,
                "n = n_heads // n_kv_heads\n    s = q @ k.repeat_interleave(n, 1).mT / math.sqrt(q.shape[-1])\n"
                "    may = torch.ones(s.shape[-2:]).tril().bool()\n"
                "    z = torch.softmax(s.masked_fill(~may, -torch.inf), dim=-1) @ v.repeat_interleave(n, 1)",
            ),
            says="The mask hangs at the top left, as if the newest tokens were the first: one new query would see the "
            "oldest key alone. Query t stands at position S - T + t.",
            number=71,
        ),
        known(
            "no-mask",
            (
                LOOKED,
                "n = n_heads // n_kv_heads\n    s = q @ k.repeat_interleave(n, 1).mT / math.sqrt(q.shape[-1])\n"
                "    z = torch.softmax(s, dim=-1) @ v.repeat_interleave(n, 1)",
            ),
            says="There is no mask: of several new tokens, earlier ones may not look at later ones.",
        ),
        known(
            "values-from-keys",
            ("x @ w_v", "x @ w_k"),
            says="The values are made with w_k: keys decide the weights, values have a matrix of their own.",
            number=13,
        ),
        known(
            "output-missing",
            (" @ w_o", ""),
            says="The output matrix is missing: the heads lie side by side, and w_o blends them.",
            number=23,
        ),
    ),
)


def _model(rng: Rng, v: int, d: int) -> tuple[np.ndarray, ...]:
    """A small model; its states are far enough apart that no two logits compete."""
    w_q, w_k, w_v, w_o = _weights(rng, d, d, d, "float64")
    return normal(rng, v, d, dtype="float64"), w_q, w_k, 1.6 * w_v, 1.6 * w_o


def _write_cases(rng: Rng) -> list[Case]:
    def case(label: str, v: int, d: int, n: int, prompt: int, limit: int, end_after: int, part: str = "core") -> Case:
        """A model that writes at least three different tokens; the end token is the one it writes after so many."""
        for _ in range(60):
            given = rng.integers(0, v, size=prompt)
            asked: Any = (*_model(rng, v, d), n, given, -1, limit)
            written, logits = run(frozenset(), *asked)
            two = np.sort(logits, axis=1)[:, -2:]
            ids = [int(i) for i in written]
            new_there = end_after > limit or ids[end_after - 1] not in ids[: end_after - 1]
            if new_there and (two[:, 1] - two[:, 0]).min() > 1e-3:
                break
        end = ids[end_after - 1] if end_after <= limit else v - 1
        while end_after > limit and end in ids:
            end = (end + 1) % v
        return Case(label, (*asked[:-2], end, limit), part=part)

    return [
        case("the end comes after three tokens, V = 9, D = 6, N = 2", 9, 6, 2, 4, 6, 3),
        case("the limit comes first", 11, 8, 4, 3, 5, 9),
        case("a prompt of one token", 7, 6, 3, 1, 4, 4),
        case("the end comes at once", 8, 4, 1, 5, 3, 1),
        case("V = D = 8, eight tokens", 8, 8, 2, 6, 8, 9),
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


def run(
    flags: Flags,
    embedding: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    w_v: np.ndarray,
    w_o: np.ndarray,
    n_heads: int,
    prompt: np.ndarray,
    end_id: int,
    limit: int,
) -> tuple[np.ndarray, np.ndarray]:
    """A small model that writes, with mistakes."""
    d = embedding.shape[1]
    k = v = np.zeros((1, n_heads, 0, d // n_heads), dtype=embedding.dtype)
    ids, seen = np.asarray(prompt), 0
    written: list[int] = []
    logits: list[np.ndarray] = []
    for _ in range(limit):
        first = 0 if "offset-forgotten" in flags else seen + ("one-late" in flags)
        places = sinusoids(frozenset(), first + len(ids), d)[first:].astype(embedding.dtype)
        x = embedding[ids][None] + (0 if "no-positions" in flags else places)
        y, new_k, new_v = switches.layer(frozenset(), x, w_q, w_k, w_v, w_o, n_heads, n_heads, k, v)
        if "cache-not-kept" not in flags:
            k, v = new_k, new_v
        seen = seen + len(ids)
        state = y if "no-residual" in flags else x + y
        logits.append(state[0, 0 if "first-position" in flags else -1] @ embedding.T)
        token = int(logits[-1].argmax())
        written.append(token)
        if token == end_id and "no-stop" not in flags:
            break
        ids = np.concatenate((ids, [token])) if "fed-again" in flags else np.array([token])
    told = [*(int(i) for i in prompt), *written] if "prompt-returned" in flags else written
    return np.array(told), np.stack(logits)


PLACES = "sinusoidal(seen + len(ids), d_model)[seen:]"
CALLED = "y, k, v = cached_attention("

WRITE = Task(
    id="10.write",
    name="write",
    title="A model that writes",
    points=6,
    minutes=20,
    difficulty=3,
    page=PAGE,
    anchor="inference-write",
    returns=("ids", "logits"),
    cases=_write_cases,
    oracle=_write,
    mistaken=run,
    forbids=ATTENTIONS,
    mistakes=(
        known(
            "offset-forgotten",
            (PLACES, "sinusoidal(len(ids), d_model)"),
            says="Each newest token is put at position 0: it stands behind all those that the cache has seen.",
            number=70,
        ),
        known(
            "one-late",
            (PLACES, "sinusoidal(seen + 1 + len(ids), d_model)[seen + 1 :]"),
            says="Every position is one too large: the first token of the prompt stands at 0.",
            number=70,
        ),
        known(
            "cache-not-kept",
            (CALLED, "y, _, _ = cached_attention("),
            says="The longer cache is thrown away, so every step but the first sees its own token alone.",
            number=72,
        ),
        known(
            "fed-again",
            ("ids = torch.tensor([token])", "ids = torch.cat((ids, torch.tensor([token])))"),
            says="The whole text is fed in again although the cache holds it: earlier tokens are in there twice.",
            number=72,
        ),
        known(
            "first-position",
            ("[0, -1]", "[0, 0]"),
            says="The next token is taken from the FIRST position's logits: it comes out of the last one. With a cache "
            "only the prompt shows the difference.",
            number=74,
        ),
        known(
            "no-stop",
            ("if token == end_id:", "if False:"),
            says="It writes on behind the end token.",
            number=74,
        ),
        known(
            "no-residual",
            ("(x + y)", "y"),
            says="The state is the layer's output alone: the token's own vector is added (x + y).",
            number=45,
        ),
        known(
            "no-positions",
            ("embedding[ids][None] + places", "embedding[ids][None]"),
            says="No positions are added.",
        ),
        known(
            "prompt-returned",
            ("return written, ", "return [*prompt.tolist(), *written], "),
            says="The prompt comes back too: only what was written is asked for.",
        ),
    ),
)
