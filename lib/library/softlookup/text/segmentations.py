"""Other cuts of the same words in every epoch, for a whole corpus at once."""

import random
from collections.abc import Iterable

import numpy as np
from jaxtyping import Int64

from softlookup.text.bpe import BytePairTokenizer
from softlookup.text.pieces import split_pieces
from softlookup.text.tokenizer import refuse_one_string


class SegmentationPool:
    """Draw a corpus's ids under byte-pair dropout, quickly.

    Every distinct piece is cut several times by chance, once and for all. From then on each occurrence of the
    piece draws one of its cuts, in numpy, without a loop over the words.

    ``samples`` is how many cuts of each distinct piece are kept, ``seed`` where their chance comes from; at ``dropout``
    0 every draw is the plain encoding; ``start`` and ``end`` add these tokens to each text. TypeError if texts is one
    string; ValueError if there are none, samples is below 1, or dropout is not between 0 and 1.

    Cost: to build for 29,000 captions, 16 samples: about 3 s; a draw, about 0.1 s.

    Source: Provilkov et al. 2020 (dropout on merges).
    """

    def __init__(
        self,
        tokenizer: BytePairTokenizer,
        texts: Iterable[str],
        *,
        samples: int = 16,
        dropout: float = 0.1,
        seed: int = 0,
        start: bool = False,
        end: bool = False,
    ) -> None:
        refuse_one_string(texts)
        if samples < 1:
            raise ValueError(f"samples must be at least 1; got {samples}")
        if not 0.0 <= dropout <= 1.0:
            raise ValueError(f"dropout must be between 0 and 1; got {dropout}")
        self.samples = 1 if dropout == 0.0 else samples
        # Start and end are pieces 0 and 1, with one cut only; then the corpus's own pieces as they come.
        number_of: dict[str, int] = {}
        occurrences: list[int] = []
        text_ends: list[int] = []
        for text in texts:
            occurrences += [0] * start
            occurrences += [number_of.setdefault(pretoken, len(number_of) + 2) for pretoken in split_pieces(text)]
            occurrences += [1] * end
            text_ends.append(len(occurrences))
        if not text_ends:
            raise ValueError("there are no texts to draw from; got an empty list")
        self._occurrences = np.array(occurrences, dtype=np.int64)
        self._text_ends = np.array(text_ends, dtype=np.int64)
        rng = random.Random(seed)
        cuts = [[tokenizer.start_id]] * self.samples + [[tokenizer.end_id]] * self.samples
        for pretoken in number_of:
            for _ in range(self.samples):
                tokens = tokenizer.cut_by_chance(pretoken, dropout, rng)
                cuts.append([tokenizer.vocabulary.id(token) for token in tokens])
        self._lengths = np.array([len(cut) for cut in cuts], dtype=np.int64)
        self._begins = np.cumsum(self._lengths) - self._lengths
        self._ids = np.array([token_id for cut in cuts for token_id in cut], dtype=np.int64)

    def __len__(self) -> int:
        return len(self._text_ends)

    def draw(self, rng: np.random.Generator) -> list[Int64[np.ndarray, " T"]]:
        """Give each text's ids, every piece cut as chance has it.

        The same state of rng gives the same result, one array for each text in their order.
        """
        choice = rng.integers(self.samples, size=len(self._occurrences))
        rows = self._occurrences * self.samples + choice
        lengths = self._lengths[rows]
        ends = np.cumsum(lengths)
        # Where each id of the result lies among the kept ids: the cut's begin, plus the place within the cut.
        within = np.arange(int(lengths.sum())) - np.repeat(ends - lengths, lengths)
        ids = self._ids[np.repeat(self._begins[rows], lengths) + within]
        bounds = np.concatenate([[0], ends])[self._text_ends]
        return np.split(ids, bounds[:-1])
