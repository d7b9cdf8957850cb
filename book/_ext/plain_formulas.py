r"""A formula as a line of plain text, for where nothing typesets it: the results of a search.

It only has to read well and to hold the words that somebody types. ``\sqrt`` becomes the sign that the search knows
as *square root*; what has no plain form, such as a matrix, is left out.
"""

import re

SIGNS = {
    **{"cdot": "·", "times": "×", "odot": "⊙", "top": "ᵀ", "partial": "∂", "infty": "∞", "sum": "Σ", "prod": "Π"},
    **{"to": "→", "leftarrow": "←", "ge": "≥", "le": "≤", "ne": "≠", "approx": "≈", "in": "∈", "pm": "±"},
    **{"propto": "∝", "neg": "¬", "lor": "∨", "land": "∧", "dots": "…", "cdots": "…", "mid": "|", "bmod": "mod"},
    **{"lfloor": "⌊", "rfloor": "⌋", "lvert": "|", "rvert": "|", "lVert": "‖", "rVert": "‖", "ell": "ℓ"},
    **{"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "eta": "η"},
    **{"theta": "θ", "mu": "μ", "pi": "π", "sigma": "σ", "tau": "τ", "varphi": "φ", "Phi": "Φ", "omega": "ω"},
    **{"quad": " ", "qquad": " ", "colon": ":", "Delta": "Δ", "lambda": "λ", "phi": "φ", "rho": "ρ", "leq": "≤"},
}
"""Commands that are one sign."""

WORDS = frozenset("cos exp lim ln log max min sin softmax tanh".split())
"""Commands that are read as they are written."""

GROUP = r"\{([^{}]*)\}"
UNWRAPPED = re.compile(rf"\\(?:text|mathrm|mathcal|mathbb|mathbf|operatorname|hat|tilde|boxed){GROUP}")
MEAN = re.compile(rf"\\(?:bar|overline){GROUP}")
ROOT = re.compile(rf"\\sqrt\s*(?:{GROUP}|(\w))")
FRACTION = re.compile(rf"\\[dt]?frac\s*(?:{GROUP}|(\w))\s*(?:{GROUP}|(\w))")
BRACED = re.compile(rf"\\(?:underbrace|underset|overset){GROUP}(?:_)?{GROUP}")
POWERS = str.maketrans("0123456789-+nT", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿᵀ")


def _in_brackets(text: str) -> str:
    return text if re.fullmatch(r"[\w.√·\s]{0,3}|√?\w+|\([^()]*\)", text.strip()) else f"({text.strip()})"


def _root(match: re.Match[str]) -> str:
    return f" √{_in_brackets(match[1] or match[2] or '')}"


def _fraction(match: re.Match[str]) -> str:
    above, below = match[1] or match[2] or "", match[3] or match[4] or ""
    return f"{_in_brackets(above)}/{_in_brackets(below)}"


def _power(match: re.Match[str]) -> str:
    inside = match[1] if match[1] is not None else match[2]
    return inside.translate(POWERS) if re.fullmatch(r"[-+\dnTᵀ]+", inside) else f"^{_in_brackets(inside)}"


def plain(tex: str) -> str:
    r"""Write a formula, with or without the signs around it, as plain text.

    One line without a backslash or a brace; empty where the formula has no plain form.

    Examples:
        >>> plain(r"\(\operatorname{softmax}(Q K^\top / \sqrt{d_k})\,V\)")
        'softmax(Q Kᵀ / √d_k) V'
        >>> plain(r"\frac{1}{1 + e^{-x}} \cdot D^2")
        '1/(1 + e^(-x)) · D²'
        >>> plain(r"\begin{bmatrix} 1 & 0 \end{bmatrix}")
        ''
    """
    text = re.sub(r"\\[()\[\]]", "", tex)
    text = re.sub(r"\\(?:begin|end)\{(?:split|aligned|gathered)\}", "", text)
    if r"\begin" in text:
        return ""
    text = re.sub(r"\\[,;: ]|\\\\|&|~", " ", text.replace("\\!", ""))
    text = re.sub(r"\\(?:left|right|[bB]igg?[lr]?|displaystyle|textstyle)(?![a-zA-Z])\.?", "", text)
    text = re.sub(r"\\([{}_%$#])", lambda match: {"{": "⟨", "}": "⟩"}.get(match[1], match[1]), text)
    text = re.sub(r"\\([a-zA-Z]+)", _sign, text)
    before = ""
    while before != text:  # from the inside out
        before = text
        text = UNWRAPPED.sub(r"\1", text)
        text = MEAN.sub("\\1\u0304", text)
        text = BRACED.sub(r"\1", text)
        text = re.sub(rf"_{GROUP}", r"_\1", text)
        text = re.sub(rf"\^(?:{GROUP}|([-+\dnTᵀ]))", _power, text)
        text = ROOT.sub(_root, text)
        text = FRACTION.sub(_fraction, text)
    text = re.sub(r"\\[a-zA-Z]+|[\\{}]", "", text).translate(str.maketrans("⟨⟩", "{}"))
    return re.sub(r"(?<=[(√])\s+|(?<=\S/)\s+|\s+(?=[),.])", "", " ".join(text.split()))


def _sign(match: re.Match[str]) -> str:
    name = match[1]
    return SIGNS.get(name, f" {name} " if name in WORDS else match[0])
