"""A trained language model in a line: the beginning of a text in, the text with its continuation out."""

from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from softlookup.model.decoding.generate import generate
from softlookup.model.published._folders import read_folder
from softlookup.model.whole.language import DecoderLM
from softlookup.text.bpe import BytePairTokenizer
from softlookup.text.lines import mark_lines, restore_lines

SHIPPED = Path(__file__).parent / "shipped" / "shakespeare"


class Writer:
    """A decoder-only model and its tokenizer. Line ends are tokens, so that it can write verse.

    Args:
        model: A trained one.
        tokenizer: The one that it was trained with.

    Raises:
        ValueError: If the two differ in the size of their vocabulary.
    """

    def __init__(self, model: DecoderLM, tokenizer: BytePairTokenizer) -> None:
        if model.config.vocab_size != len(tokenizer):
            raise ValueError(f"the model has {model.config.vocab_size} tokens, the tokenizer {len(tokenizer)}")
        self.model, self.tokenizer = model.eval(), tokenizer

    def encode(self, text: str) -> list[int]:
        """Turn a text into ids, line ends included.

        Args:
            text: Any text; runs of spaces count as one.

        Returns:
            Its ids.
        """
        return self.tokenizer.encode(mark_lines(text))

    def decode(self, ids: list[int]) -> str:
        """Turn ids into a text with line ends.

        Args:
            ids: Ids, from the first of a text on.

        Returns:
            The text.
        """
        return restore_lines(self.tokenizer.decode(ids))

    @torch.no_grad()
    def next_logits(self, text: str) -> Float[Tensor, " V"]:
        """Say what may come next.

        Args:
            text: The text so far.

        Returns:
            The logits of the next token.

        Raises:
            ValueError: If the text has no token, or more than the model takes.
        """
        return self.model(self._prompt(text))[0, -1]

    def write(
        self,
        text: str,
        *,
        max_new_tokens: int = 100,
        temperature: float | int = 0.0,
        top_k: int | None = None,
        top_p: float | int | None = None,
        seed: int = 0,
    ) -> str:
        """Continue a text, with a KV cache.

        Args:
            text: How it begins.
            max_new_tokens: How many tokens to write; fewer where the model's context is full before.
            temperature: 0 takes the likeliest token; above it the token is drawn.
            top_k: Draw among the k likeliest only.
            top_p: Draw among the likeliest that hold this mass.
            seed: Where the luck comes from.

        Returns:
            The whole text.

        Raises:
            ValueError: If the text has no token or leaves no room for one, or a setting is out of its range.
        """
        prompt = self._prompt(text)
        room = self.model.config.max_length + 1 - prompt.shape[1]  # the last token that is written is never read
        written = generate(
            self.model,
            prompt,
            max_new_tokens=min(max_new_tokens, room),
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            generator=torch.Generator().manual_seed(seed),
            state=self.model.start(),
        )
        return self.decode(written.ids[0].tolist())

    def _prompt(self, text: str) -> Tensor:
        ids, most = self.encode(text), self.model.config.max_length
        if not 0 < len(ids) <= most:
            raise ValueError(f"the text has {len(ids)} tokens; the model takes 1 to {most}")
        return torch.tensor([ids], device=next(self.model.parameters()).device)


def load_writer(folder: str | Path | None = None, *, device: torch.device | str = "cpu") -> Writer:
    """Read a trained language model.

    Args:
        folder: Where `softlookup train-writer` left one: merges.txt, config.json and model.safetensors. None means
            the one that comes with the library, trained on plays of Shakespeare; its card says what it has learned.
        device: Where to put it.

    Returns:
        The model, in float32.

    Raises:
        FileNotFoundError: If one of the three files is missing; the message names it.
        CheckpointError: If the weights are not those of the configuration.
    """
    folder = SHIPPED if folder is None else Path(folder)
    model, tokenizer = read_folder(folder, DecoderLM, "softlookup train-writer")
    return Writer(model.to(device), tokenizer)
