"""A request to grade a class, and the listener that follows its progress."""

from dataclasses import dataclass

from softlookup_grader.data.work import Graded, Limits


@dataclass(frozen=True)
class GradeRequest:
    """What is asked for."""

    assignment: str  # its name, "04_one_head"
    students: tuple[str, ...] = ()  # only these, graded even if nothing has changed; empty: everybody who needs it
    again: bool = False  # grade everybody anew, in a run of its own
    # draws the inputs of all questions; None keeps the assignment's, or draws one that cannot be guessed from questions
    seed: int | None = None
    sandbox: str = "bubblewrap"  # "bubblewrap", or "none" for code that one trusts
    workers: int | None = None  # how many submissions at a time; None takes the number of processors
    feedback: bool = True  # whether to make feedback pages
    arriving: frozenset[str] = frozenset()  # students whose files are still being written: they are left for later
    limits: Limits | None = None  # what each notebook of a submission may use; None takes what is usual


class Watcher:
    """Listens to the progress of grading; does nothing by default."""

    def begin(self, what: str, total: int, done: int = 0) -> None:
        """A part of the work begins: what is done, a word or two, how many there are, and how many were done before."""

    def step(self, name: str, graded: Graded | None = None) -> None:
        """One of them is done."""

    def say(self, sentence: str) -> None:
        """Something that the instructor should know."""
