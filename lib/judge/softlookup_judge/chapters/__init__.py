"""The graded tasks, one package for each chapter: how questions are drawn, and the right answers."""
