"""What tasks of several chapters share: the words for known mistakes, and what must not be called."""

from softlookup.checks.task import Mistake

ATTENTIONS = (
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.MultiheadAttention",
    "torch.nn.functional.multi_head_attention_forward",
    "softlookup.model",
    "softlookup.reference",
)
"""What must not be called where attention is to be written."""

SOFTMAXES = (
    "torch.softmax",
    "torch.log_softmax",
    "torch.nn.functional.softmax",
    "torch.nn.functional.log_softmax",
    "torch.nn.functional.softmin",
    "torch.nn.functional.gumbel_softmax",
    "torch.special.softmax",
    "torch.logsumexp",
    "torch.logcumsumexp",
    "torch.nn.Softmax",
    "torch.nn.Softmax2d",
    "torch.nn.Softmin",
    "torch.nn.LogSoftmax",
    "torch.special.log_softmax",
    "torch.distributions.Categorical",
    "torch.distributions.OneHotCategorical",
    "torch.nn.functional.cross_entropy",
    "scipy.special.softmax",
    "scipy.special.log_softmax",
    "scipy.special.logsumexp",
    "softlookup.reference",
    "softlookup.model",
)
"""What must not be called where a softmax is to be written."""

AUTOGRAD = (
    "torch.autograd.grad",
    "torch.autograd.backward",
    "torch.autograd.graph._engine_run_backward",
    "torch.Tensor.backward",
    "torch.func.grad",
    "torch.func.grad_and_value",
    "torch.func.hessian",
    "torch.func.linearize",
    "torch.func.vjp",
    "torch.func.jvp",
    "torch.func.jacrev",
    "torch.func.jacfwd",
    "torch.autograd.forward_ad",
    "torch.autograd.functional.jacobian",
    "torch.autograd.functional.hessian",
    "torch.autograd.functional.hvp",
    "torch.autograd.functional.vhp",
    "torch.autograd.functional.jvp",
    "torch.autograd.functional.vjp",
    "softlookup.reference",
    "softlookup.model",
)
"""What must not be called where gradients are to be written."""

SHARED: dict[str, tuple[int | None, str]] = {
    "no-sqrt": (3, "The scores are not scaled at all: divide by the square root of the head width."),
    "divided-by-width": (4, "The scores are divided by H itself; it is the square root of H."),
    "half-for-root": (
        4,
        "The scores are divided by H/2: `H ** 1/2` is (H ** 1)/2 in Python. Write `H ** 0.5` or `math.sqrt(H)`.",
    ),
    "twice-the-width": (
        4,
        "The scores are divided by 2H: `s / H ** 1/2` is (s / H) / 2 in Python. Write `H ** 0.5` or `math.sqrt(H)`.",
    ),
    "elementwise": (None, "This multiplies cell by cell (`*`); a matrix product (`@`) multiplies and adds up."),
    "multiplied": (None, "The scores are multiplied by sqrt(H) and grow; they are divided by it."),
    "queries-with-queries": (None, "Each query meets the queries: it is to meet the keys."),
    "sqrt-of-tokens": (
        5,
        "The root is taken of the number of keys; it is the head width that makes dot products large.",
    ),
    "sqrt-of-model-width": (
        21,
        "The root is taken of the model width D; the dot product runs over the head width H.",
    ),
    "scaled-after": (
        6,
        "The scale comes after the softmax, so each row sums to 1/sqrt(H): scale the scores, then take the softmax.",
    ),
    "always-eight": (None, "The divisor is 8 whatever the width: 8 is sqrt(64), right for H = 64 alone."),
    "swapped": (
        7,
        "Query and key have changed places: row t belongs to query t, so the product is q times k transposed.",
    ),
    "over-queries": (
        8,
        "The columns sum to 1: the softmax ran over the queries (axis -2). Each query shares out its own weight: "
        "axis -1.",
    ),
    "fixed-axis": (9, "The axis is 1 whatever comes in: with axes in front, the last one is -1."),
    "first-axis": (
        9,
        "The softmax runs along the first axis: each query shares out its own weight, along the last one, -1.",
    ),
    "whole-tensor": (10, "All entries together sum to 1: each row has a sum of its own."),
    "keepdim-forgotten": (
        None,
        "The sums lost their axis (keepdim=True is missing), so column j is divided by the sum of row j.",
    ),
    "reversed-axes": (
        9,
        "`.T` turns all axes round: right for two axes alone. The last two are exchanged by `.mT` or "
        "`.transpose(-2, -1)`.",
    ),
    "no-softmax": (2, "The scores themselves are used as weights: they go through a softmax first."),
    "whole-matrix": (10, "The whole table sums to 1: each row has a sum of its own."),
    "softmax-twice": (11, "Softmax ran twice: the weights went through it again and came out nearly equal."),
    "hard-argmax": (
        1,
        "All weight goes to the largest score: that is a hard lookup; softmax gives every score a share.",
    ),
    "not-normalised": (2, "The exponentials are not divided by their sum, so a row does not sum to 1."),
    "weights-transposed": (
        12,
        "The weights are transposed: row t of the weights belongs to query t, so the product is weights @ v.",
    ),
    "keys-as-values": (13, "The keys are mixed; keys decide the weights, values are what is mixed."),
    "no-max": (
        14,
        "exp of a large number overflows: subtract the row's largest score first. The weights stay the same, since "
        "a constant factor "
        "cancels.",
    ),
    "mask-ignored": (None, "The mask has no effect: where it says False the weight must be 0."),
    "mask-inverted": (48, "The mask is read the wrong way round: True means may look."),
    "mask-after-softmax": (
        49,
        "The mask comes after the softmax, so the rows no longer sum to 1: set the scores to -inf before it.",
    ),
    "mask-renormalised": (
        49,
        "The mask comes after the softmax. Dividing by the new sum repairs small scores; but where a hidden score "
        "is far "
        "above the others, these have underflowed to 0 by then. Set the scores to -inf before the softmax.",
    ),
    "weak-fill": (
        50,
        "Masked scores get a number like -1000, and real scores can be lower than that: use -inf.",
    ),
    "masked-to-zero": (
        50,
        "Masked scores are set to 0, but exp(0) is 1 and not 0: it is -inf that gives the weight 0.",
    ),
    "nan-rows": (51, "A query that may look at nothing gives NaN (0 divided by 0): such a row is zeros."),
    "uniform-where-blind": (
        51,
        "A query that may look at nothing looks at everything: a large negative number instead of -inf gives equal "
        "weights there. "
        "Such a row is zeros.",
    ),
    "mask-transposed": (55, "The mask is transposed: its row t says what query t may look at."),
    "weights-transposed-in-projection": (
        None,
        "The weights are used transposed: a row vector times a matrix is `x @ w`, and w has shape (D, H) already.",
    ),
    "one-matrix": (
        20,
        "One matrix makes all three: queries, keys and values each have a matrix of their own.",
    ),
    "roles-swapped": (7, "Query and key have changed places: the order is query, key, value."),
}


def known(slug: str, *edits: tuple[str, str], says: str | None = None, number: int | None = None) -> Mistake:
    """A known mistake with the shared words, or with words of its own.

    Args:
        slug: Its name.
        edits: What turns the published solution into it.
        says: Its sentence, where the shared one does not fit.
        number: Its number in the list of misconceptions, where it is not a shared one.
    """
    shared_number, shared_says = SHARED.get(slug, (None, ""))
    return Mistake(slug, says or shared_says, number if number is not None else shared_number, edits)


GRADIENT_CUT = "gradient-cut"


def gradient_cut(*edits: tuple[str, str]) -> Mistake:
    """The mistake of leaving the graph: ``detach``, ``item``, numpy in between."""
    says = (
        "The numbers are right, but no gradient flows back: somewhere the tensor leaves the graph (detach, .data, "
        ".item(), numpy, torch.no_grad, torch.tensor(...))."
    )
    return Mistake(GRADIENT_CUT, says, None, edits, symptom="no-gradient")


def dtype_lost(*edits: tuple[str, str]) -> Mistake:
    """The mistake of returning another dtype than the inputs have."""
    says = "The result has another dtype than the inputs: keep to theirs (no .float(), no .double())."
    return Mistake("dtype-lost", says, None, edits, symptom="dtype")
