"""The task that counts an encoder-decoder, both stacks and the logits."""

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch12_counting.counts import plain, product_flops
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described

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


def _pair(
    batch: int, source: int, target: int, d_model: int, d_hidden: int, n_layers: int, vocab_size: int
) -> tuple[int, int]:
    """The products of shapes, one sequence after the other; heads do not change these counts."""

    def looking(asking: int, seen: int) -> list[tuple[Shapes, Shapes]]:
        into = [
            ((asking, d_model), (d_model, d_model)),
            ((seen, d_model), (d_model, d_model)),
            ((seen, d_model), (d_model, d_model)),
        ]
        return [
            *into,
            ((asking, d_model), (d_model, seen)),
            ((asking, seen), (seen, d_model)),
            ((asking, d_model), (d_model, d_model)),
        ]

    def thinking(rows: int) -> list[tuple[Shapes, Shapes]]:
        return [((rows, d_model), (d_model, d_hidden)), ((rows, d_hidden), (d_hidden, d_model))]

    encoder = product_flops(*looking(source, source), *thinking(source))
    decoder = product_flops(*looking(target, target), *looking(target, source), *thinking(target))
    return batch * n_layers * encoder, batch * (
        n_layers * decoder + product_flops(((target, d_model), (d_model, vocab_size)))
    )


ENCODER_DECODER = described("12.encoder-decoder", cases=_pair_cases, oracle=_pair, frame="plain")
