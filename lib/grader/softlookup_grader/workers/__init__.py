"""The processes and machines that judge submissions side by side."""
