"""Tests of the service's faults: each has the effects that docs/faults.md lists, and none leaks a secret."""
