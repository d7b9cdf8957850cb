"""The refreshers that the self-test points to: the page, its sections, and mistakes that name theirs."""

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
