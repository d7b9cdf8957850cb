"""Learning platforms: their archives come in, the grade files that they take go out."""
