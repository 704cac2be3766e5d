"""The faults of the service with their outcomes. tests/faults compares both with reality."""
