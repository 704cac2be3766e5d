"""Machines: what tests, measurements and the demo run against."""
