"""Trackers of an account in plain Python: no clock, no network, no Home Assistant."""
