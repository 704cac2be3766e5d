"""Simulated rides, the reports of their trackers, and the rides that the integration detects."""
