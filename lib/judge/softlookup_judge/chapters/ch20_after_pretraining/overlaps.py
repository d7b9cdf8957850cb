"""The task on contamination: how much of a problem stands in training documents, word for word."""

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described

POOL = "the red cat sat on a mat and ran to her boat before noon while rain fell".split()


def _contamination_cases(rng: Rng) -> list[Case]:
    def ask(label: str, problem: str, documents: list[str], n: int) -> Case:
        return Case(label, (problem, documents, n), frame="plain")

    words = [POOL[i] for i in rng.integers(len(POOL), size=60)]
    problem = words[20:34]
    many = [POOL[i] + POOL[j] for i, j in rng.integers(len(POOL), size=(4000, 2))]
    long = [POOL[i] + POOL[j] for i, j in rng.integers(len(POOL), size=(400, 2))]
    long[100:110], long[390:] = many[3500:3510], many[3990:]
    drawn_documents = [" ".join(part) for part in (words[14:25], words[28:31], words[30:45], words[:9])]
    return [
        ask("runs of two words", "The cat sat on the cat mat", ["a cat sat down", "they sat on the cat sofa"], 2),
        ask("a run that begins in one document and ends in the next", "red cat sat", ["the red", "cat sat on"], 2),
        ask("a run that comes three times", "no no no no way out", ["No no!", "oh no no", "way out west"], 2),
        ask("words that are parts of longer words", "art is in the open", ["a cart is", "smart is in theory"], 2),
        ask("other case, and gaps of several kinds", "How MANY\n\n Cats  ran", ["so how\tmany cats SAT"], 3),
        ask("the whole problem in a document", "a b c d e", ["x a b c d e y", "unrelated words here"], 3),
        ask("spaces at both ends", " so it ends ", ["so it goes", "all is well, it ends "], 2),
        ask("the same letters in other words", "a nice man sat", ["an ice man sat"], 2),
        ask("lower case is not folded case", "die Straße ist lang", ["die strasse ist lang"], 2),
        ask("the same words in another order", "one two three four", ["two one four three", "three two"], 2),
        ask("punctuation belongs to the word", "stop. go on, then", ["stop go on then", "so stop. go on"], 2),
        ask("single words", "the cat and the dog", ["The end", "and so on", "category dogs"], 1),
        ask("a problem of exactly n words", "I saw her duck", ["he said: I saw her duck fly"], 4),
        ask("fewer words than n", "too short", ["too short", "much too short to count"], 3),
        ask("a problem without words", "  ", ["some text"], 2),
        ask("no documents", "the cat sat on the mat", [], 2),
        ask("a document without words, and one shorter than n", "the cat sat", ["", "cat", "the cat sat"], 2),
        ask("a drawn problem, runs of three words", " ".join(problem), drawn_documents, 3),
        ask("a drawn problem, runs of four words", " ".join(problem), drawn_documents[::-1], 4),
        ask("thousands of words", " ".join(long), [" ".join(many[:3600]), " ".join(many[3600:])], 3),
    ]


def _contaminated(problem: str, documents: list[str], n: int) -> float:
    """By search in texts whose words all have one space on either side."""
    words = problem.lower().split()
    padded = [f" {' '.join(document.lower().split())} " for document in documents]
    starts = list(range(len(words)))[: max(len(words) - n + 1, 0)]
    hits = [any(f" {' '.join(words[at : at + n])} " in text for text in padded) for at in starts]
    return hits.count(True) / len(hits) if hits else 0.0


CONTAMINATION = described("20.contamination", cases=_contamination_cases, oracle=_contaminated, frame="plain")
