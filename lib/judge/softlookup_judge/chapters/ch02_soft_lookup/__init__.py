"""Chapter 2, from a dictionary to a soft lookup."""
