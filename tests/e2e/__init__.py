"""End-to-end tests: the newest Home Assistant runs in its own process (scripts/test --e2e)."""

from tests.tools.demo.config_folder import ROOT

RESULTS = ROOT / "test-results" / "e2e"
"""Folder for screenshots, traces and logs of failed tests."""
