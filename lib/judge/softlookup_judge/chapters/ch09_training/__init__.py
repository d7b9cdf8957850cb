"""Chapter 9, training."""
