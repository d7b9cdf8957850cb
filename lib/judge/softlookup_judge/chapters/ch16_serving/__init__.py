"""Chapter 16, serving."""
