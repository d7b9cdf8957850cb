"""Classes that are made up: right, mistaken, broken and hostile students."""
