"""Chapter 15: right answers written otherwise: loops, einsum, numpy."""

# Experts and heads

# Positions, drafts and small caches

# Memory, blocks and an optimizer

# Read a config.json

RIGHT = {
    # Experts and heads
    # Positions, drafts and small caches
    # Memory, blocks and an optimizer
    # Read a config.json
}
