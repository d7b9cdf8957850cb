"""What makes a sandbox, speaks with it, counts what it uses, and ends it."""
