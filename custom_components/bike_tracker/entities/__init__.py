"""Which entities there are, and adding them."""
