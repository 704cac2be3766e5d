"""Faults of the service, and their effects, without a leaked secret."""
