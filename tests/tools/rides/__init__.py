"""Simulated rides, the reports of the trackers, and the rides that the integration detects in them."""
