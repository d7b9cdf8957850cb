"""What transformers are made of: attention, positions, masks, norms, feed-forward networks, layers."""
