"""The faults of the service, and the effects that they should have. tests/faults checks these effects."""
