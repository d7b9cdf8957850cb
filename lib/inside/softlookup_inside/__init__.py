"""What runs beside a student's code: it knows no right answer, and imports nothing of the project's other parts."""

OURS = ("softlookup.", "softlookup_")  # how the dotted names of this project's modules begin
