"""A trained translator in a line: sentences in, sentences, scores and attention maps out."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from softlookup.model.decoding.beam import beam_search
from softlookup.model.parts.trace import Trace
from softlookup.model.published._folders import read_folder
from softlookup.model.whole.transformer import Transformer
from softlookup.text.bpe import BytePairTokenizer
from softlookup.text.corpus import pad

SHIPPED = Path(__file__).parent / "shipped" / "english_french"


@dataclass(frozen=True)
class Translation:
    """One sentence, translated.

    Attributes:
        text: The translation.
        score: Log-probability over length penalty, in nats: what beam search ranked it by.
        log_probability: Of the translation, its end counted, in nats.
        source_tokens: The pieces that the encoder read, the end token last.
        tokens: The pieces that were written, the end token last.
    """

    text: str
    score: float
    log_probability: float
    source_tokens: tuple[str, ...]
    tokens: tuple[str, ...]


@dataclass(frozen=True)
class Alignment:
    """Which pieces of the source each piece of the translation looked at.

    Attributes:
        source_tokens: The pieces of the source, one for each column.
        tokens: The pieces of the translation, one for each row: row t is the look that wrote tokens[t].
        weights: Cross-attention weights of every layer and head, (L, N, T, S).
    """

    source_tokens: tuple[str, ...]
    tokens: tuple[str, ...]
    weights: Float[Tensor, "L N T S"]


class Translator:
    """A model and its tokenizer.

    Args:
        model: A trained encoder-decoder.
        tokenizer: The one that it was trained with.

    Raises:
        ValueError: If the two differ in the size of their vocabulary.
    """

    def __init__(self, model: Transformer, tokenizer: BytePairTokenizer) -> None:
        if model.config.vocab_size != len(tokenizer):
            raise ValueError(f"the model has {model.config.vocab_size} pieces of words, the tokenizer {len(tokenizer)}")
        self.model, self.tokenizer = model.eval(), tokenizer

    def translate(self, sentence: str, *, beams: int = 4, length_penalty: float | int = 1.0) -> Translation:
        """Translate one sentence.

        Args:
            sentence: The sentence.
            beams: How many hypotheses beam search keeps; 1 is greedy.
            length_penalty: The exponent of the length penalty.

        Returns:
            The translation.

        Raises:
            TypeError: If the sentence is no string.
            ValueError: If it is empty, or longer than the model takes.
        """
        if not isinstance(sentence, str):
            raise TypeError(f"sentence is a {type(sentence).__name__}; wanted one string (translate_all takes several)")
        return self.translate_all([sentence], beams=beams, length_penalty=length_penalty)[0]

    @torch.no_grad()
    def translate_all(
        self, sentences: Sequence[str], *, beams: int = 4, length_penalty: float | int = 1.0
    ) -> list[Translation]:
        """Translate many sentences at once.

        Args:
            sentences: The sentences.
            beams: How many hypotheses beam search keeps; 1 is greedy.
            length_penalty: The exponent of the length penalty.

        Returns:
            One translation for each, in their order.

        Raises:
            TypeError: If one string is given instead of several.
            ValueError: If there is no sentence, one is empty, or one is longer than the model takes.
        """
        if isinstance(sentences, str):
            raise TypeError("sentences is one string; wanted several (translate takes one)")
        sources = [self._source(text) for text in sentences]
        if not sources:
            raise ValueError("there are no sentences; wanted at least one")
        config, tokenizer = self.model.config, self.tokenizer
        device = next(self.model.parameters()).device
        source_ids = torch.from_numpy(pad(sources, config.pad_id)).to(device)
        result = beam_search(
            self.model,
            torch.full((len(sources), 1), config.start_id, device=device),
            beams=beams,
            max_new_tokens=min(config.max_length - 1, 2 * source_ids.shape[1] + 10),
            end_id=config.end_id,
            pad_id=config.pad_id,
            length_penalty=length_penalty,
            state=self.model.start(source_ids),
        )
        translations = []
        for row, source in enumerate(sources):
            ids = result.ids[row, 0, 1 : 1 + int(result.lengths[row, 0])].tolist()
            translations.append(
                Translation(
                    tokenizer.decode(ids),
                    float(result.scores[row, 0]),
                    float(result.log_probabilities[row, 0]),
                    self._names(source),
                    self._names(ids),
                )
            )
        return translations

    @torch.no_grad()
    def alignment(self, source: str, target: str | None = None) -> Alignment:
        """Show where the decoder looked while it wrote.

        Args:
            source: The sentence.
            target: Its translation; None means the model's own.

        Returns:
            The pieces and the cross-attention weights.

        Raises:
            ValueError: If a sentence is empty or longer than the model takes.
        """
        target = self.translate(source).text if target is None else target
        source_ids, target_ids = self._source(source), self.tokenizer.encode(target, start=True, end=True)
        device = next(self.model.parameters()).device
        trace = Trace()
        self.model(
            torch.tensor([source_ids], device=device), torch.tensor([target_ids[:-1]], device=device), trace=trace
        )
        weights_LNTS = torch.cat(trace.cross_weights)
        return Alignment(self._names(source_ids), self._names(target_ids[1:]), weights_LNTS)

    def _source(self, text: str) -> list[int]:
        ids = self.tokenizer.encode(text, end=True)
        if len(ids) == 1:
            raise ValueError(f"the sentence {text!r} holds no words")
        if len(ids) > self.model.config.max_length:
            raise ValueError(f"a sentence has {len(ids)} pieces; the model takes {self.model.config.max_length}")
        return ids

    def _names(self, ids: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.tokenizer.vocabulary.token(i) for i in ids)


def load_translator(folder: str | Path | None = None, *, device: torch.device | str = "cpu") -> Translator:
    """Read a trained translator.

    Args:
        folder: Where `softlookup train` left one: merges.txt, config.json and model.safetensors. None means the
            English-French one that comes with the library; its card says what it was trained on, and on whose terms.
        device: Where to put it.

    Returns:
        The translator, in float32.

    Raises:
        FileNotFoundError: If one of the three files is missing; the message names it.
        CheckpointError: If the weights are not those of the configuration.
    """
    folder = SHIPPED if folder is None else Path(folder)
    model, tokenizer = read_folder(folder, Transformer, "softlookup train")
    return Translator(model.to(device), tokenizer)
