"""What comes of a graded class: feedback pages, tables, gradebooks' files, and what is alike."""
