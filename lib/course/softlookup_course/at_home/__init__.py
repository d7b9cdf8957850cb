"""What a student's commands do at home, as grading does it: check, hint, quiz."""
