"""Chapter 3, tokens and embeddings."""
