"""What grading passes around, shows and writes to the disk: plain data, and nothing that acts."""
