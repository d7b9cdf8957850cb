"""Chapter 0, before you start: a self-test of ten short questions."""
