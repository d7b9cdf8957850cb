"""Chapter 20, after pre-training."""
