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
    mistakes=(
        known(
            "future-seen",
            (PAST, "past = torch.ones(1, 1, dtype=torch.bool)"),
            says="The decoder sees the future: its self-attention needs the causal mask. In training it would copy the "
            "next word, and know nothing when it has to write.",
        ),
        known(
            "padding-seen",
            (REAL, "real = torch.ones(1, 1, dtype=torch.bool)"),
            says="The source's padding is looked at, in the encoder and from the decoder: hide it in both.",
        ),
        known(
            "encoder-sees-padding",
            ("x = layer(x, real)", "x = layer(x, torch.ones(1, 1, dtype=torch.bool))"),
            says="The encoder looks at its padding: the padding mask belongs to its self-attention as well.",
        ),
        known(
            "cross-sees-padding",
            (ACROSS, ACROSS.replace("real", "torch.ones(1, 1, dtype=torch.bool)")),
            says="Cross-attention looks at the source's padding: what the encoder has made of it is no word either.",
        ),
        known(
            "target-mask-in-cross",
            (ACROSS, ACROSS.replace("real", "padding_mask(target_ids, self.pad_id)")),
            says="Cross-attention hides the padding of the target: it looks at the source, so the source's counts.",
            number=60,
        ),
        known(
            "target-padding-hidden",
            (PAST, PAST + " & padding_mask(target_ids, self.pad_id)"),
            says="The target's padding is hidden too. It stands behind the words, where the causal mask hides it from "
            "every word already; this task asks for the causal mask alone.",
        ),
        known(
            "encoder-is-causal",
            ("x = layer(x, real)", "x = layer(x, real & causal_mask(x.shape[1], x.shape[1]))"),
            says="The encoder is kept from looking ahead: the source is known as a whole, and only padding is hidden.",
        ),
        known(
            "cross-looks-at-itself",
            (ACROSS, ACROSS.replace("memory", "y")),
            says=FROM_DECODER,
            number=59,
        ),
        known(
            "layer-by-layer",
            ("x = layer(x, real)", "x = layer(x, real)\n            kept.append(x)"),
            ("x = self.embed(source_ids)", "x, kept = self.embed(source_ids), []"),
            ("for layer in self.decoder:", "for layer, memory in zip(self.decoder, kept):"),
            says="Decoder layer i looks at encoder layer i: every one of them looks at the END of the encoder, after "
            "its final norm.",
        ),
        known(
            "encoder-skipped",
            (ENCODED, "memory = self.embed(source_ids)"),
            says="The decoder looks at the source's embeddings: it is to look at what the encoder has made of them.",
        ),
        known(
            "no-final-norms",
            (ENCODED, "memory = x"),
            (OUT, "return y @ self.embedding.T"),
            says="The final norms are missing: where each layer norms first, the sums that leave the stack are normed "
            "once more, in the encoder and in the decoder.",
            number=43,
        ),
        known("no-encoder-norm", (ENCODED, "memory = x"), says="The encoder's final norm is missing."),
        known(
            "no-decoder-norm",
            (OUT, "return y @ self.embedding.T"),
            says="The decoder's final norm is missing: it comes before the logits.",
        ),
        known(
            "norms-exchanged",
            (ENCODED, "memory = self.decoder_norm(x)"),
            says="The encoder ends in the decoder's norm: it has one of its own.",
        ),
        known(
            "embedding-not-scaled",
            (ROOT, ""),
            says="The embeddings are not multiplied by the root of D before positions are added.",
            number=32,
        ),
        known(
            "no-positions",
            (" + sinusoidal(ids.shape[1], self.embedding.shape[1]).to(self.embedding)", ""),
            says="No positions are added: the encoder could not tell one order of the words from another.",
        ),
        known(
            "positions-scaled",
            (ROOT, ""),
            (f"return x + {PLACES}", f"return (x + {PLACES}){ROOT}"),
            says="The positions are multiplied by the root of D too: first the embeddings, then the positions are "
            "added.",
            number=32,
        ),
        known(
            "positions-from-one",
            (PLACES, PLACES.replace("ids.shape[1]", "ids.shape[1] + 1", 1).replace(")", ")[1:]", 1)),
            says="The positions begin at 1: the first token stands at 0.",
            number=29,
        ),
        known("pad-is-zero", (REAL, REAL.replace("self.pad_id", "0")), says="The id 0 is hidden, not `pad_id`."),
        known("padding-inverted", (REAL, REAL.replace("= ", "= ~")), says=PADDING_INVERTED, number=48),
        known("past-inverted", (PAST, PAST.replace("= ", "= ~")), says=PAST_INVERTED, number=48),
        known(
            "diagonal-hidden",
            (PAST, PAST + ".tril(-1)"),
            says="In the decoder the diagonal is hidden too: a word may look at itself; the first one sees nothing.",
            number=53,
        ),
        known(
            "one-ahead",
            (PAST, "past = causal_mask(length + 1, length + 1)[1:, :-1]"),
            says="In the decoder each word sees the next one, the one that it is to predict.",
            number=54,
        ),
        known("past-transposed", (PAST, PAST + ".T"), says="The causal mask: " + TRANSPOSED, number=55),
        known(
            "masks-exchanged",
            (ACROSS, "y = layer(y, memory, real, past)"),
            says="The decoder's layers are given their masks in the wrong order: first the causal one, then that of "
            "the source's padding.",
            number=60,
        ),
        known(
            "norm-after-each-layer",
            ("x = layer(x, real)", "x = self.encoder_norm(layer(x, real))"),
            (ENCODED, "memory = x"),
            (ACROSS, "y = self.decoder_norm(layer(y, memory, past, real))"),
            (OUT, "return y @ self.embedding.T"),
            says="The final norms stand inside the loops, after every layer: they come once, at the end of each stack.",
            number=43,
        ),
        known(
            "log-probabilities",
            (OUT, "return torch.log_softmax(self.decoder_norm(y) @ self.embedding.T, dim=-1)"),
            says="These are log-probabilities: the logits themselves are asked for, before any softmax.",
            number=64,
        ),
        known(
            "layers-shared",
            ("for layer in self.encoder:", "for layer in [self.encoder[0]] * len(self.encoder):"),
            ("for layer in self.decoder:", "for layer in [self.decoder[0]] * len(self.decoder):"),
            says="The first layer is run again and again: each has weights of its own.",
            number=47,
        ),
        known(
            "last-position-alone",
            (OUT, OUT.replace("(y)", "(y[:, -1:])")),
            says="Only the last position's logits come back: there is a prediction at every position, all at once.",
        ),
        known(
            "probabilities",
            (OUT, "return torch.softmax(self.decoder_norm(y) @ self.embedding.T, dim=-1)"),
            says="These are probabilities: logits are asked for. The loss takes the softmax itself.",
            number=64,
        ),
        Mistake(
            "other-parameters",
            "The model's parameters are not those that were asked for: `embedding`, the layers in `encoder` and "
            "`decoder`, `encoder_norm`, `decoder_norm`, and no others (the output matrix is the embedding's table).",
            None,
            (
                (
                    "self.decoder_norm = nn.LayerNorm(d_model)",
                    "self.decoder_norm = nn.LayerNorm(d_model)\n        self.w_out = nn.Parameter("
                    "torch.empty(d_model, vocab_size))",
                ),
            ),
            symptom="no-parameter",
        ),
        gradient_cut((OUT, "return (self.decoder_norm(y) @ self.embedding.T).detach()")),
    ),
)
