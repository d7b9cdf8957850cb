"""Chapter 4, one head of self-attention."""
