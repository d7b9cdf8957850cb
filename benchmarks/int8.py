"""What int8 weights cost the shipped translator: ``softlookup bench int8 --data FOLDER``.

BLEU of its translations with the weights that a page computes with, beside those with the shipped ones.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import benchmark, plain
from softlookup.live import rounded
from softlookup.model.published.translator import Translator, load_translator
from softlookup.text.corpus import read_pairs
from softlookup.training.bleu import corpus_bleu

_BATCH = 50


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run."""

    splits: tuple[str, ...] = ("val", "test_2016_flickr")
    pairs: int | None = None  # all of them


@dataclass(frozen=True)
class Int8Set:
    """BLEU of one set with either kind of weights, and the fraction of translations that are the same."""

    pairs: int
    float32: float
    int8: float
    same: float


@dataclass(frozen=True)
class Int8Result:
    """Every set by name; ``least`` is the least of int8 - float32, in points of BLEU."""

    ratio: float
    ratio_of: str
    signature: str
    least: float
    sets: dict[str, Int8Set]
    parameters: int


@benchmark("int8", _Plan(), quick=_Plan(splits=("val",), pairs=4))
def bench_int8(plan: _Plan, folder: Path | None, *, say: Callable[[str], None]) -> Int8Result:
    """Translate with both and score both, on the pairs in English and French of a folder.

    ``sets`` holds for each set its number of pairs, both scores, and the fraction of translations that are the same.
    ``ratio`` is int8 / float32 on the last set, ``least`` the least difference of int8 - float32. ValueError if there
    is no folder; FileNotFoundError if a file is missing in it.
    """
    if folder is None:
        raise ValueError("bench int8 needs a folder of pairs: add --data FOLDER")
    shipped = load_translator()
    translators = {"float32": shipped, "int8": rounded(shipped)}
    sets: dict[str, Int8Set] = {}
    signature = ""
    for split in plan.splits:
        pairs = sorted(read_pairs(folder, split).pairs[: plan.pairs], key=lambda pair: len(pair[0]))
        texts = {name: _translated(translator, [pair[0] for pair in pairs]) for name, translator in translators.items()}
        scores = {name: corpus_bleu(translations, [pair[1] for pair in pairs]) for name, translations in texts.items()}
        signature = scores["int8"].signature
        same = sum(first == second for first, second in zip(*texts.values(), strict=True)) / len(pairs)
        bleu = {name: round(score.score, 2) for name, score in scores.items()}
        sets[split] = Int8Set(len(pairs), **bleu, same=round(same, 3))
        say(f"{split}: {plain(sets[split])}")
    last = sets[plan.splits[-1]]
    return Int8Result(
        ratio=last.int8 / last.float32,
        ratio_of=f"BLEU with int8 weights / BLEU with float32 weights, {plan.splits[-1]}, beam of 4",
        signature=signature,
        least=round(min(row.int8 - row.float32 for row in sets.values()), 2),
        sets=sets,
        parameters=sum(weight.numel() for weight in shipped.model.parameters()),
    )


def _translated(translator: Translator, sentences: Sequence[str]) -> list[str]:
    batches = (sentences[start : start + _BATCH] for start in range(0, len(sentences), _BATCH))
    return [translation.text for batch in batches for translation in translator.translate_all(batch)]
