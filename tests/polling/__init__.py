"""Tests of polls: the device list, positions and the history."""
