"""Questions on a student's own code, with answers that running it has proved."""
