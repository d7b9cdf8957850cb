"""The refreshers that the self-test points to: the page, its sections, and mistakes that name theirs."""

from softlookup.checks.task import Mistake

PAGE = "00_before_you_start"

SECTIONS = {
    "before-products": "Which shapes fit?",
    "before-axes": "Along which axis?",
    "before-broadcasting": "What if shapes differ?",
    "before-softmax": "How do numbers become shares?",
    "before-logs": "How surprised is a model?",
    "before-derivatives": "How far does a nudge travel?",
    "before-gradients": "What if there are many slopes?",
    "before-tensors": "Same numbers, another shape?",
    "before-autograd": "Who keeps the record?",
}
"""Label of a refresher -> its heading, as it stands on the page."""


def slip(
    section: str,
    slug: str,
    *edits: tuple[str, str],
    says: str,
    number: int | None = None,
    symptom: str | None = None,
) -> Mistake:
    """A known mistake of the self-test, whose words end with the refresher to read.

    Args:
        section: Label of the refresher, without "before-".
        slug: Its name.
        edits: What turns the published solution into it.
        says: What the answer does instead.
        number: Its number in the list of misconceptions, if it is in the list.
        symptom: The kind of failure that it shows as, if it gives no tensor.
    """
    anchor = f"before-{section}"
    return Mistake(slug, f"{says} Refresher: “{SECTIONS[anchor]}”.", number, edits, symptom, anchor)
