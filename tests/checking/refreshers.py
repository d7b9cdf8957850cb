"""The refreshers that the self-test points to: the page, its sections, and mistakes that name theirs."""

SECTIONS = {
    "before-products": "Which matrix shapes can be multiplied?",
    "before-axes": "What does a sum along an axis do?",
    "before-broadcasting": "How does broadcasting work?",
    "before-softmax": "What is a softmax?",
    "before-logs": "What is cross-entropy?",
    "before-derivatives": "How does the chain rule work?",
    "before-gradients": "What is the gradient of a matrix product?",
    "before-tensors": "What do reshape and transpose do?",
    "before-autograd": "How does autograd work?",
}
"""Label of a refresher -> its heading, as it stands on the page."""
