"""The pages that students get back."""
