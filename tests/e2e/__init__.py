"""Tests with the newest Home Assistant as a process of its own: scripts/test --e2e."""

from tests.tools.demo.config_folder import ROOT

RESULTS = ROOT / "test-results" / "e2e"
"""Where what a test saw is kept."""
