"""What is said of the small edits of a function (see ``edits.py``)."""

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
    "swapped": (
        "two operands or arguments change places",
        "what each of them stands for there, and their shapes",
    ),
    "term": ("a summand is gone", "what it adds or takes away, and what for"),
    "transposed": ("the transposition is gone", "which axis stands where, and what is multiplied with what"),
    "unmasked": ("a mask is not handed on", "which keys can be attended to then, and on which inputs it shows"),
    "turned": ("a comparison or a choice is turned round", "which entries fulfil the condition now"),
}
"""For each kind of edit what it does, and what a good explanation mentions."""
