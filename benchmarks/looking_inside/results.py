"""What the experiments of `softlookup bench inside` give; matrices are lists of rows, layers from the first on."""

from dataclasses import dataclass

Matrix = list[list[float]]


@dataclass(frozen=True)
class SilencedLosses:
    """Nats a token of the second copy without the strongest heads, and without others, draw by draw."""

    strongest: float
    random: list[float]
    same_layers: list[float]


@dataclass(frozen=True)
class InductionScores:
    """Losses in nats a token, scores by layer and head, and the strongest as (layer, head, score)."""

    loss_first_copy: float
    loss_second_copy: float
    loss_without: dict[str, SilencedLosses]
    strongest: list[tuple[int, int, float]]
    scores: Matrix
    previous_token: Matrix
    block: int
    rows: int


@dataclass(frozen=True)
class SinkShares:
    """Shares of weight on the first token, by layer and by head, and that of an even spread."""

    by_layer: list[float]
    shares: Matrix
    even: float
    tokens: int


@dataclass(frozen=True)
class PromptByLayer:
    """What each state of one prompt says: its first word, and share and rank of the final one."""

    text: str
    words: list[str]
    final: str
    share_of_final: list[float]
    rank_of_final: list[int]


@dataclass(frozen=True)
class LensReading:
    """Positions by the layer from which their word stays, and the share of final words after each."""

    settled: list[int]
    settled_median: float
    agrees: list[float]
    tokens: int
    prompt: PromptByLayer


@dataclass(frozen=True)
class AttributionParts:
    """A logit difference, the sum of its parts, and what each adds."""

    text: str
    difference_of: tuple[str, str]
    logit: float
    total: float
    most: list[tuple[str, float]]
    heads: Matrix
    feed_forward: list[float]
    embedding: float


@dataclass(frozen=True)
class ProbeByLayer:
    """One task: accuracies of probes, and the share of the larger class; ``places`` is how many were taken."""

    accuracy: list[float]
    control: list[float]
    selectivity: list[float]
    majority: list[float]
    places: int


@dataclass(frozen=True)
class ProbedTasks:
    """Both tasks, and the tokens that they were asked of."""

    tokens: int
    types: int
    texts: int
    line_end_before: ProbeByLayer
    line_end_next: ProbeByLayer


@dataclass(frozen=True)
class GenderPatching:
    """Logit differences of two sources, and the recovered shares by layer and head, and by layer and position."""

    clean: str
    corrupted: str
    given: tuple[str, ...]
    difference_of: tuple[str, str]
    clean_difference: float
    corrupted_difference: float
    cross_heads: Matrix
    decoder_heads: Matrix
    encoder_heads: Matrix
    strongest: list[tuple[int, int]]
    strongest_together: float
    encoder_states: Matrix
    source_tokens: list[str]


@dataclass(frozen=True)
class CapitalPatching:
    """Logit differences of two prompts, and the recovered shares by layer and position, and by layer and head."""

    clean: str
    corrupted: str
    difference_of: tuple[str, str]
    clean_difference: float
    corrupted_difference: float
    tokens: list[str]
    states: Matrix
    heads: Matrix


@dataclass(frozen=True)
class LikelyTokens:
    """What was done to a pass over a text, the most likely next tokens and their probabilities, and two logits' gap."""

    text: str
    done: str
    tokens: list[str]
    probabilities: list[float]
    difference: float


@dataclass(frozen=True)
class AddedDirection:
    """A text read as it is, with a direction added at its country, and with random ones of the same length.

    The probabilities are those of the two tokens: what follows the country of the text, and what would follow France.
    ``drawn`` has them for each random direction.
    """

    text: str
    tokens: tuple[str, str]
    as_it_is: tuple[float, float]
    added: tuple[float, float]
    drawn: list[tuple[float, float]]


@dataclass(frozen=True)
class CountryHead:
    """The head that carries a country to the last word: where all heads attend to, and what interventions change."""

    layer: int
    head: int
    on_country: Matrix
    on_first: Matrix
    fall_when_silenced: Matrix
    passes: list[LikelyTokens]
    layers_passed: int
    directions: list[AddedDirection]


@dataclass(frozen=True)
class ToyModels:
    """Toy models by sparsity: the small ones' geometry, and how many features the large ones represent."""

    sparsities: tuple[float, ...]
    directions: list[Matrix]
    norms: Matrix
    interference: Matrix
    loss: list[float]
    represented_of_20_in_5: list[list[int]]


@dataclass(frozen=True)
class AutoencoderRun:
    """One number of latents at one price: features that were found, and the explained share of the variance."""

    latents: int
    price: float
    recovered: int
    split: int
    unmatched: int
    dead: int
    worst_cosine: float
    explained: float
    active: float


@dataclass(frozen=True)
class AutoencoderRuns:
    """The features that were put in, and all runs."""

    features: int
    width: int
    sparsity: float
    active_features: float
    runs: list[AutoencoderRun]


@dataclass(frozen=True)
class FamilyRun:
    """One number of latents: parents, children and sums that were found, and the explained share of the variance."""

    latents: int
    parents: int
    children: int
    sums: int
    latents_of_parents: list[int]
    active_together: float
    dead: int
    explained: float


@dataclass(frozen=True)
class FamilyRuns:
    """The features that were put in, and all runs."""

    parents: int
    children: int
    price: float
    runs: list[FamilyRun]
