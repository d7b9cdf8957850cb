"""The last task: an encoder-decoder as a class, equal to nn.Transformer between its embeddings and its logits."""

from softlookup.checks.decoder_and_masks import layer
from softlookup.checks.decoder_and_masks.whole_cases import NAMES, SIZES, cases, oracle
from softlookup.checks.published import described
from softlookup.checks.task import Layer

TRANSFORMER = described(
    "08.transformer",
    cases=cases,
    oracle=oracle,
    parts={"core": 0.65, "mask": 0.2, "gradient": 0.15},
    forbids=layer.PARTS,
    layer=Layer(SIZES, NAMES, depth=4),
)
