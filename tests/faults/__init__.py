"""Faults of the service: each has the documented effects, and none leaks a secret."""
