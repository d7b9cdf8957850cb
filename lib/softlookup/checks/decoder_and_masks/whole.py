"""The last task: an encoder-decoder as a class, equal to nn.Transformer between its embeddings and its logits."""

from softlookup.checks.decoder_and_masks import layer
from softlookup.checks.decoder_and_masks.attending import FROM_DECODER
from softlookup.checks.decoder_and_masks.masks import TRANSPOSED
from softlookup.checks.decoder_and_masks.page import PAGE
from softlookup.checks.decoder_and_masks.whole_cases import NAMES, SIZES, cases, oracle
from softlookup.checks.known import gradient_cut, known
from softlookup.checks.task import Layer, Mistake, Task

ENCODED = "memory = self.encoder_norm(x)"
ACROSS = "y = layer(y, memory, past, real)"
REAL = "real = padding_mask(source_ids, self.pad_id)"
PAST = "past = causal_mask(length, length)"
OUT = "return self.decoder_norm(y) @ self.embedding.T"
ROOT = " * math.sqrt(self.embedding.shape[1])"
PLACES = "sinusoidal(ids.shape[1], self.embedding.shape[1]).to(self.embedding)"
PADDING_INVERTED = "The padding mask is the wrong way round: True means may look, so it is True where there is a word."
PAST_INVERTED = "The causal mask is the wrong way round: True means may look, and only the past may be looked at."

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
