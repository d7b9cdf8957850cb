"""What runs beside a student's code: it asks, calls, measures and bars, and knows no right answer."""
