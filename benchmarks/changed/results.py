"""What the experiments of `softlookup bench changed` give."""

from dataclasses import dataclass


@dataclass(frozen=True)
class WindowPerplexity:
    """Perplexity by way, the weight on the first token by layer and head, and what was read."""

    perplexity: dict[str, float]
    first_token: list[list[float]]
    tokens: int
    stretches: int
    text: str


@dataclass(frozen=True)
class CacheBitsPerplexity:
    """Perplexity of the whole cache, and by bits and by the direction of a group; and what was read."""

    perplexity: dict[str, float | dict[str, float]]
    group: int
    tokens: int
    stretches: int
    text: str


@dataclass(frozen=True)
class LoadBySeed:
    """By seed: the busiest expert's load over the mean, the entropy as a fraction of log E, nats a character."""

    busiest: list[float]
    entropy: list[float]
    loss: list[float]


@dataclass(frozen=True)
class ExpertLoads:
    """Loads without a bias and with one, and how experts were routed to."""

    without: LoadBySeed
    with_bias: LoadBySeed
    experts: int
    per_token: int
    bias_rate: float


@dataclass(frozen=True)
class LogitBySeed:
    """By seed: the largest scaled dot product, and nats a character."""

    largest: list[float]
    loss: list[float]


@dataclass(frozen=True)
class LargestLogits:
    """Without a norm on queries and keys and with one, at the usual rate and at ten times that."""

    none_x1: LogitBySeed
    none_x10: LogitBySeed
    head_x1: LogitBySeed
    head_x10: LogitBySeed
    rate: float


@dataclass(frozen=True)
class StretchedLoss:
    """Nats a character by seed: within the trained length, up to its double, and in the last quarter."""

    trained: list[float]
    twice: list[float]
    last: list[float]


@dataclass(frozen=True)
class StretchedLosses:
    """Losses by scaling of rotary positions, on texts ``times`` as long as those of training."""

    as_trained: StretchedLoss
    ntk: StretchedLoss
    yarn: StretchedLoss
    yarn_4: StretchedLoss
    length: int
    times: int


@dataclass(frozen=True)
class DraftGain:
    """With drafts of one length: the fraction accepted, and times without a draft over those with one."""

    acceptance: float
    tokens_per_pass: float
    speed: float
    speed_least: float
    speed_most: float
    speed_cpu_time: float


@dataclass(frozen=True)
class DraftGains:
    """Gains by length of draft, and the parameters of both models."""

    by_length: dict[str, DraftGain]
    parameters: dict[str, int]
    written: int
    rounds: int


@dataclass(frozen=True)
class RecallFractions:
    """Fractions of right answers by number of keys."""

    linear: dict[str, float]
    delta: dict[str, float]
    width: int


@dataclass(frozen=True)
class OptimiserLosses:
    """Nats a character: a mean of each ten steps, and on unseen text by seed."""

    curve: list[float]
    loss: list[float]


@dataclass(frozen=True)
class MuonGain:
    """Both optimisers, AdamW at two rates, and the step at which Muon is where AdamW ends at the usual one."""

    adamw: OptimiserLosses
    adamw_high: OptimiserLosses
    muon: OptimiserLosses
    steps: int | None
    steps_ratio: float | None
    rates: dict[str, float]
