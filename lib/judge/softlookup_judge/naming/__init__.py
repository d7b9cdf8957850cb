"""From a wrong answer to the name of its mistake, and the words and the picture of a verdict."""
