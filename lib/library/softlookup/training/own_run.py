"""A student's own model trained in earnest: on the generated grammar, with progress, and taken up where it was."""

import io
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from softlookup.model.whole.schedules import noam
from softlookup.text.grammar import english_words, french_words, sample
from softlookup.training.checkpoint import TrainingState, load_checkpoint, save_checkpoint

PAD, START, END, UNKNOWN = 0, 1, 2, 3
SPECIAL = ("<pad>", "<start>", "<end>", "<unknown>")

Model = Callable[[Tensor, Tensor], Tensor]
Loss = Callable[[Tensor, Tensor, int, float], Tensor]


@dataclass(frozen=True)
class OwnPlan:
    """The sizes of a run; the defaults learn the grammar in some minutes of a laptop."""

    d_model: int = 64
    n_heads: int = 4
    d_hidden: int = 128
    n_layers: int = 2
    batch: int = 64
    steps: int = 1500
    warmup: int = 200
    smoothing: float = 0.1
    sentences: int = 8000
    validation: int = 200
    seed: int = 0
    keep_every: int = 50


@dataclass
class OwnRun:
    """What a run gave.

    Attributes:
        losses: The loss of each step, in nats for each word.
        validations: (step, loss) pairs, on sentences that are not learned from.
        model: The model as it is now.
        done: Whether all steps were taken.
        english: The number of each English word that was learned.
        french: The French words that were learned, by number.
    """

    losses: list[float]
    validations: list[tuple[int, float]]
    model: nn.Module
    done: bool
    english: dict[str, int] = field(repr=False, default_factory=dict)
    french: tuple[str, ...] = field(repr=False, default=())

    @torch.no_grad()
    def translate(self, sentence: str, longest: int = 20) -> str:
        """Translate greedily, word by word.

        The sentence is English; words that are not of the grammar are read as unknown. At most ``longest`` words are
        written, parted by spaces.
        """
        self.model.eval()
        source = torch.tensor([[*(self.english.get(word, UNKNOWN) for word in english_words(sentence)), END]])
        ids = [START]
        while len(ids) <= longest and ids[-1] != END:
            ids.append(int(self.model(source, torch.tensor([ids]))[0, -1].argmax()))
        return " ".join(self.french[i] for i in ids[1:] if i != END)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the loss of each step, and the validation losses; with ``path`` also as a PNG picture to hand in."""
        from matplotlib.figure import Figure

        class Curve(Figure):
            """Notebooks know figures as pictures only once pyplot is there; this one brings its picture along."""

            def _repr_png_(self) -> bytes:
                into = io.BytesIO()
                self.savefig(into, format="png")
                return into.getvalue()

        figure = Curve(figsize=(6, 3.4), layout="constrained")
        axes = figure.subplots()
        axes.plot(range(1, len(self.losses) + 1), self.losses, linewidth=0.8, label="training")
        if self.validations:
            axes.plot(*zip(*self.validations, strict=True), "o-", markersize=4, label="validation")
        axes.set(xlabel="step", ylabel="loss, nats for each word")
        axes.legend()
        if path is not None:
            figure.savefig(path, format="png")
        return figure


def train_own(
    model_class: Callable[..., nn.Module],
    loss_of: Loss,
    out: str | Path,
    *,
    minutes: float | int | None = None,
    plan: OwnPlan | None = None,
    show: Callable[[str], None] = print,
) -> OwnRun:
    """Train a model of one's own on sentences of the grammar. The same call goes on where an interrupted one was.

    ``model_class`` is made with V, D, N, F, L and the pad's id; called with source (B, S) and target (B, T), which
    share a vocabulary, it gives logits (B, T, V). ``loss_of`` takes logits, labels, the pad's id and the smoothing.
    ``out`` is made if it is missing. After ``minutes`` it stops; None: at the end. ``show`` gets a line every
    `keep_every` steps. An interruption from the keyboard also gives the run so far. CheckpointError if the folder holds
    a run of another model or plan.
    """
    plan = plan or OwnPlan()
    pairs = sample(plan.sentences + plan.validation, plan.seed, unique=True)
    rows = [(english_words(pair.english), french_words(pair.french)) for pair in pairs]
    words = (*SPECIAL, *sorted({word for both in rows for side in both for word in side}))
    id_of = {word: i for i, word in enumerate(words)}
    sources = [[*(id_of[w] for w in english), END] for english, _ in rows]
    targets = [[START, *(id_of[w] for w in french), END] for _, french in rows]
    torch.manual_seed(plan.seed)
    model = model_class(len(words), plan.d_model, plan.n_heads, plan.d_hidden, plan.n_layers, PAD)
    _begin(model)
    adam = torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9)
    path = Path(out) / "run.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    settings = {"plan": repr(plan), "words": len(words)}
    state = TrainingState()
    if path.is_file():
        state = load_checkpoint(path, model=model, optimizer=adam, settings=settings)
        show(f"going on at step {state.step} of {plan.steps}")
    until_s = math.inf if minutes is None else time.monotonic() + 60 * minutes
    n = plan.sentences

    def loss_at(chosen: Sequence[int]) -> Tensor:
        source, target = _filled([sources[i] for i in chosen]), _filled([targets[i] for i in chosen])
        return loss_of(model(source, target[:, :-1]), target[:, 1:], PAD, plan.smoothing)

    try:
        while state.step < plan.steps and time.monotonic() < until_s:
            draw = torch.Generator().manual_seed(plan.seed * 1_000_003 + state.step)
            model.train()
            loss = loss_at(torch.randint(n, (plan.batch,), generator=draw).tolist())
            adam.param_groups[0]["lr"] = noam(state.step + 1, plan.d_model, warmup=plan.warmup, factor=0.5)
            adam.zero_grad()
            loss.backward()
            adam.step()
            state.losses.append(loss.item())
            state.step += 1
            if state.step % plan.keep_every == 0 or state.step == plan.steps:
                model.eval()
                with torch.no_grad():
                    validation = loss_at(range(n, n + plan.validation)).item()
                state.validations.append((state.step, validation))
                save_checkpoint(path, model=model, optimizer=adam, state=state, settings=settings)
                mean = sum(state.losses[-plan.keep_every :]) / plan.keep_every
                show(f"step {state.step:5} of {plan.steps}: loss {mean:.3f}, validation {validation:.3f}")
    except KeyboardInterrupt:
        show(f"interrupted after step {state.step}; the same call goes on at the last step that was kept")
    done = state.step >= plan.steps
    return OwnRun(list(state.losses), [(s, v) for s, v in state.validations], model.eval(), done, id_of, words)


def _begin(model: nn.Module) -> None:
    """Draw the weights: Xavier for matrices, narrow for the embedding; gains 1 and other rows 0."""
    for name, weight in model.named_parameters():
        if weight.ndim == 2 and "embedding" in name:
            nn.init.normal_(weight, std=weight.shape[1] ** -0.5)
        elif weight.ndim == 2:
            nn.init.xavier_uniform_(weight)
        elif name.endswith("weight"):
            nn.init.ones_(weight)
        else:
            nn.init.zeros_(weight)


def _filled(rows: Sequence[Sequence[int]]) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows])
