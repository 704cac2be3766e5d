"""Tests of where the trackers are."""
