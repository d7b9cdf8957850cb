"""What runs beside a student's kernel: the language, and the recording of what it does."""
