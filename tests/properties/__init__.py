"""What may come from a server or a keyboard, and what is to become of it, said a second time."""
