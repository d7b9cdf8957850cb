"""How close translations come to a person's: BLEU as sacrebleu counts it, with the signature that says how."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Bleu:
    """A score that can be compared with others of the same signature.

    Attributes:
        score: From 0 to 100; higher is closer to the references.
        signature: How it was counted: case, tokenizer, smoothing, sacrebleu's version.
    """

    score: float
    signature: str


def corpus_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> Bleu:
    """Score translations against one reference each: cased, on whole sentences as a reader sees them, tokenizer 13a.

    Hypotheses are detokenized, references a person's translations, untouched. ValueError if there are no sentences, or
    not one reference for each translation; TypeError if one string is passed for several; ImportError if sacrebleu is
    not installed.

    Source: Papineni et al. 2002; Post 2018 (why the signature).
    """
    for name, texts in (("hypotheses", hypotheses), ("references", references)):
        if isinstance(texts, str):
            raise TypeError(f"{name} is one string; wanted a list of sentences")
    if len(hypotheses) != len(references) or not hypotheses:
        raise ValueError(
            f"{len(hypotheses)} hypotheses, {len(references)} references; wanted one reference for each, at least one"
        )
    try:
        from sacrebleu.metrics import BLEU
    except ImportError as error:
        raise ImportError("BLEU needs the package sacrebleu: install it with `pip install sacrebleu`") from error
    metric = BLEU(tokenize="13a", lowercase=False)
    score = metric.corpus_score(list(hypotheses), [list(references)]).score
    return Bleu(score, str(metric.get_signature()))
