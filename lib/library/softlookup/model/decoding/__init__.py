"""Writing with a model: one step at a time, caches, drawing, beam search, speculation."""
