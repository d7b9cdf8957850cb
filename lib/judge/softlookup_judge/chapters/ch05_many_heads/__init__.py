"""Chapter 5, many heads."""
