"""What is asked, and what is right: questions, oracles, records of kernels and of parallel programs."""
