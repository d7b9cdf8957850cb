"""Published models run by the code of this course, the two shipped models among them."""
