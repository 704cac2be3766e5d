"""Tests through the user interface alone, in a real browser."""
