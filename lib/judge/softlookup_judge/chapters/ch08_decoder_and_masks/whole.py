"""The last task: an encoder-decoder as a class, equal to nn.Transformer between its embeddings and its logits."""

from softlookup_inside.asking.case import LayerAnswer
from softlookup_judge.chapters.ch08_decoder_and_masks import layer
from softlookup_judge.chapters.ch08_decoder_and_masks.whole_cases import NAMES, SIZES, cases, oracle
from softlookup_judge.data.published import described

TRANSFORMER = described(
    "08.transformer",
    cases=cases,
    oracle=oracle,
    called_with=("source_ids", "target_ids"),
    parts={"core": 0.65, "mask": 0.2, "gradient": 0.15},
    forbids=layer.PARTS,
    layer=LayerAnswer(SIZES, NAMES, depth=4),
)
