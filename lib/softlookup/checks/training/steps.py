"""Tasks on one step of the optimiser: the learning rate, and Adam."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task
from softlookup.checks.training.page import PAGE


def _rate_cases(rng: Rng) -> list[Case]:
    sizes = (
        (3999, 512, 4000),
        (0, 512, 4000),
        (99_999, 512, 4000),
        (3999, 1024, 4000),
        (10, 64, 100),
        (int(rng.integers(200, 900)), 256, 150),
    )
    return [Case(f"{d:,} steps done, D = {w}, warm-up {u}", (d, w, u), frame="plain") for d, w, u in sizes]


def _rate(done: int, d_model: int, warmup: int) -> float:
    """The peak, times how far up or down the curve is."""
    step = done + 1
    peak = (d_model * warmup) ** -0.5
    return peak * (step / warmup if step < warmup else (warmup / step) ** 0.5)


FIRST = "step = done + 1"

RATE = Task(
    id="09.warmup",
    name="learning_rate",
    title="The learning rate of the paper",
    points=3,
    minutes=8,
    difficulty=1,
    page=PAGE,
    anchor="training-warmup",
    returns=("rate",),
    cases=_rate_cases,
    oracle=_rate,
    frame="plain",
    forbids=("softlookup.model",),
    mistakes=(
        known(
            "from-zero",
            (FIRST, "step = done"),
            says="The first step is counted as 0: there the rate is 0 divided through or 0, and nothing is learned. "
            "Steps count from 1.",
            number=66,
        ),
        known(
            "first-twice",
            (FIRST, "step = max(done, 1)"),
            says="The second step gets the rate of the first, and all others are one late: when `done` steps are done, "
            "the next is number done + 1.",
            number=66,
        ),
        known(
            "first-rests",
            (FIRST, "step = done\n    if step == 0:\n        return 0.0"),
            says="The first step has the rate 0 and learns nothing: it is number 1, so take done + 1.",
            number=66,
        ),
        known(
            "too-steep",
            ("step * warmup**-1.5", "step / warmup"),
            says="The way up is too steep: step / warmup reaches 1, and the two branches do not meet at `warmup`. It "
            "is step * warmup^-1.5.",
            number=66,
        ),
        known(
            "warmup-fixed",
            ("warmup**-1.5", "4000**-1.5"),
            says="The warm-up is always 4000 steps: use the argument.",
        ),
        known(
            "exponents-exchanged",
            ("step**-0.5, step * warmup**-1.5", "step**-1.5, step * warmup**-0.5"),
            says="The exponents have changed places: the way down is step^-0.5, the way up step * warmup^-1.5. Try "
            "D = 512 and step 4000: the peak is 6.99e-4.",
            number=66,
        ),
        known(
            "larger-of-both",
            ("min(", "max("),
            says="The larger of the two branches is taken: the rate begins high and has its lowest point where the "
            "peak should be.",
            number=66,
        ),
        known(
            "never-falls",
            ("min(step**-0.5, step * warmup**-1.5)", "step * warmup**-1.5"),
            says="It only rises: behind the warm-up the rate falls with the root of the step.",
            number=66,
        ),
        known(
            "never-rises",
            ("min(step**-0.5, step * warmup**-1.5)", "step**-0.5"),
            says="There is no warm-up: up to step `warmup` the rate rises in a line.",
            number=66,
        ),
        known(
            "width-forgotten",
            ("d_model**-0.5 * ", ""),
            says="The width is missing: wider models learn at a lower rate, divided by the root of D.",
        ),
        known(
            "width-multiplied",
            ("d_model**-0.5", "d_model**0.5"),
            says="The root of the width is multiplied: it divides.",
        ),
    ),
)


def _adam_cases(rng: Rng) -> list[Case]:
    def case(
        label: str, shape: tuple[int, ...], step: int, *more: float, first: bool = False, dtype: str = "float32"
    ) -> Case:
        m, v = normal(rng, *shape, dtype=dtype), rng.uniform(0.1, 2, shape).astype(dtype)
        if first:
            m, v = np.zeros_like(m), np.zeros_like(v)
        w, g = normal(rng, *shape, dtype=dtype), normal(rng, *shape, dtype=dtype)
        return Case(label, (w, g, m, v, step, *more))

    return [
        case("the first step, with the paper's numbers", (3, 2), 1, 0.05, 0.9, 0.98, 1e-9, first=True),
        case("the seventh step", (4,), 7, 0.1, 0.8, 0.95, 1e-8),
        case("a large eps", (2, 3), 3, 0.2, 0.9, 0.98, 0.4),
        case("a square matrix", (3, 3), 2, 0.05, 0.7, 0.9, 1e-3),
        case("the hundredth step in float64", (5,), 100, 0.01, 0.9, 0.999, 1e-8, dtype="float64"),
    ]


def _adam(w: Any, g: Any, m: Any, v: Any, step: int, rate: float, beta_1: float, beta_2: float, eps: float) -> Any:
    """Torch's own Adam, in the middle of a run."""
    import torch

    weight = torch.nn.Parameter(w.clone())
    weight.grad = g.clone()
    optimiser = torch.optim.Adam([weight], lr=rate, betas=(beta_1, beta_2), eps=eps, foreach=False)
    optimiser.state[weight] = {
        "step": torch.tensor(float(step - 1)),
        "exp_avg": m.clone(),
        "exp_avg_sq": v.clone(),
    }
    optimiser.step()
    state = optimiser.state[weight]
    return weight, state["exp_avg"], state["exp_avg_sq"]


M_LINE = "m = beta_1 * m + (1 - beta_1) * g"
V_LINE = "v = beta_2 * v + (1 - beta_2) * g**2"
W_LINE = "return w - rate * m_hat / (torch.sqrt(v_hat) + eps), m, v"

ADAM = Task(
    id="09.adam",
    name="adam_step",
    title="One step of Adam",
    points=4,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="training-adam",
    returns=("w", "m", "v"),
    cases=_adam_cases,
    oracle=_adam,
    forbids=("torch.optim", "softlookup.model"),
    mistakes=(
        known(
            "not-corrected",
            ("m_hat = m / (1 - beta_1**step)", "m_hat = m"),
            ("v_hat = v / (1 - beta_2**step)", "v_hat = v"),
            says="The two averages begin at zero and are not corrected for it: divide each by 1 - beta^step.",
        ),
        known(
            "m-uncorrected",
            ("m_hat = m / (1 - beta_1**step)", "m_hat = m"),
            says="Only v is corrected: m begins at zero as well, so divide it by 1 - beta_1^step.",
        ),
        known(
            "v-uncorrected",
            ("v_hat = v / (1 - beta_2**step)", "v_hat = v"),
            says="Only m is corrected: v begins at zero as well, so divide it by 1 - beta_2^step.",
        ),
        known(
            "old-averages",
            (f"{M_LINE}\n    {V_LINE}", "m_0, v_0 = m, v"),
            ("m_hat = m /", "m_hat = m_0 /"),
            ("v_hat = v /", "v_hat = v_0 /"),
            ("    return w -", f"    {M_LINE}\n    {V_LINE}\n    return w -"),
            says="The step is made with the averages of the step BEFORE: bring m and v up to date first.",
        ),
        known(
            "shares-dropped",
            (M_LINE, "m = beta_1 * m + g"),
            (V_LINE, "v = beta_2 * v + g**2"),
            says="What is new comes in whole: an average takes only the share 1 - beta of it.",
        ),
        known(
            "eps-forgotten",
            ("(torch.sqrt(v_hat) + eps)", "torch.sqrt(v_hat)"),
            says="eps is missing: it is added to the root.",
        ),
        known(
            "eps-uncorrected",
            ("(torch.sqrt(v_hat) + eps)", "((torch.sqrt(v) + eps) / (1 - beta_2**step) ** 0.5)"),
            says="eps is added to the root of the UNCORRECTED v, as in the quicker form of Adam: in the first steps "
            "that weighs more. Correct v first, then add eps.",
            number=40,
        ),
        known(
            "corrected-kept",
            (W_LINE, W_LINE.replace(", m, v", ", m_hat, v_hat")),
            says="The corrected averages are handed on: the next step would correct them again. Keep m and v.",
        ),
        known(
            "counted-from-zero",
            ("**step)", "**(step - 1))"),
            says="The correction counts one step too few: at step 1 it would divide by zero.",
            number=66,
        ),
        known(
            "eps-inside",
            ("(torch.sqrt(v_hat) + eps)", "torch.sqrt(v_hat + eps)"),
            says="eps stands inside the root: here it is added behind it.",
            number=40,
        ),
        known(
            "root-forgotten",
            ("torch.sqrt(v_hat)", "v_hat"),
            says="The root is missing: v holds squares, and only its root has the size of a gradient.",
        ),
        known(
            "not-squared",
            ("g**2", "g.abs()"),
            says="The gradient is not squared in v: that is the average of SQUARED gradients.",
        ),
        known(
            "betas-exchanged",
            (M_LINE, M_LINE.replace("beta_1", "beta_2")),
            (V_LINE, V_LINE.replace("beta_2", "beta_1")),
            ("beta_1**step", "beta_0**step"),
            ("beta_2**step", "beta_1**step"),
            ("beta_0**step", "beta_2**step"),
            says="The betas have changed places: beta_1 belongs to m, beta_2 to v.",
        ),
        known(
            "shares-exchanged",
            (M_LINE, "m = (1 - beta_1) * m + beta_1 * g"),
            (V_LINE, "v = (1 - beta_2) * v + beta_2 * g**2"),
            says="Old and new have changed places: an average keeps the share beta of what it was.",
        ),
        known("uphill", (W_LINE, W_LINE.replace("w - rate", "w + rate")), says="It goes uphill: w minus the step."),
    ),
)
