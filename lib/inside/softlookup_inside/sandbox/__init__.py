"""What runs in the sandbox beside a submission."""
