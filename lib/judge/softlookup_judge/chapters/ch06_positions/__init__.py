"""Chapter 6, positions."""
