"""Tests of polls: the list, positions and the history."""
