"""Chapter 19, many devices."""
