"""Kills the real integration at random moments, and compares its file with what it knew."""
