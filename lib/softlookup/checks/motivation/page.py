"""Where chapter 1 stands in the book."""

PAGE = "01_motivation"
