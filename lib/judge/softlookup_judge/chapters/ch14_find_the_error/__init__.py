"""Chapter 14, errors on slides."""
