"""Tests of trackers that come, go, are renamed and shared."""
