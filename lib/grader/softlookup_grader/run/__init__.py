"""A run over a class: what is graded, in which order, and what is kept of it."""
