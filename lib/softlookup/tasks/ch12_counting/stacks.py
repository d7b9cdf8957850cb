"""The task that counts an encoder-decoder, both stacks and the logits."""

from softlookup.checking.inside.case import Case
from softlookup.checking.published import described
from softlookup.tasks.ch12_counting.page import plain, product_flops
from softlookup.tasks.draws import Rng

Shapes = tuple[int, ...]


def _pair_cases(rng: Rng) -> list[Case]:
    drawn = tuple(int(rng.integers(low, low + 8)) for low in (2, 11, 21, 31, 41, 2, 61))
    return plain(
        "B, S, T, D, F, L, V",
        (1, 9, 7, 512, 2048, 6, 37000),
        (3, 5, 4, 6, 10, 2, 11),
        (2, 8, 8, 12, 48, 1, 30),
        (1, 1, 3, 4, 5, 3, 6),
        drawn,
    )


def _pair(b: int, s: int, t: int, d: int, f: int, n_layers: int, v: int) -> tuple[int, int]:
    """The products of shapes, one sequence after the other; heads do not change these counts."""

    def looking(asking: int, seen: int) -> list[tuple[Shapes, Shapes]]:
        into = [((asking, d), (d, d)), ((seen, d), (d, d)), ((seen, d), (d, d))]
        return [*into, ((asking, d), (d, seen)), ((asking, seen), (seen, d)), ((asking, d), (d, d))]

    def thinking(rows: int) -> list[tuple[Shapes, Shapes]]:
        return [((rows, d), (d, f)), ((rows, f), (f, d))]

    encoder = product_flops(*looking(s, s), *thinking(s))
    decoder = product_flops(*looking(t, t), *looking(t, s), *thinking(t))
    return b * n_layers * encoder, b * (n_layers * decoder + product_flops(((t, d), (d, v))))


ENCODER_DECODER = described("12.encoder-decoder", cases=_pair_cases, oracle=_pair, frame="plain")
