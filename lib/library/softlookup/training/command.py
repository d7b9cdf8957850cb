"""What `softlookup train` does: two text files in, a translator out, and the same command goes on after a kill."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from softlookup.model.published.translator import load_translator
from softlookup.text.corpus import read_pairs
from softlookup.training import command_frame
from softlookup.training.bleu import corpus_bleu
from softlookup.training.command_frame import TrainingRefused, check_device, refusing, shown_run
from softlookup.training.grammar_run import grammar_recipe, train_on_grammar
from softlookup.training.loop import Progress
from softlookup.training.progress import ProgressDisplay
from softlookup.training.recipe import Recipe
from softlookup.training.translation import SentencePair, check_devices, train_translator

__all__ = ["TrainingRefused", "train_command"]

_HELD_OUT = 1000  # pairs at most, where there are no validation files; and a twentieth of all at most


def train_command(
    folder: str | Path | None = None,
    *,
    source: str = "en",
    target: str = "fr",
    recipe: str | Path | None = None,
    begin: str | Path | None = None,
    out: str | Path | None = None,
    device: str = "cpu",
    devices: int = 1,
    shard: bool = False,
    tensor: int = 1,
    minutes: float | int | None = None,
    console: Console | None = None,
) -> int:
    """Train a translator and say how good it is; given once more, go on where the run was stopped.

    Args:
        folder: Where train.SOURCE and train.TARGET are, one sentence to a line, or the same ending in .gz; and
            val.SOURCE and val.TARGET. Where there are none, some of the pairs are held out. None takes sentences of
            the generated grammar, English to French. Test files are never looked at.
        source: The ending of the source's files.
        target: The ending of the target's files.
        recipe: A JSON file with fields of Recipe; None means the default one, or the grammar's.
        begin: The folder of another translator to go on from; None begins anew.
        out: Where the translator goes; None means translator-SOURCE-TARGET, or translator-grammar, here.
        device: Where to train.
        devices: On how many processes: a share of every batch each, on this machine's CPUs or a GPU each.
        shard: Whether they cut weights and optimizer states among them.
        tensor: How many of them divide the heads and hidden units of each layer.
        minutes: After how long to stop at the next state that is kept; None goes on to the end.
        console: Where to write; None means the terminal.

    Returns:
        The exit status: 0 at the end or when the minutes are over, 1 where one of several processes was killed, 130
        after Ctrl-C.

    Raises:
        TrainingRefused: If options do not go together, a file is missing or damaged, a recipe is wrong, there is no
            such device, the folder holds another run, or the loss is no longer a number.
    """
    with refusing():
        check_device(device, minutes, devices)
        if folder is None and begin is not None:
            raise ValueError(
                f"--begin {begin} needs a folder of pairs: training on the generated grammar starts from scratch"
            )
        if folder is None and (source, target) != ("en", "fr"):
            raise ValueError(f"the generated grammar is English to French, not {source} to {target}: give a folder")
        out = Path(out or ("translator-grammar" if folder is None else f"translator-{source}-{target}"))
        if recipe is not None:
            chosen = Recipe.read(recipe)
        else:
            chosen = grammar_recipe() if folder is None else Recipe()
        check_devices(devices, shard, chosen, tensor)
        corpus = None if folder is None else _read(Path(folder), source, target, chosen.seed)

        where = {"device": device, "devices": devices, "sharded": shard, "tensor": tensor}

        def run_training(display: ProgressDisplay, on_step: Callable[[Progress], None]) -> None:
            _run(corpus, out, chosen, begin, where, display, on_step)

        return shown_run(run_training, out, chosen.steps, minutes, console)


class _Corpus:
    """Pairs to train on, pairs to choose by, and what is worth saying of them."""

    def __init__(self, pairs: list[SentencePair], validation: list[SentencePair], notes: list[str]) -> None:
        self.pairs, self.validation, self.notes = pairs, validation, notes


def _run(
    corpus: _Corpus | None,
    out: Path,
    recipe: Recipe,
    begin: str | Path | None,
    where: dict[str, Any],
    display: ProgressDisplay,
    on_step: Callable[[Progress], None],
) -> None:
    every = command_frame.EVERY
    if corpus is None:
        display.note(f"sentences of the generated grammar, English to French, into {out}")
        report = train_on_grammar(out, recipe, **where, on_step=on_step, note=display.note, every=command_frame.EVERY)
        display.note(str(report))
    else:
        for line in corpus.notes:
            display.note(line)
        display.note(f"{len(corpus.pairs):,} pairs to learn from, {len(corpus.validation):,} to choose by, into {out}")
        train_translator(
            corpus.pairs,
            corpus.validation,
            out,
            recipe,
            begin=begin,
            **where,
            on_step=on_step,
            note=display.note,
            every=every,
        )
        display.note(_validation_bleu(out, corpus.validation, where["device"], display.note))
    display.note(f'done: load_translator("{out}").translate("...") uses it')


def _read(folder: Path, source: str, target: str, seed: int) -> _Corpus:
    languages = (source, target)
    if source == target:
        raise ValueError(f"source and target are both {source!r}: give two different suffixes")
    read = read_pairs(folder, "train", languages)
    notes = []
    if read.n_skipped:
        notes.append(f"{read.n_skipped:,} lines of train are empty on a side and are left out")
    # One validation file without the other is a slip, which read_pairs names.
    if any((folder / f"val.{language}{ending}").exists() for language in languages for ending in ("", ".gz")):
        return _Corpus(read.pairs, read_pairs(folder, "val", languages).pairs, notes)
    pairs, held_out = _hold_out(read.pairs, seed)
    notes.append(f"no val.{source} and val.{target}: {len(held_out):,} pairs are held out to choose by (seed {seed})")
    return _Corpus(pairs, held_out, notes)


def _hold_out(pairs: Sequence[SentencePair], seed: int) -> tuple[list[SentencePair], list[SentencePair]]:
    """Set pairs apart by chance; copies of them are not learned from either."""
    size = max(1, min(_HELD_OUT, len(pairs) // 20))
    order = np.random.default_rng(seed).permutation(len(pairs))
    held_out = [pairs[row] for row in sorted(order[:size])]
    apart = set(held_out)
    remaining = [pair for pair in pairs if pair not in apart]
    if not remaining:
        raise ValueError(f"there are too few pairs ({len(pairs)}): none is left to train on beside those held out")
    return remaining, held_out


def _validation_bleu(out: Path, pairs: Sequence[SentencePair], device: str, say: Callable[[str], None]) -> str:
    translator = load_translator(out, device=device)
    longest = translator.model.config.max_length
    pairs = [pair for pair in pairs if len(translator.tokenizer.encode(pair[0], end=True)) <= longest]
    say(f"translating {len(pairs):,} validation sentences with a beam of 4")
    # Sentences of like length together: a batch takes as many steps as its longest needs.
    pairs = sorted(pairs, key=lambda pair: len(pair[0]))
    translations: list[str] = []
    for start in range(0, len(pairs), 50):
        translations += [
            translation.text
            for translation in translator.translate_all([pair[0] for pair in pairs[start : start + 50]])
        ]
    try:
        bleu = corpus_bleu(translations, [pair[1] for pair in pairs])
    except ImportError as error:
        return str(error)
    return f"validation BLEU {bleu.score:.1f} ({bleu.signature}); test files were not looked at"
