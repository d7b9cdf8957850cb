"""Chapter 8, the decoder and masks."""
