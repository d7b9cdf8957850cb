"""The words for changes of code: habits, which are slips that any answer may hold, and what questions ask about."""

from softlookup_judge.mistakes import errors

HABIT = "habit:"
"""What the names of habits begin with, in diagnoses."""

IGNORED = "ignored:"
"""What comes before an argument's name, where an answer stays the same when that argument changes (see ``further``)."""

SAYS = {
    "reversed-axes": "`.T` reverses all axes, which is right for two axes only: swap the last two alone, with `.mT`.",
    "first-two-axes": "Axes 0 and 1 are swapped, where others are meant: count axes from the end.",
    "axes-one-and-two": "Axes 1 and 2 are swapped, where others are meant: count axes from the end.",
    "transposed-too": "A matrix of a product is transposed, and should not be.",
    "not-transposed": "A transpose is missing: two axes are not swapped.",
    "axis-0": "An operation runs along the first axis (0), where another axis is right.",
    "axis-1": "An operation runs along the second axis (1), where another axis is right.",
    "axis--1": "An operation runs along the last axis (-1), where another axis is right.",
    "axis--2": "An operation runs along the last axis but one (-2), where another axis is right.",
    "no-axis": "An operation runs over all axes, as it does without `dim` (`axis` in numpy): along one axis is right.",
    "keepdim-missing": (
        "A result has lost its axis, so broadcasting aligns it with another one: "
        "pass `keepdim=True` (`keepdims=True` in numpy)."
    ),
    "new-axis-missing": "An axis of length 1 is missing (`[:, None]`, `unsqueeze`), so broadcasting aligns other axes.",
    "sides-swapped": "The two sides of a matrix product are swapped.",
    "elementwise": "`*` multiplies element by element, where the matrix product `@` is right.",
    "n-minus-one": "A variance is divided by n - 1, as `var` and `std` of torch do by themselves, where n is right.",
    "remainder-dropped": "A division drops its remainder (`//`), where `/` is right.",
    "remainder-kept": "A division keeps its remainder (`/`), where `//` is right.",
    "rounded-down": "A number is rounded down, where rounding up, or to the nearest one, is right.",
    "rounded-up": "A quotient is rounded up, where it has to be rounded down.",
    "boundary": "A comparison is wrong where both sides are equal: `<` for `<=`, `>` for `>=`, or the other way round.",
    "inverted": "A condition or a mask is inverted.",
    "one-too-many": "A range, a slice or a count goes one too far.",
    "one-too-few": "A range, a slice or a count ends one too early.",
    "one-too-late": "A range or a slice begins one too late.",
    "first-for-last": "The first one is taken, where the last one is right.",
    "last-for-first": "The last one is taken, where the first one is right.",
    "not-divided": "A division is missing.",
    "factor-missing": "A factor is missing.",
    "term-missing": "A term of a sum or of a difference is missing.",
    "multiplied": "Something is multiplied, where it has to be divided by.",
    "divided": "Something is divided by, where it has to be multiplied.",
    "added": "Two numbers are added, where they have to be multiplied.",
    "times-for-plus": "Two numbers are multiplied, where they have to be added.",
    "upside-down": "A fraction is upside down.",
    "minus-for-plus": "Something is subtracted, where it has to be added.",
    "plus-for-minus": "Something is added, where it has to be subtracted.",
    "difference-turned": "The two sides of a difference are swapped.",
    "root-missing": "A square root is missing.",
    "square-missing": "A square is missing.",
    "another-base": "A logarithm has another base than is asked for.",
    "mean-for-sum": "A mean is taken, where a sum is right.",
    "sum-for-mean": "A sum is taken, where a mean is right.",
    "least-for-largest": "The smallest is taken, where the largest is right.",
    "largest-for-least": "The largest is taken, where the smallest is right.",
    "largest-for-sum": "The largest is taken, where a sum is right.",
    "largest-for-mean": "The largest is taken, where a mean is right.",
    "any-for-all": "One is enough (`any`), where it has to hold for all.",
    "all-for-any": "It has to hold for all (`all`), where one is enough.",
    "activation-missing": "An activation function or a softmax is missing.",
    "another-activation": "Another activation function is used than the one that is asked for.",
    "not-masked": "A mask is not applied.",
    "masked-to-zero": "What is masked is set to 0 before a softmax, where minus infinity is right.",
    "unbounded": "A bound is missing: the smallest or the largest value that a number may have.",
    "softmax-too": "A softmax is applied to the result, which is not asked for.",
    "row-for-column": "A row of a matrix is taken, where a column is right, or the other way round.",
    "results-swapped": "Two results are swapped.",
    "joined-the-other-way": "Two parts are joined in the wrong order.",
    "another-length": "The length of another axis is taken than the one that is right.",
}
"""What is said of slips in code, the most common ones first. The judge says before that a right answer with this slip
gives the same results."""

RULES = {
    "argument": ("another argument is used", "what each argument holds, and which of them this line needs"),
    "axis": ("it runs along the other axis", "what one row and one column stand for, and along which of them it goes"),
    "another": ("another function is called", "what the function on this line does to the numbers that it gets"),
    "boundary": ("the bound itself changes sides", "whether the bound itself belongs to it, and why"),
    "either": ("both conditions become one of them, or one becomes both", "which of the conditions has to hold"),
    "elementwise": (
        "a matrix product becomes a product entry by entry",
        "the shapes on both sides, and what is summed over",
    ),
    "factor": ("a factor or divisor is gone", "what it is divided by or multiplied with, and what for"),
    "filled": ("masked scores become 0 in place of minus infinity", "that exp(0) is 1 and exp(-inf) is 0"),
    "inverted": ("a condition is turned round", "what True means there"),
    "keepdim": ("the summed axis is dropped", "the shapes, and how the smaller one is broadcast"),
    "line": ("the line is gone", "what this line is there for, and on which inputs it shows"),
    "multiplied": ("a division becomes a product", "what becomes larger or smaller by it"),
    "off-by-one": ("a count or a bound moves by one", "where it begins and ends"),
    "moved": ("the norm stands elsewhere", "what the residual stream carries, and where it is normalised"),
    "order": ("two lines change places", "which of the two has to see the result of the other"),
    "part": ("another weight or part is used", "what this part is there for, and with which weights it works"),
    "power": ("the exponent is gone", "what the power is there for"),
    "remainder": ("the quotient and the remainder change places", "what each of the two stands for"),
    "residual": ("the residual connection is gone", "what reaches the next step without passing through this one"),
    "root": ("the square root is gone", "the spread of a dot product, and what the root does to it"),
    "sign": ("plus and minus change places", "which way the numbers move"),
    "skipped": ("a function is left out", "what the function does to the numbers that it gets"),
    "slice": ("another part is cut out", "which entries are taken, the first and the last of them"),
    "swapped": ("two operands or arguments change places", "what each of them stands for there, and their shapes"),
    "term": ("a summand is gone", "what it adds or takes away, and what for"),
    "transposed": ("the transposition is gone", "which axis stands where, and what is multiplied with what"),
    "unmasked": ("a mask is not handed on", "which keys can be attended to then, and on which inputs it shows"),
    "turned": ("a comparison or a choice is turned round", "which entries fulfil the condition now"),
}
"""For each kind of change that questions on code ask about: what it does, and what a good explanation mentions."""

SYMPTOMS = {
    "inputs-changed": (
        "What the function is given is changed for its caller, too: `+=`, `x[i] = …`, `append`, and methods of torch "
        "that end with `_`, work in place."
    ),
    "another-kind": "The values are right, and the kind of numbers is another one than is asked for.",
    "axes-of-one": "The numbers are right, and the shape has an axis of length 1 too many or too few.",
    "result-transposed": "The result is the right one with its last two axes swapped.",
    "sign-changed": "The result is the right one with its sign changed.",
}
"""What is said of habits that show beside the right answer, without any other code."""

PAIRED = SAYS.keys() - {"added", "times-for-plus", "upside-down", "another-length", "another-activation", "elementwise"}
"""The habits that are looked for beside another mistake, too."""


def rule_of(habit_name: str) -> str:
    """The rule of a habit: its name without the place where it fits."""
    return habit_name.removeprefix(HABIT).partition("#")[0]


def says(habit_name: str) -> str:
    """The sentence on a habit, as diagnoses give it ("habit:root-missing#2"); a KeyError if there is none."""
    match rule_of(habit_name).split(":"):
        case ["for", used, right] if used.isidentifier() and right.isidentifier():
            return f"`{used}` is used, where `{right}` is right."
        case ["swapped", first, second] if first.isidentifier() and second.isidentifier():
            return f"`{first}` and `{second}` are swapped."
        case ["ignored", name] if name.isidentifier():
            return f"With other values of `{name}`, your result stayed the same where the right one changed."
        case ["flag", name, "True" | "False" as value] if name.isidentifier():
            return f"`{name}` has no effect: it is always taken to be {value}."
        case [rule]:
            return SAYS.get(rule) or SYMPTOMS.get(rule) or errors.SAYS[rule]
    raise KeyError(habit_name)


def is_slip(habit_name: str) -> bool:
    """Whether a habit is a slip in code, which is known by its results."""
    rule = rule_of(habit_name)
    return not rule.startswith(IGNORED) and rule not in {**SYMPTOMS, **errors.SAYS}


def names_argument(habit_name: str) -> bool:
    """Whether the sentence on a habit says which argument is used wrongly, and how."""
    return rule_of(habit_name).partition(":")[0] in ("for", "swapped", "flag")
