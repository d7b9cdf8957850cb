"""Chapter 15, what changed since the lectures: its tasks in the order of the notebook."""

TASKS = (
    # Experts and heads
    # Positions, drafts and small caches
    # Memory, blocks and an optimizer
    # Read a config.json
)
