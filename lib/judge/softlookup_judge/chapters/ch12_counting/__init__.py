"""Chapter 12, counting a transformer."""
