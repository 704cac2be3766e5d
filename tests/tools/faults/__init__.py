"""Every way the service can fail, and what is decided for it, which tests/faults holds against what happens."""
