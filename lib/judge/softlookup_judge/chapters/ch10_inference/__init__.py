"""Chapter 10, inference."""
