"""SmolLM2 is tuned on a hundred questions: ``softlookup bench tune``.

What `softlookup tune examples/terms.jsonl` does, on two threads: LoRA with its defaults. The examples explain terms of
this course in a sentence or two. Measured are the loss on the held-out tenth, how long answers to it are, and that the
merged model computes what model and adapter do.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from benchmarks.harness import ROOT, benchmark, threads
from softlookup.model.published.chat import ChatModel
from softlookup.model.published.lora import load_adapter, merge_lora
from softlookup.model.published.smollm2 import PACKAGE, VERSION, load_smollm2
from softlookup.post_training.messages import ASSISTANT
from softlookup.post_training.tune import TuneSettings, tune
from softlookup.post_training.tune_data import TuneExample, hold_out, read_examples

EXAMPLES = ROOT / "examples" / "terms.jsonl"


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run."""

    steps: int | None = None
    new_tokens: int = 120
    threads: int = 2


@dataclass(frozen=True)
class Answers:
    """Answers to held-out questions: their mean length, how many end by themselves, and the answers."""

    words: float
    ended: int
    texts: tuple[str, ...]


@dataclass(frozen=True)
class TuningResult:
    """SmolLM2 before and after; losses are nats for each token of an answer, on examples not learned from."""

    ratio: float
    ratio_of: str
    model: str
    examples: int
    held_out: int
    steps: int
    seconds: float
    threads: int
    trained_parameters: int
    loss_before: float
    loss_after: float
    questions: tuple[str, ...]
    before: Answers
    after: Answers
    merged_differs_by: float


@benchmark("tune", _Plan(), quick=_Plan(steps=1, new_tokens=2))
def bench_tune(plan: _Plan) -> TuningResult:
    """Tune SmolLM2 on examples/terms.jsonl, and let it answer the held-out questions before and after.

    ``ratio`` is (mean words of an answer before / after); ``merged_differs_by`` the largest difference of logits
    between the merged model and the model beside its adapter. ModuleNotFoundError if the model's package is not
    installed.
    """
    with threads(plan.threads):
        chat, settings = load_smollm2(), TuneSettings(steps=plan.steps)
        examples = read_examples(EXAMPLES, chat)
        _, apart = hold_out(examples, settings.seed)
        before = _answers(chat, apart, plan)
        with tempfile.TemporaryDirectory() as folder:
            report = tune(chat, examples, folder, settings)
            merged = load_smollm2()
            load_adapter(merged.model, folder)
        merge_lora(merged.model)
        ids = torch.tensor([apart[0].ids])
        with torch.no_grad():
            difference = (merged.model(ids) - chat.model(ids)).abs().max().item()
        after = _answers(merged, apart, plan)
    return TuningResult(
        ratio=before.words / after.words,
        ratio_of="words of an answer before / after",
        model=f"SmolLM2-135M-Instruct, from {PACKAGE} {VERSION}",
        examples=report.n_examples,
        held_out=report.n_held_out,
        steps=report.steps,
        seconds=report.seconds,
        threads=plan.threads,
        trained_parameters=report.trained_parameters,
        loss_before=report.loss_before,
        loss_after=report.loss_after,
        questions=tuple(_question(example) for example in apart),
        before=before,
        after=after,
        merged_differs_by=difference,
    )


def _question(example: TuneExample) -> str:
    return example.messages[1]["content"]


def _answers(chat: ChatModel, examples: Sequence[TuneExample], plan: _Plan) -> Answers:
    texts, ended = [], 0
    for example in examples:
        assert example.messages[2]["role"] == ASSISTANT
        text = "".join(chat.stream(chat.prompt(_question(example)), max_new_tokens=plan.new_tokens))
        ended += len(chat.encode(text)) < plan.new_tokens
        texts.append(text)
    words = sum(len(text.split()) for text in texts) / len(texts)
    return Answers(words=words, ended=ended, texts=tuple(texts))
