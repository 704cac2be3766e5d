"""Fixtures of tests that only read files."""

import pytest


@pytest.fixture(autouse=True)
def integration() -> None:
    """Start no Home Assistant."""
