"""Chapter 15, what changed since the lectures."""
