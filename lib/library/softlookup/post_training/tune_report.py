"""What came of tuning a model, as numbers for a file and as lines for a reader."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TuneReport:
    """The result of a tuning run.

    Attributes:
        n_examples: Examples learned from.
        n_held_out: Examples that the loss is measured on.
        loss_before: The loss of the frozen model on the held-out examples, in nats for each token of the assistant.
        loss_after: The same after the last step.
        samples: For some held-out examples the question, as the model reads it, and the answers before and after.
        steps: Optimizer steps.
        tokens: The assistant's tokens learned from.
        seconds: The time of the steps of this call.
        trained_parameters: Parameters of the adapters.
        trained_fraction: Their fraction of all parameters.
        losses: The training loss of each step.
    """

    n_examples: int
    n_held_out: int
    loss_before: float
    loss_after: float
    samples: tuple[dict[str, str], ...]
    steps: int
    tokens: int
    seconds: float
    trained_parameters: int
    trained_fraction: float
    losses: tuple[float, ...]

    def __str__(self) -> str:
        """Give the report in lines."""
        lines = [
            f"loss on {self.n_held_out} held-out examples: {self.loss_before:.3f} before, {self.loss_after:.3f} after",
            f"{self.steps} steps on {self.n_examples} examples, {self.tokens:,} tokens of the assistant, "
            f"{self.seconds:.1f} s",
            f"{self.trained_parameters:,} trained parameters, {self.trained_fraction:.2%} of all",
        ]
        for index, sample in enumerate(self.samples, start=1):
            lines += [f"held-out example {index}", f"  before: {sample['before']}", f"  after:  {sample['after']}"]
        return "\n".join(lines)
