"""Rotary positions for texts longer than those of training: slower pairs, by NTK-aware scaling or by YaRN."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

Kind = Literal["ntk", "yarn", "llama3", "linear"]


@dataclass(frozen=True)
class RotaryScaling:
    """Slow rotary positions down, so that a text `factor` times as long stays within the angles seen in training.

    NTK-aware scaling takes a larger base: the slowest pair turns `factor` times slower, the fastest as before. YaRN
    decides by how often a pair turns within the trained length: more than fast_turns leaves it as it was, less than
    slow_turns makes it `factor` times slower, and a ramp over the pairs lies between. It also multiplies sines and
    cosines, hence queries and keys, by 0.1 ln(factor) + 1, and so the scores by its square. Llama 3.1 decides likewise,
    but its ramp is straight in the number of turns, and nothing is multiplied. Linear interpolation makes all pairs
    slower (Chen et al. 2023).

    Args:
        kind: ntk, yarn, llama3 or linear.
        factor: How many times longer than in training texts may be.
        trained_length: The longest text of training; yarn and llama3 need it.
        fast_turns: beta in the paper, beta_fast in published descriptions, high_freq_factor in those of Llama 3.1.
        slow_turns: alpha in the paper, beta_slow or low_freq_factor in published descriptions.
        attention_factor: What sines and cosines are multiplied by; None means the formula above for yarn, 1 for others.
        truncate: Whether YaRN's ramp begins and ends at whole pairs; gpt-oss lets it begin and end between two.

    Raises:
        ValueError: If the kind is unknown, a number is out of range, or yarn or llama3 has no trained_length.

    Source: Peng et al. 2023 (YaRN), which also gives the NTK-aware base.
    """

    kind: Kind
    factor: float | int
    trained_length: int | None = None
    fast_turns: float = 32.0
    slow_turns: float = 1.0
    attention_factor: float | None = None
    truncate: bool = True

    def __post_init__(self) -> None:
        """Refuse what makes no scaling."""
        if self.kind not in get_args(Kind):
            raise ValueError(f"kind is {self.kind!r}; wanted one of {', '.join(get_args(Kind))}")
        if not 1 <= self.factor < math.inf:
            raise ValueError(f"factor must be at least 1 and finite; got {self.factor}")
        if self.kind in ("yarn", "llama3") and (self.trained_length is None or self.trained_length < 1):
            raise ValueError(f"trained_length must be at least 1 for {self.kind}; got {self.trained_length}")
        if not 0 < self.slow_turns < self.fast_turns < math.inf:
            raise ValueError(
                f"slow_turns is {self.slow_turns}, fast_turns is {self.fast_turns}; wanted 0 < slow_turns < fast_turns"
            )
        if self.attention_factor is not None and not self.attention_factor > 0:
            raise ValueError(f"attention_factor must be above 0, or None; got {self.attention_factor}")

    @property
    def amplitude(self) -> float:
        """What sines and cosines are multiplied by."""
        if self.attention_factor is not None:
            return self.attention_factor
        return 0.1 * math.log(self.factor) + 1 if self.kind == "yarn" else 1.0

    def speeds(self, head_width: int, base: float = 10000.0) -> Float[Tensor, " half"]:
        """Say by which angle each pair turns from one position to the next.

        Args:
            head_width: H, even; at least 4 for ntk, whose base has H - 2 in an exponent's denominator.
            base: That of training: pair i turned by base^(-2i/H) then.

        Returns:
            H/2 angles in radians, the fastest first, in float64.

        Raises:
            ValueError: If head_width is below 4 for ntk, or the base is not above 1 for the others.
        """
        pair = torch.arange(head_width // 2, dtype=torch.float64)
        if self.kind == "ntk":
            if head_width < 4:
                raise ValueError(f"head_width must be at least 4 for ntk; got {head_width}")
            return (base * self.factor ** (head_width / (head_width - 2))) ** (-2 * pair / head_width)
        if not base > 1:
            raise ValueError(f"base must be above 1 for {self.kind}; got {base}")
        speeds = base ** (-2 * pair / head_width)
        if self.kind == "linear":
            return speeds / self.factor
        assert self.trained_length is not None
        if self.kind == "llama3":
            turns = self.trained_length * speeds / (2 * math.pi)
            as_before = ((turns - self.slow_turns) / (self.fast_turns - self.slow_turns)).clamp(0, 1)
            return speeds * as_before + speeds / self.factor * (1 - as_before)
        # Pair i turns trained_length * base^(-2i/H) / (2 pi) times: solved for i, at each end of the ramp.
        first, last = (
            head_width * math.log(self.trained_length / (turns * 2 * math.pi)) / (2 * math.log(base))
            for turns in (self.fast_turns, self.slow_turns)
        )
        if self.truncate:
            first, last = math.floor(first), math.ceil(last)
        first, last = max(first, 0), min(last, head_width - 1)  # H - 1, not the last pair: as in the published code
        # A ramp rises over some length. In transformers it falls where the trained length is so large that all pairs
        # are fast (first > H - 1), and slows all of them; here they stay as they were, as the paper has it.
        ramp = ((pair - first) / max(last - first, 0.001)).clamp(0, 1)
        return speeds * (1 - ramp) + speeds / self.factor * ramp
