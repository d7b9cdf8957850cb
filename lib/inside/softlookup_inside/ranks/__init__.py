"""What a rank calls, and what is taken down of it."""
