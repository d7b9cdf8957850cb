"""A language model that has been taught to answer: questions in its format, answers piece by piece, attention maps."""

from collections.abc import Iterator, Sequence
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from softlookup.model.decoding.fast_step import FastStep
from softlookup.model.decoding.generate import generate
from softlookup.model.decoding.sampling import check_sampling
from softlookup.model.decoding.stepping import check_length
from softlookup.model.parts.trace import Trace
from softlookup.model.whole.language import DecoderLM
from softlookup.text.byte_level import ByteLevelTokenizer

TURN_TOKEN, END_TOKEN = "<|im_start|>", "<|im_end|>"
"""The special tokens of ChatML: a turn begins with the first, and ends with the second."""

_HALF_A_CHARACTER = "\N{REPLACEMENT CHARACTER}"


def write_turn(role: str, text: str, names: Sequence[str]) -> str:
    """Write a turn of a conversation in ChatML, from its first token to the line end behind its last one.

    ``names`` are the special tokens of the tokenizer that reads it: a text that holds one would end the turn, and is a
    ValueError that names it.
    """
    if matches := [name for name in names if name in text]:
        first = min(matches, key=text.index)
        raise ValueError(f"the text of the {role} holds {first}, which the model takes for a token of its own")
    return f"{begin_turn(role)}{text}{END_TOKEN}\n"


def begin_turn(role: str) -> str:
    """Write how a turn begins in ChatML: its first token, the role and a line end."""
    return f"{TURN_TOKEN}{role}\n"


class ChatModel:
    """A decoder-only model and its tokenizer, with the format in which it was taught to answer.

    Args:
        model: A trained one. It is not to be changed or moved once it has written.
        tokenizer: The one that it was trained with.
        system: What the model is told before the question, unless it is told something else; None for nothing, not
            even an empty turn.

    Raises:
        ValueError: If the two differ in the size of their vocabulary.
    """

    def __init__(self, model: DecoderLM, tokenizer: ByteLevelTokenizer, *, system: str | None = "") -> None:
        if model.config.vocab_size != len(tokenizer):
            raise ValueError(f"the model has {model.config.vocab_size} tokens, the tokenizer {len(tokenizer)}")
        self.model, self.tokenizer, self.system = model.eval(), tokenizer, system

    def encode(self, text: str, *, specials: bool = True) -> list[int]:
        """Turn a text into ids.

        Args:
            text: Any text.
            specials: Whether the name of a special token is that token; otherwise it is text like any other.

        Returns:
            Its ids.
        """
        return self.tokenizer.encode(text, specials=specials)

    def decode(self, ids: list[int], *, skip_specials: bool = True) -> str:
        """Turn ids into a text.

        Args:
            ids: Ids, each 0 <= id < V.
            skip_specials: Whether to leave special tokens out.

        Returns:
            The text.

        Raises:
            ValueError: If an id is out of range.
        """
        return self.tokenizer.decode(ids, skip_specials=skip_specials)

    def prompt(self, question: str, *, system: str | None = None) -> str:
        """Write a question in the format in which the model was taught: ChatML, a turn each for who speaks.

        Args:
            question: What to ask.
            system: What to tell the model beforehand; None means what it was taught with.

        Returns:
            The text to continue. It ends where the answer begins.

        Raises:
            ValueError: If question or system holds the name of a special token, which would end the turn; the message
                names it.
        """
        system = self.system if system is None else system
        turns = [("user", question)] if system is None else [("system", system), ("user", question)]
        written = [write_turn(role, text, self.tokenizer.names) for role, text in turns]
        return "".join([*written, begin_turn("assistant")])

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
        return self.model.step(self._ids(text))[0][0]

    @torch.no_grad()
    def attention_maps(self, text: str) -> tuple[tuple[str, ...], Float[Tensor, "L N T T"]]:
        """Show who attends to whom.

        Args:
            text: One text.

        Returns:
            Its tokens, in which "Ġ" is a space and "Ċ" a line end, and the attention weights of every layer and head:
            row t is what token t attends to.

        Raises:
            ValueError: If the text has no token, or more than the model takes.

        Cost: L*N*T*T weights in memory.
        """
        ids, trace = self._ids(text), Trace()
        self.model(ids, trace=trace)
        return tuple(self.tokenizer.vocabulary.token(i) for i in ids[0].tolist()), torch.cat(trace.weights)

    def stream(
        self,
        text: str,
        *,
        max_new_tokens: int = 200,
        temperature: float | int = 0.0,
        top_k: int | None = None,
        top_p: float | int | None = None,
        seed: int = 0,
    ) -> Iterator[str]:
        """Continue a text, and hand over what is written as soon as it is: with a KV cache, on the fast path.

        Args:
            text: How it begins; the names of special tokens in it are those tokens.
            max_new_tokens: How many tokens to write at most. The first special token ends the text, and so does a full
                context.
            temperature: 0 takes the likeliest token; above it the token is drawn.
            top_k: Draw among the k likeliest only.
            top_p: Draw among the likeliest that hold this mass.
            seed: Where the luck comes from.

        Returns:
            The pieces of what is written, none empty; each ends with a whole character.

        Raises:
            ValueError: If the text has no token or more than the model takes, or a setting is out of its range.
        """
        check_length(max_new_tokens)
        check_sampling(temperature, top_k, top_p)
        ids = self._ids(text)
        room = self.model.config.max_length + 1 - ids.shape[1]  # the last token that is written is never read
        settings = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
        generator = torch.Generator().manual_seed(seed)
        return self._pieces(ids, min(max_new_tokens, room), {**settings, "generator": generator})

    def write(self, text: str, **settings: float | int | None) -> str:
        """Continue a text.

        Args:
            text: How it begins; the names of special tokens in it are those tokens.
            **settings: Those of stream.

        Returns:
            The whole text.

        Raises:
            ValueError: If the text has no token or more than the model takes, or a setting is out of its range.
        """
        return "".join((text, *self.stream(text, **settings)))  # type: ignore[arg-type]

    def answer(self, question: str, *, system: str | None = None, **settings: float | int | None) -> str:
        """Answer a question.

        Args:
            question: What to ask.
            system: What to tell the model beforehand; None means what it was taught with.
            **settings: Those of stream.

        Returns:
            The answer alone.

        Raises:
            ValueError: As prompt and stream do.
        """
        return "".join(self.stream(self.prompt(question, system=system), **settings))  # type: ignore[arg-type]

    @cached_property
    def _fast(self) -> FastStep:
        return FastStep(self.model)

    def _pieces(self, ids: Tensor, max_new_tokens: int, settings: dict) -> Iterator[str]:
        names = {self.tokenizer.vocabulary.id(name) for name in self.tokenizer.names}
        state, waiting = self._fast.start(), []
        for _ in range(max_new_tokens):
            ids = generate(self._fast, ids, max_new_tokens=1, state=state, **settings).new_ids
            token_id = int(ids)
            if token_id in names:
                break
            waiting.append(token_id)
            fragment = self.decode(waiting)
            if not fragment.endswith(_HALF_A_CHARACTER):  # the rest of its bytes may come with the next token
                yield fragment
                waiting = []
        if waiting:
            yield self.decode(waiting)

    def _ids(self, text: str) -> Tensor:
        ids, most = self.encode(text), self.model.config.max_length
        if not 0 < len(ids) <= most:
            raise ValueError(f"the text has {len(ids)} tokens; the model takes 1 to {most}")
        return torch.tensor([ids], device=next(self.model.parameters()).device)
