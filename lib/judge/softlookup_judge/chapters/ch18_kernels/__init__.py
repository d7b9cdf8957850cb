"""Chapter 18, kernels."""
