"""A request to grade a class, and the listener that follows its progress."""

from dataclasses import dataclass, field

from softlookup_grader.data.work import Graded, Limits


@dataclass(frozen=True)
class GradeRequest:
    """What is asked for.

    Attributes:
        assignment: Name of the assignment, "04_one_head".
        students: Only these, graded even if nothing has changed; empty means everybody who needs it.
        again: Grade everybody anew, in a run of its own.
        seed: Draws the inputs of all questions; None keeps the assignment's seed, or draws one that is kept. A small
            number can be guessed from the questions: it serves to repeat a run.
        sandbox: "bubblewrap", or "none" for code that one trusts.
        workers: How many submissions at a time; None takes the number of processors.
        feedback: Whether to make feedback pages.
        limits: What one submission may use.
    """

    assignment: str
    students: tuple[str, ...] = ()
    again: bool = False
    seed: int | None = None
    sandbox: str = "bubblewrap"
    workers: int | None = None
    feedback: bool = True
    limits: Limits = field(default_factory=Limits)


class Watcher:
    """Listens to the progress of grading; does nothing by default."""

    def begin(self, what: str, total: int, done: int = 0) -> None:
        """A part of the work begins: what is done, a word or two, how many there are, and how many were done before."""

    def step(self, name: str, graded: Graded | None = None) -> None:
        """One of them is done."""

    def say(self, sentence: str) -> None:
        """Something that the instructor should know."""
