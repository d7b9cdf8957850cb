"""Learning rates as plain functions of the step: steps count from 1, rates are what the optimizer multiplies by."""

import math


def noam(step: int, d_model: int, *, warmup: int = 4000, factor: float = 1.0) -> float:
    """Give the learning rate of the Transformer paper: up in a line, then down with the square root of the step.

    Both branches meet at step = warmup, where the rate is highest: factor / sqrt(D * warmup).

    Args:
        step: The optimizer's step, the first being 1.
        d_model: D, the width of the model: wider models learn at a lower rate.
        warmup: After how many steps the rate is highest.
        factor: Multiplies the whole curve.

    Returns:
        factor * D^-0.5 * min(step^-0.5, step * warmup^-1.5).

    Raises:
        ValueError: If step, d_model or warmup is below 1, or factor is not a positive number.

    Source: Vaswani et al. 2017, equation 3.

    >>> round(noam(4000, 512), 6)
    0.000699
    """
    _check_step(step)
    _check_count("d_model", d_model)
    _check_count("warmup", warmup)
    _check_positive("factor", factor)
    return factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def inverse_square_root(step: int, *, peak: float, warmup: int) -> float:
    """Give a rate that rises in a line to a chosen peak, then falls with the square root of the step.

    The curve of noam, with the peak as a number of its own instead of a consequence of the width.

    Args:
        step: The optimizer's step, the first being 1.
        peak: The highest rate, reached at step = warmup.
        warmup: How many steps the rise takes.

    Returns:
        peak * min(step / warmup, sqrt(warmup / step)).

    Raises:
        ValueError: If step or warmup is below 1, or peak is not a positive number.

    Source: Vaswani et al. 2017, equation 3, scaled.

    >>> [inverse_square_root(s, peak=1.0, warmup=4) for s in (1, 4, 16)]
    [0.25, 1.0, 0.5]
    """
    _check_step(step)
    _check_count("warmup", warmup)
    _check_positive("peak", peak)
    return peak * min(step / warmup, math.sqrt(warmup / step))


def warmup_hold_decay(step: int, *, peak: float, warmup: int, decay_from: int, total: int) -> float:
    """Give a rate that rises in a line, stays, and falls in a line to 0 at the end.

    While it stays, nothing of it depends on how long the run will be: the end can be set when it is in sight.

    Args:
        step: The optimizer's step, the first being 1.
        peak: The highest rate, held from step = warmup to step = decay_from.
        warmup: How many steps the rise takes; 0 begins at the peak.
        decay_from: The last step at the peak.
        total: The step at which the rate is 0; it stays 0 afterwards.

    Returns:
        The rate.

    Raises:
        ValueError: If step is below 1, peak is not a positive number, or not 0 <= warmup <= decay_from < total.

    Source: Hu et al. 2024 (MiniCPM), section 4; Hägele et al. 2024.

    >>> [warmup_hold_decay(s, peak=1.0, warmup=4, decay_from=8, total=12) for s in (1, 4, 8, 10, 12)]
    [0.25, 1.0, 1.0, 0.5, 0.0]
    """
    _check_step(step)
    _check_positive("peak", peak)
    if not 0 <= warmup <= decay_from < total:
        raise ValueError(
            f"warmup is {warmup}, decay_from {decay_from}, total {total}; wanted 0 <= warmup <= decay_from < total"
        )
    if step < warmup:
        return peak * step / warmup
    return peak * min(1.0, max(0.0, (total - step) / (total - decay_from)))


def _check_step(step: int) -> None:
    if step < 1:
        raise ValueError(f"step is {step}; steps count from 1")


def _check_count(name: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"{name} is {value}; wanted at least 1")


def _check_positive(name: str, value: float) -> None:
    # Written so that NaN, which compares false with everything, is refused too.
    if not 0.0 < value < math.inf:
        raise ValueError(f"{name} is {value}; wanted a positive, finite number")
