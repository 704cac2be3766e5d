"""A home whose bikes have a story: what happens, and what Home Assistant tells of it."""
