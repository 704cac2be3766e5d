"""The faults of the service with their outcomes, which tests/faults compares with the real ones."""
