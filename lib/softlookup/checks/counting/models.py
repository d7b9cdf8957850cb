"""Tasks that count whole decoder-only models: parameters, and operations for a token."""

from softlookup.checks.counting.page import PAGE, plain, product_flops
from softlookup.checks.counting.products import shared
from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task


def _parameter_cases(rng: Rng) -> list[Case]:
    d, f = int(rng.integers(20, 60)), int(rng.integers(61, 200))
    return plain(
        "V, D, N, K, H, F, L, tied",
        (10, 4, 2, 2, 2, 6, 1, True),
        (32000, 4096, 32, 32, 128, 11008, 32, False),
        (128256, 4096, 32, 8, 128, 14336, 32, False),
        (50, 6, 6, 2, 5, 9, 3, True),
        (41, d, 4, 1, 7, f, 5, False),
        (300, d, 9, 3, 7, f, 4, True),
    )


def _parameters(v: int, d: int, n: int, k: int, h: int, f: int, n_layers: int, tied: bool) -> tuple[int, int]:
    """Counted on torch's own modules, on the device that holds no numbers."""
    import torch
    from torch import nn

    with torch.device("meta"):
        shapes = [(d, n * h), (d, k * h), (d, k * h), (n * h, d), (d, f), (d, f), (f, d)]
        linear = nn.ModuleList([nn.Linear(*one, bias=False) for _ in range(n_layers) for one in shapes])
        norms = nn.ModuleList([nn.RMSNorm(d) for _ in range(2 * n_layers + 1)])
        table, last = nn.Embedding(v, d), nn.Linear(d, v, bias=False)
        if tied:
            last.weight = table.weight
        whole = nn.ModuleList([linear, norms, table, last])
    in_products = sum(p.numel() for p in (*linear.parameters(), *last.parameters()))
    return sum(p.numel() for p in whole.parameters()), in_products


TABLES = "tables = table if tied else 2 * table"
NORMS = "norms = (2 * n_layers + 1) * d_model"
RETURN = "return tables + matrices + norms, matrices + table"

PARAMETERS = Task(
    id="12.parameters",
    name="count_model",
    title="Count a model",
    points=3,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="counting-parameters",
    returns=("parameters", "in products"),
    cases=_parameter_cases,
    oracle=_parameters,
    frame="plain",
    mistakes=(
        shared("own-keys", ("n_kv_heads * head_width", "n_heads * head_width")),
        known(
            "qkv-once",
            ("2 * d_model * wide + 2 * d_model * narrow", "2 * d_model * wide"),
            says="Queries, keys and values are counted once: keys and values have matrices of their own.",
            number=79,
        ),
        known(
            "output-forgotten",
            ("attention = 2 * d_model * wide", "attention = d_model * wide"),
            says="The output matrix of attention is missing.",
            number=23,
        ),
        known(
            "hidden-once",
            ("hidden = 3 *", "hidden = 1 *"),
            says="The feed-forward network is counted once: gate, up and down are three matrices.",
            number=79,
        ),
        known("gate-forgotten", ("hidden = 3 *", "hidden = 2 *"), says="The gate is missing: it is a third matrix."),
        known("norms-forgotten", (NORMS, "norms = 0"), says="The gains of the norms are missing."),
        known(
            "one-norm",
            ("(2 * n_layers + 1)", "(n_layers + 1)"),
            says="One norm is counted for each layer: there are two, before attention and before the network.",
        ),
        known(
            "last-norm-forgotten",
            ("(2 * n_layers + 1)", "(2 * n_layers)"),
            says="The norm behind the last layer is missing.",
        ),
        known(
            "gain-and-shift",
            (NORMS, "norms = 2 * (2 * n_layers + 1) * d_model"),
            says="Each norm is counted with a gain and a shift: an RMS norm has a gain alone.",
        ),
        known(
            "always-tied",
            (TABLES, "tables = table"),
            says="The output matrix is missing where tied is False: it is as large as the table of embeddings.",
        ),
        known(
            "never-tied",
            (TABLES, "tables = 2 * table"),
            says="The table is counted twice where tied is True: it is one table that is used twice.",
        ),
        known(
            "logits-forgotten",
            (RETURN, "return tables + matrices + norms, matrices"),
            says="The matrix that makes the logits is missing among the products. Tied or not, it meets every token.",
        ),
        known(
            "tied-logits-forgotten",
            (RETURN, "return tables + matrices + norms, matrices + (0 if tied else table)"),
            says="Where the table is tied, the logits are missing among the products: it is the table that makes them "
            "then.",
        ),
        known(
            "lookup-in-products",
            (RETURN, "return tables + matrices + norms, matrices + tables"),
            says="Where there are two tables, both are counted as standing in products: looking up a row is none.",
        ),
        known(
            "gains-in-products",
            (RETURN, "return tables + matrices + norms, matrices + table + norms"),
            says="The gains of the norms are counted as standing in products: each is multiplied with one number, and "
            "nothing is summed.",
        ),
        known(
            "everything-in-products",
            (RETURN, "return tables + matrices + norms, tables + matrices + norms"),
            says="All parameters are counted as standing in products: looking up a row of the table is none, and the "
            "gains are none either.",
        ),
        known(
            "heads-fill-model",
            ("wide, narrow = n_heads * head_width", "wide, narrow = d_model"),
            says="The query heads are taken to be D wide together: they are N * H, and that need not be D.",
        ),
        known(
            "tied-turned",
            ("table if tied", "table if not tied"),
            says="It is the other way round: where tied is True there is one table, otherwise two.",
        ),
        known(
            "one-layer",
            ("matrices = n_layers * (attention + hidden)", "matrices = attention + hidden"),
            (NORMS, "norms = 3 * d_model"),
            says="One layer is counted: there are L.",
        ),
    ),
)


def _token_cases(rng: Rng) -> list[Case]:
    drawn = (int(rng.integers(10**6, 10**8)), int(rng.integers(2, 40)), 6, 50, int(rng.integers(3, 900)))
    return plain(
        "weights in products, L, N, H, S",
        (6_607_077_376, 32, 32, 128, 1),
        (6_607_077_376, 32, 32, 128, 1000),
        (6_607_077_376, 32, 32, 128, 4096),
        (100, 3, 2, 5, 7),
        drawn,
    )


def _token(n_weights: int, n_layers: int, n_heads: int, head_width: int, context: int) -> tuple[int, int]:
    """The products of one token, and the two of each that make gradients; weights as a matrix of one column."""
    scores = (n_heads, 1, head_width), (n_heads, head_width, context)
    mixing = (n_heads, 1, context), (n_heads, context, head_width)
    there = [((1, n_weights), (n_weights, 1)), *[scores, mixing] * n_layers]
    both = list(there)
    for left, right in there:
        result = (*left[:-1], right[-1])
        both += [(result, _turned(right)), (_turned(left), result)]
    return product_flops(*there), product_flops(*both)


def _turned(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (*shape[:-2], shape[-1], shape[-2])


ATTENTION = "attention = 4 * n_layers * n_heads * head_width * context"
BOTH = "return forward, 3 * forward"

TOKEN = Task(
    id="12.token",
    name="token_flops",
    title="Operations for a token",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="counting-homework",
    returns=("forward", "training"),
    cases=_token_cases,
    oracle=_token,
    frame="plain",
    mistakes=(
        shared("one-operation", ("2 * n_weights", "n_weights"), ("4 * n_layers", "2 * n_layers")),
        known(
            "attention-forgotten",
            (ATTENTION, "attention = 0"),
            says="Scores and mixing are missing: they have no weights, and cost all the same.",
        ),
        known(
            "mixing-forgotten",
            ("4 * n_layers", "2 * n_layers"),
            says="Half of the work on pairs is missing. Either one of two products is not counted (scores and mixing "
            "cost 2*H operations for each pair and head, each), or the context was halved for a causal mask: this "
            "token looks at all S.",
            number=82,
        ),
        known(
            "one-layer",
            ("4 * n_layers *", "4 *"),
            says="Scores and mixing are counted for one layer: every layer has its own.",
        ),
        known(
            "one-head",
            ("n_layers * n_heads *", "n_layers *"),
            says="Scores and mixing are counted for one head: there are N in each layer.",
        ),
        known(
            "itself-left-out",
            ("* context", "* (context - 1)"),
            says="One key is missing: the token is itself among the S that it looks at.",
            number=82,
        ),
        known(
            "itself-twice",
            ("* context", "* (context + 1)"),
            says="There is one key too many: the token is already among the S that it looks at.",
        ),
        known(
            "whole-text",
            ("forward = 2 * n_weights + attention", "forward = (2 * n_weights + attention) * context"),
            says="This is S tokens' work: one token is asked for.",
        ),
        known(
            "square",
            ("* context", "* context**2"),
            says="The square of the context is counted: one token meets S others. The square belongs to S tokens.",
        ),
        known(
            "back-like-forward",
            (BOTH, "return forward, 2 * forward"),
            says="The way back is counted like the way forward, or the way forward is not counted with it: each "
            "product becomes two, so that forward and back are three times the way forward.",
        ),
        known(
            "attention-not-trained",
            (BOTH, "return forward, 3 * forward - 2 * attention"),
            says="Scores and mixing are counted forward only: gradients go back through them, too.",
        ),
        known(
            "six-everywhere",
            (BOTH, "return 3 * forward, 3 * forward"),
            says="The way forward has the operations of the whole training: six for each weight are forward and back, "
            "two are the way forward.",
        ),
    ),
)
