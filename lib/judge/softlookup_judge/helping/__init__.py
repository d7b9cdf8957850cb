"""Help in steps, and what is kept of it beside a notebook."""
