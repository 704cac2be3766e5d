"""End-to-end tests with the newest Home Assistant in its own process. To run them: scripts/test --e2e."""

from tests.tools.demo.config_folder import ROOT

RESULTS = ROOT / "test-results" / "e2e"
"""Folder for screenshots of pages, and for traces and logs of failed tests."""
