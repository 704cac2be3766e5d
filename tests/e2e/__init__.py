"""End-to-end tests: the newest Home Assistant runs as a process of its own (scripts/test --e2e)."""

from tests.tools.demo.config_folder import ROOT

RESULTS = ROOT / "test-results" / "e2e"
"""Folder for pictures, traces and logs of failed tests."""
