"""A language model that computes the steps of a server, and the clock that goes with it."""

import time
from collections.abc import Sequence

import torch
from torch import Tensor

from softlookup.model.decoding.sampling import next_token_probabilities, pick
from softlookup.model.parts.config import PLACES_IN_A_TENSOR, check_parts
from softlookup.model.whole.language import DecoderLM
from softlookup.serving.blocks import Blocks
from softlookup.serving.request import Request

_KNOWN = PLACES_IN_A_TENSOR | {
    "attention_sinks": (False, True),
    "n_experts": (),
    "n_segments": (),
    "mlm_transform": (False, True),
}


class ModelRunner:
    """Runs a decoder-only model on the sequences of a cache of blocks.

    Args:
        model: In evaluation mode; its positions are added to the tokens or rotary, and no layer has a window.
        blocks: Made for its sizes, on its device.

    Raises:
        ValueError: If the model has parts that rows of different lengths cannot share; the message names them.
    """

    def __init__(self, model: DecoderLM, blocks: Blocks) -> None:
        check_parts(model.config, _KNOWN, "the server's cache of rows of different lengths")
        if model.training:
            raise ValueError("the model is in training mode; call eval() first")
        self.model, self.blocks = model, blocks

    def now(self) -> float:
        """Seconds on the real clock."""
        return time.perf_counter()

    def wait_until(self, moment_s: float) -> None:
        """Sleep until a moment on the same clock."""
        time.sleep(max(0.0, moment_s - self.now()))

    @torch.inference_mode()
    def run(self, plan: Sequence[tuple[Request, int]]) -> list[int]:
        """Compute the tokens of one step: all requests that compute one token in one pass, each chunk in its own.

        Args:
            plan: Requests with room in the cache, and how many tokens each computes.

        Returns:
            The next token of each request. It means nothing where a part of the prompt is still missing.
        """
        logits: dict[int, Tensor] = {}
        single = [i for i, (_, tokens) in enumerate(plan) if tokens == 1]
        if single:
            logits |= zip(single, self._pass([plan[i][0] for i in single], 1), strict=True)
        for i, (request, tokens) in enumerate(plan):
            if tokens > 1:
                logits[i] = self._pass([request], tokens)[0]
        return [_chosen(request, logits[i]) for i, (request, _) in enumerate(plan)]

    def _pass(self, requests: list[Request], tokens: int) -> Tensor:
        rows = self.blocks.rows([request.sequence for request in requests if request.sequence is not None], tokens)
        new = [request.ids[request.computed : request.computed + tokens] for request in requests]
        ids_BT = torch.tensor(new, device=self.blocks.k.device)
        x_BTD = self.model.embedder(ids_BT, places=rows.places)
        return self.model.head(self.model.decoder(x_BTD, mask=rows.mask, cache=rows)[:, -1:])[:, 0]


def _chosen(request: Request, logits_V: Tensor) -> int:
    if request.temperature == 0:
        return int(logits_V.argmax())
    luck = torch.Generator().manual_seed(request.seed)
    uniform = torch.rand(len(request.written) + 1, generator=luck)[-1:]  # its own luck, whoever else is in the batch
    return int(pick(next_token_probabilities(logits_V.cpu()[None], temperature=request.temperature), uniform)[0])
