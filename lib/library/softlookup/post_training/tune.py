"""What `softlookup tune` does: conversations in, a LoRA adapter out; the same command goes on after a kill."""

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from rich.console import Console
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from softlookup.model.published.chat import ChatModel
from softlookup.model.published.chat_folder import SMOLLM2, load_chat
from softlookup.model.published.lora import add_lora, count_lora, lora_changes, lora_parameters, save_adapter
from softlookup.model.whole.language import DecoderLM
from softlookup.post_training.messages import ASSISTANT, IGNORED, render_chat
from softlookup.post_training.tune_data import AnswerBatch, ExampleBatches, TuneExample, hold_out, read_examples
from softlookup.post_training.tune_report import TuneReport
from softlookup.training.averaging import MovingAverage
from softlookup.training.checkpoint import Checkpoints, TrainingState
from softlookup.training.command_frame import check_device, refusing, shown_run
from softlookup.training.data import Batch
from softlookup.training.loop import Progress, train
from softlookup.training.progress import ProgressDisplay
from softlookup.training.run_folder import write_json

_SAMPLES, _SAMPLE_TOKENS = 2, 60


@dataclass(frozen=True)
class TuneSettings:
    """What decides a run, but for its model and its examples.

    Attributes:
        rank: R of the adapters.
        alpha: The adapters' change is multiplied by alpha / R.
        targets: Last names of the changed matrices.
        epochs: How often each example is learned from.
        steps: How many optimizer steps, in place of epochs; None leaves it to them.
        learning_rate: The highest, after a tenth of the steps; it then falls linearly to 0.
        batch: Examples in a step.
        seed: Where the held-out examples, the order and A come from.
        every: After how many steps the state is written.

    ValueError, which names it, if a number is out of range.
    """

    rank: int = 8
    alpha: float = 16.0
    targets: tuple[str, ...] = ("w_q", "w_v")
    epochs: int = 3
    steps: int | None = None
    learning_rate: float = 1e-3
    batch: int = 4
    seed: int = 0
    every: int = 20

    def __post_init__(self) -> None:
        for name in ("rank", "epochs", "steps", "batch", "every"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise ValueError(f"{name} is {value}; wanted at least 1")
        for name in ("alpha", "learning_rate"):
            if not 0 < (value := getattr(self, name)) < math.inf:
                raise ValueError(f"{name} is {value}; wanted a finite number above 0")


class AdapterCheckpoints(Checkpoints):
    """The states of a run that trains adapters alone: the frozen weights, which do not change, are not written.

    All arguments, here and below, are those of Checkpoints; the model is one of add_lora.
    """

    def save(
        self, model: nn.Module, optimizer: Optimizer, state: TrainingState, average: MovingAverage | None = None
    ) -> None:
        """Write the adapters, the optimizer and how far the run has come."""
        super().save(lora_changes(model), optimizer, state, average)

    def resume(
        self, model: nn.Module, optimizer: Optimizer, average: MovingAverage | None = None
    ) -> TrainingState | None:
        """Put the adapters and the optimizer back to the last state."""
        return super().resume(lora_changes(model), optimizer, average)


def answer_loss(model: nn.Module, batch: Batch, epsilon: float) -> Tensor:
    """Sum the surprise at the assistant's tokens, in nats; the head is computed at their positions alone.

    ``model`` is a DecoderLM, ``batch`` an AnswerBatch on its device, ``epsilon`` the share of label smoothing.
    """
    assert isinstance(model, DecoderLM) and isinstance(batch, AnswerBatch)
    # Filling stands behind each text, where no token of the text looks.
    is_label = batch.labels != IGNORED
    logits = model.head(model.states(batch.target_ids)[is_label][None])[0]
    return F.cross_entropy(logits.float(), batch.labels[is_label], reduction="sum", label_smoothing=epsilon)


@torch.no_grad()
def answer_loss_of(model: DecoderLM, batches: ExampleBatches) -> float:
    """Measure the loss for each token of the assistant in epoch 0, in nats; the model keeps its mode."""
    was_training, device = model.training, next(model.parameters()).device
    model.eval()
    measured = [(answer_loss(model, batch.to(device), 0.0).item(), batch.tokens) for batch in batches.epoch(0)]
    model.train(was_training)
    return sum(total for total, _ in measured) / sum(tokens for _, tokens in measured)


def tune(
    chat: ChatModel,
    examples: Sequence[TuneExample],
    out: str | Path,
    settings: TuneSettings | None = None,
    *,
    base: str | None = None,
    on_step: Callable[[Progress], None] | None = None,
    note: Callable[[str], None] | None = None,
) -> TuneReport:
    """Train LoRA adapters on conversations, from the beginning or from where a killed run was.

    The adapters stay in the model. ``examples`` are those of read_examples, a tenth of which is held out; ``out`` gets
    the adapter (adapter_config.json, adapter_model.safetensors), report.json and the states of the run; ``base``, the
    model's name or folder, is written beside the adapter; ``note`` gets lines worth reading. ValueError if there are
    too few examples or the model has adapters already; CheckpointError if the folder holds a run of other settings,
    examples or another model; DivergedError if the loss is no longer a number.

    Source: Hu et al. 2021; Ouyang et al. 2022, section 3.5 (supervised fine-tuning).
    """
    settings, out = settings or TuneSettings(), Path(out)
    learned, apart = hold_out(examples, settings.seed)
    model, pad_id = chat.model, chat.model.config.pad_id
    generator_state = torch.random.get_rng_state()
    torch.manual_seed(settings.seed)
    add_lora(model, settings.rank, settings.alpha, settings.targets)
    torch.random.set_rng_state(generator_state)
    batches = ExampleBatches(learned, pad_id=pad_id, rows=settings.batch, seed=settings.seed)
    held_out = ExampleBatches(apart, pad_id=pad_id, rows=settings.batch, seed=settings.seed)
    total = total_steps(settings, len(learned))
    fixed = asdict(settings) | {"targets": list(settings.targets), "total_steps": total}
    fixed |= {"examples": _digest([example.ids for example in examples]), "model": _fingerprint(model)}
    for name in ("every", "epochs", "steps"):
        del fixed[name]
    # B is zero until a state is read, so that the model is still the frozen one here, resumed or not.
    before, samples = answer_loss_of(model, held_out), apart[:_SAMPLES]
    answers_before = [_sample(chat, example) for example in samples]
    if note is not None:
        note(f"loss on {len(apart)} held-out examples before: {before:.3f}")
    start_s = time.perf_counter()
    state = train(
        model,
        batches,
        optimizer=AdamW(lora_parameters(model), lr=settings.learning_rate, weight_decay=0.0),
        schedule=lambda step: learning_rate(step, total, settings.learning_rate),
        steps=total,
        epsilon=0.0,
        objective=answer_loss,
        on_step=on_step,
        checkpoint=AdapterCheckpoints(out / "run", every=settings.every, settings=fixed),
    )
    seconds = time.perf_counter() - start_s
    model.eval()
    n_trained, fraction = count_lora(model)
    report = TuneReport(
        n_examples=len(learned),
        n_held_out=len(apart),
        loss_before=before,
        loss_after=answer_loss_of(model, held_out),
        samples=tuple(
            {"question": _question(example), "before": answer, "after": _sample(chat, example)}
            for example, answer in zip(samples, answers_before, strict=True)
        ),
        steps=state.step,
        tokens=state.tokens,
        seconds=seconds,
        trained_parameters=n_trained,
        trained_fraction=fraction,
        losses=tuple(state.losses),
    )
    save_adapter(model, out, base=base)
    write_json(out / "report.json", asdict(report))
    return report


def total_steps(settings: TuneSettings, n_examples: int) -> int:
    """Count the steps of a run.

    In optimizer steps, from the settings' ``steps``, or from epochs and batch.
    """
    return settings.epochs * -(-n_examples // settings.batch) if settings.steps is None else settings.steps


def learning_rate(step: int, total: int, highest: float) -> float:
    """Give the learning rate of a step: linear up over the first tenth, then linear down towards 0.

    ``step`` counts from 1, ``highest`` is the rate at the end of the warm-up; the result is above 0 at every step.

    >>> [round(learning_rate(step, 20, 1.0), 2) for step in (1, 2, 11, 20)]
    [0.5, 1.0, 0.53, 0.05]
    """
    warm_up = max(1, total // 10)
    return highest * min(step / warm_up, (total - step + 1) / (total - warm_up + 1))


def tune_command(
    file: str | Path,
    *,
    out: str | Path,
    model: str = SMOLLM2,
    device: str = "cpu",
    console: Console | None = None,
    **settings: Any,
) -> int:
    """Tune a chat model on a file of conversations and say what came of it.

    ``file`` is as in read_examples, ``out`` the adapter's folder, ``model`` "smollm2" or a folder, ``settings`` those
    of TuneSettings; console None is the terminal. Gives the exit status: 0, or 130 after Ctrl-C. TrainingRefused if a
    setting, the file, the model or the folder is wrong, or the loss is no longer a number; ModuleNotFoundError if the
    file of SmolLM2 is not installed.
    """
    with refusing():
        check_device(device, None)
        chosen, out = TuneSettings(**settings), Path(out)
        chat = load_chat(model, device=device)
        examples = read_examples(file, chat)
        learned, _ = hold_out(examples, chosen.seed)

        def run_training(display: ProgressDisplay, on_step: Callable[[Progress], None]) -> None:
            report = tune(chat, examples, out, chosen, base=model, on_step=on_step, note=display.note)
            display.note(str(report))
            display.note(f'done: softlookup talk --adapter {out} "..." uses it')

        return shown_run(run_training, out, total_steps(chosen, len(learned)), None, console)


def _question(example: TuneExample) -> str:
    """Give the conversation up to its last answer, as the model reads it."""
    last = max(i for i, message in enumerate(example.messages) if message["role"] == ASSISTANT)
    return render_chat(example.messages[:last], add_generation_prompt=True)


def _sample(chat: ChatModel, example: TuneExample) -> str:
    # A new ChatModel, since the fast path copies the weights once.
    fresh = ChatModel(chat.model, chat.tokenizer, system=chat.system)
    return "".join(fresh.stream(_question(example), max_new_tokens=_SAMPLE_TOKENS))


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def _fingerprint(model: DecoderLM) -> str:
    """Tell models apart by their sizes and by a sum over each frozen tensor."""
    frozen: Mapping[str, Tensor] = {n: p for n, p in model.named_parameters() if not p.requires_grad}
    return _digest([(name, list(w.shape), float(w.detach().double().sum())) for name, w in frozen.items()])
