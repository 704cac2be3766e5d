"""Faults of the service: each has the effects that docs/faults.md lists, and none leaks a secret."""
