"""Chapter 13, beyond text."""
