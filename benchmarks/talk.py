"""How fast SmolLM2 writes: ``softlookup bench talk``.

Our generate on the fast path and on the plain one, and generate of `transformers`, each with a cache, one thread, the
same weights in float32 and the same prompt. They are clocked in turn, and have to write the same tokens.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from benchmarks.harness import benchmark, one_thread
from benchmarks.race import race
from softlookup.model.decoding.fast_step import FastStep
from softlookup.model.decoding.generate import generate
from softlookup.model.published.gguf_files import read_gguf
from softlookup.model.published.smollm2 import (
    PACKAGE,
    VERSION,
    checked_file,
    llama_description,
    llama_tensors,
    load_smollm2,
)

_QUESTION = "Explain in a few sentences why the sky is blue."


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run."""

    new_tokens: int = 64
    rounds: int = 5


@dataclass(frozen=True)
class TalkResult:
    """Our generate on either path beside that of `transformers`: ratios of times, and speeds by way."""

    ratio: float
    ratio_least: float
    ratio_most: float
    ratio_cpu_time: float
    ratio_of: str
    plain_ratio: float
    plain_ratio_least: float
    plain_ratio_most: float
    plain_ratio_cpu_time: float
    tokens_per_s: dict[str, float]
    ms_per_token: dict[str, float]
    equal: bool
    prompt_tokens: int
    rounds: int
    parameters: int
    model: str
    peer: str


@benchmark("talk", _Plan(), quick=_Plan(new_tokens=4, rounds=1))
def bench_talk(plan: _Plan) -> TalkResult:
    """Continue a chat prompt with SmolLM2, by our code and by `transformers`.

    ``ratio`` is (generate of `transformers` / ours) by the clock, the median over the rounds, with the least and the
    most; ``plain_ratio`` is the same for the model's own step. ``tokens_per_s`` says how many each way writes in a
    second, the reading of the prompt included; ``equal`` whether all wrote the same. ModuleNotFoundError if the model's
    package or `transformers` is not installed; ValueError if the package holds another file.
    """
    chat = load_smollm2()  # first, since it says what to install
    import transformers

    ids = torch.tensor([chat.encode(chat.prompt(_QUESTION))])
    peer = _their_model()
    settings = {"max_new_tokens": plan.new_tokens, "do_sample": False, "use_cache": True}
    ways = {
        "fast": partial(_write, FastStep(chat.model), ids, plan.new_tokens),
        "theirs": partial(peer.generate, ids, attention_mask=torch.ones_like(ids), **settings),
        "plain": partial(_write, chat.model, ids, plan.new_tokens),
    }
    with one_thread():
        raced = race(ways, plan.rounds)
    times_ms = raced.ms(plan.new_tokens, "")
    return TalkResult(
        **raced.ratio("theirs", "fast"),
        ratio_of=f"transformers' generate / ours (fast), {plan.new_tokens} new tokens, float32, one thread",
        **raced.ratio("theirs", "plain", "plain_ratio"),
        tokens_per_s={name: 1e3 / time_ms for name, time_ms in times_ms.items()},
        ms_per_token=times_ms,
        equal=raced.equal,
        prompt_tokens=ids.shape[1],
        rounds=plan.rounds,
        parameters=sum(weight.numel() for weight in chat.model.parameters()),
        model=f"SmolLM2-135M-Instruct, from {PACKAGE} {VERSION}",
        peer=f"transformers {transformers.__version__}, LlamaForCausalLM, {peer.config._attn_implementation}",
    )


def _write(step: Any, prompt: torch.Tensor, new_tokens: int) -> torch.Tensor:
    return generate(step, prompt, max_new_tokens=new_tokens).ids


def _their_model() -> Any:
    """The model of `transformers`, with the same unpacked weights. It writes on to the limit."""
    import transformers

    file = read_gguf(checked_file())
    description = transformers.LlamaConfig(**{k: v for k, v in llama_description(file).items() if k != "model_type"})
    model: Any = transformers.LlamaForCausalLM(description)
    model.load_state_dict(llama_tensors(file), strict=False)
    model.tie_weights()
    model.generation_config.eos_token_id = None
    return model.eval()
