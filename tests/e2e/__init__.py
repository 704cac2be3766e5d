"""Tests with the newest Home Assistant as a process of its own: scripts/test --e2e."""
