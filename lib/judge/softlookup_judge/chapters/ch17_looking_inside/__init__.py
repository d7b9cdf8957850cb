"""Chapter 17, looking inside."""
