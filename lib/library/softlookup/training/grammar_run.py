"""The translator that needs no data: trained on the generated grammar in under two minutes, and judged on the rest."""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from softlookup.model.published.translator import load_translator
from softlookup.text.grammar import MAX_WORDS, Pair, english_words, french_words, sample
from softlookup.training.alignments import AlignmentScore, alignment_scores, exact_match, score_of
from softlookup.training.recipe import Recipe
from softlookup.training.translation import train_translator


@dataclass(frozen=True)
class GrammarReport:
    """What a model makes of sentences of the grammar that it has never seen.

    Attributes:
        exact_match: The share that came out word for word, written greedily.
        alignment: How well cross-attention finds the gold alignment, by the look that did best on the validation
            sentences.
        n_train: How many sentences it learned from.
        n_test: How many it was judged by.
        seconds: How long training took, in this call alone where it was taken up again.
    """

    exact_match: float
    alignment: AlignmentScore
    n_train: int
    n_test: int
    seconds: float

    def __str__(self) -> str:
        """Say it in a few lines."""
        return (
            f"{self.exact_match:.1%} of {self.n_test} unseen sentences translated word for word, "
            f"after {self.seconds:.0f} s of training on {self.n_train:,}\n"
            f"cross-attention finds the word that was translated for {self.alignment.found:.1%} of "
            f"{self.alignment.n_words:,} French words (alignment error rate {self.alignment.error_rate:.3f}; "
            f"{self.alignment.look}, chosen on other sentences)"
        )


def grammar_recipe() -> Recipe:
    """Give the embedded default: 0.8 million parameters, 800 steps; nearly every word of the grammar is one token."""
    return Recipe(
        vocab_size=1000,
        d_model=128,
        n_heads=4,
        n_layers=2,
        d_hidden=256,
        max_length=64,
        dropout=0.1,
        segmentation_dropout=0.0,
        epsilon=0.05,
        tokens_per_batch=2000,
        peak=2e-3,
        warmup=100,
        decay_from=400,
        steps=800,
        average=0.98,
    )


def grammar_splits(
    n_pairs: int = 30_000, *, seed: int = 0, n_validation: int = 200, n_test: int = 500, max_words: int = MAX_WORDS
) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Draw sentences to learn from, to choose by and to be judged by; none comes twice.

    The numbers to choose by and to be judged by are taken from n_pairs, and so are sentences of more than ``max_words``
    on either side, which are left out. The same seed gives the same sentences. ValueError if a number is below 1, or
    too few are short enough to leave one to learn from.
    """
    if min(n_validation, n_test) < 1:
        raise ValueError(f"n_validation is {n_validation}, n_test {n_test}; wanted at least 1 of each")
    sampled_pairs = sample(n_pairs, seed, unique=True)
    pairs = [p for p in sampled_pairs if max(len(english_words(p.english)), len(french_words(p.french))) <= max_words]
    n_train = len(pairs) - n_validation - n_test
    if n_train < 1:
        raise ValueError(
            f"{len(pairs)} of {n_pairs} sentences have at most {max_words} words; "
            f"{n_validation} + {n_test} of them are set apart, and none is left to learn from"
        )
    return pairs[:n_train], pairs[n_train : n_train + n_validation], pairs[n_train + n_validation :]


def train_on_grammar(
    folder: str | Path,
    recipe: Recipe | None = None,
    *,
    n_pairs: int = 30_000,
    n_validation: int = 200,
    n_test: int = 500,
    max_words: int = MAX_WORDS,
    device: torch.device | str = "cpu",
    note: Callable[[str], None] | None = None,
    every: int = 100,
    **run: Any,
) -> GrammarReport:
    """Train on sentences of the grammar, and judge the model on others; a killed run goes on where it was.

    The look that is read as an alignment, and the best weights, are chosen on the validation sentences; the test
    sentences are looked at once, at the end, by the weights as they were written.

    Numbers as in grammar_splits. The translator goes into ``folder`` (see train_translator), and the report as
    grammar.json; recipe None is grammar_recipe(); ``note`` gets lines worth reading; the state is written each
    ``every`` steps; ``run`` has what else train_translator takes: devices, sharded, tensor, on_step. ValueError if too
    few sentences are left, or as there.

    Cost: with the default recipe about 70 s on one core with bfloat16 products.
    """
    folder = Path(folder)
    recipe = grammar_recipe() if recipe is None else recipe
    training, validation, test = grammar_splits(
        n_pairs, seed=recipe.seed, n_validation=n_validation, n_test=n_test, max_words=max_words
    )
    begun_s = time.perf_counter()
    train_translator(
        [(pair.english, pair.french) for pair in training],
        [(pair.english, pair.french) for pair in validation],
        folder,
        recipe,
        device=device,
        note=note,
        every=every,
        **run,
    )
    seconds = time.perf_counter() - begun_s
    if note is not None:
        note("Trained. Now unseen sentences are translated, to judge it …")
    translator = load_translator(folder, device=device)
    best = alignment_scores(translator, validation)[0].look
    report = GrammarReport(
        exact_match(translator, test), score_of(translator, test, best), len(training), len(test), round(seconds, 1)
    )
    text = json.dumps(asdict(report), indent=1)
    (folder / "grammar.json").write_text(text + "\n", encoding="utf-8")
    return report
