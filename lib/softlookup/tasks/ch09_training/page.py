"""The page of the book that the tasks of this chapter belong to."""

OWN_LOSSES = (
    "torch.nn.functional.cross_entropy",
    "torch.nn.functional.nll_loss",
    "torch.nn.functional.kl_div",
    "torch.nn.CrossEntropyLoss",
    "torch.nn.NLLLoss",
    "torch.nn.KLDivLoss",
    "torch.nn.functional.linear_cross_entropy",
    "torch.nn.LinearCrossEntropyLoss",
    "softlookup.model",
    "softlookup.training",
)
"""What must not be called where a loss is to be written."""
