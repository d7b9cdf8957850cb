"""Chapter 7, the encoder."""
