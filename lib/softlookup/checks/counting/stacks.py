"""The task that counts an encoder-decoder, both stacks and the logits."""

from softlookup.checks.counting.page import PAGE, plain, product_flops
from softlookup.checks.counting.products import shared
from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task

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


SUM = "(n_layers * (decoder + cross) + logits)"
ENCODER = "batch * n_layers * encoder"

ENCODER_DECODER = Task(
    id="12.encoder-decoder",
    name="translator_flops",
    title="An encoder-decoder",
    points=3,
    minutes=12,
    difficulty=3,
    page=PAGE,
    anchor="counting-encoder-decoder",
    returns=("encoder", "decoder"),
    cases=_pair_cases,
    oracle=_pair,
    frame="plain",
    mistakes=(
        shared(
            "one-operation",
            (f"return {ENCODER}, batch * {SUM}", f"return {ENCODER} // 2, batch * {SUM} // 2"),
        ),
        known(
            "qkv-once",
            ("(8 * square", "(4 * square"),
            says="Queries, keys and values of self-attention are counted once: with the output there are four products "
            "with D*D weights, 8*D*D operations for each token.",
            number=79,
        ),
        known(
            "hidden-once",
            ("+ 4 * hidden)", "+ 2 * hidden)"),
            says="The feed-forward network is counted once: it is two products, up and down.",
            number=79,
        ),
        known(
            "output-forgotten",
            ("(8 * square", "(6 * square"),
            says="One of the four products of self-attention is missing: queries, keys, values and output are 8*D*D "
            "operations for each token.",
            number=23,
        ),
        known(
            "cross-output-forgotten",
            ("cross = 4 * target * square", "cross = 2 * target * square"),
            says="One of two products of cross-attention with the target is missing: queries and output.",
        ),
        known(
            "memory-forgotten",
            (" + 4 * source * square", ""),
            says="Keys and values of cross-attention are missing: each decoder layer makes them from the encoder's "
            "output, with matrices of its own.",
        ),
        known(
            "memory-half",
            ("4 * source * square", "2 * source * square"),
            says="One product makes the keys of cross-attention and another its values: one of them is missing.",
            number=79,
        ),
        known(
            "memory-of-one-layer",
            ("cross = 4 * target * square + 4 * source * square +", "cross = 4 * target * square +"),
            (SUM, "(n_layers * (decoder + cross) + 4 * source * square + logits)"),
            says="Keys and values of cross-attention are made once for all layers: each layer has matrices of its own "
            "for them.",
        ),
        known(
            "mixing-forgotten",
            ("4 * source**2", "2 * source**2"),
            ("4 * target**2", "2 * target**2"),
            ("4 * target * source * d_model", "2 * target * source * d_model"),
            says="One of two products with the pairs is missing: scores and mixing cost 2*D each for a pair.",
        ),
        known(
            "pairs-forgotten",
            (" + 4 * source**2 * d_model", ""),
            (" + 4 * target**2 * d_model", ""),
            (" + 4 * target * source * d_model", ""),
            says="Scores and mixing are missing: they have no weights, and cost all the same.",
        ),
        known(
            "triangle",
            ("4 * target**2 * d_model", "2 * target * (target + 1) * d_model"),
            says="Only the pairs that the causal mask allows are counted in the decoder: the full square is computed, "
            "as the conventions say.",
            number=82,
        ),
        known(
            "one-layer",
            (ENCODER, "batch * encoder"),
            ("(n_layers * (decoder", "((decoder"),
            says="One layer of each stack is counted: there are L.",
        ),
        known(
            "sum-of-both",
            (f"return {ENCODER}, batch * {SUM}", f"return {ENCODER}, {ENCODER} + batch * {SUM}"),
            says="The second number holds the encoder too: the decoder alone is asked for, with the logits.",
        ),
        known("cross-forgotten", ("(decoder + cross)", "decoder"), says="Cross-attention is missing in the decoder."),
        known(
            "memory-from-target",
            ("4 * source * square", "4 * target * square"),
            says="Keys and values of cross-attention are counted for the target's tokens: they are made from the "
            "encoder's output, S tokens.",
        ),
        known(
            "cross-square-of-target",
            ("4 * target * source * d_model", "4 * target * target * d_model"),
            says="The pairs of cross-attention are counted as T * T: each of T tokens looks at S of the source.",
        ),
        known("logits-forgotten", (" + logits)", ")"), says="The logits are missing: D*V weights at each position."),
        known(
            "last-logits",
            ("2 * target * d_model * vocab_size", "2 * d_model * vocab_size"),
            says="Logits are made for one position alone: they are asked for at every position of the target.",
        ),
        known(
            "logits-in-each-layer",
            (SUM, "n_layers * (decoder + cross + logits)"),
            says="The logits are counted in every layer: they are made once, behind the last one.",
        ),
        known(
            "batch-forgotten",
            (f"{ENCODER}, batch * {SUM}", f"n_layers * encoder, {SUM}"),
            says="The batch is missing: every sentence pair costs as much.",
        ),
        known(
            "pair-swapped",
            (f"{ENCODER}, batch * {SUM}", f"batch * {SUM}, {ENCODER}"),
            says="The two numbers have changed places: the encoder comes first.",
        ),
    ),
)
