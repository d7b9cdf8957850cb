"""The last task: an encoder-decoder as a class, equal to nn.Transformer between its embeddings and its logits."""

from softlookup.checks.decoder_and_masks import layer
from softlookup.checks.decoder_and_masks.page import PAGE
from softlookup.checks.decoder_and_masks.whole_cases import NAMES, SIZES, cases, oracle
from softlookup.checks.task import Layer, Task

TRANSFORMER = Task(
    id="08.transformer",
    name="Transformer",
    title="Your own encoder-decoder",
    points=8,
    minutes=30,
    difficulty=3,
    page=PAGE,
    anchor="decoder-whole",
    returns=("logits",),
    cases=cases,
    oracle=oracle,
    parts={"core": 0.65, "mask": 0.2, "gradient": 0.15},
    forbids=layer.PARTS,
    layer=Layer(SIZES, NAMES, depth=4),
)
