"""Chapter 1, why transformers."""
