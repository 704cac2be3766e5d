"""Fixtures of the night guard's tests."""

from collections.abc import Iterator

import pytest

from tests.blueprints.conftest import clock, hass_config_dir, home, house

__all__ = ["clock", "hass_config_dir", "home", "house", "no_errors"]


@pytest.fixture(autouse=True)
def no_errors(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail where an error was logged: it costs one bike, and a test might not notice."""
    yield
    # After the test, `caplog.text` has only the log of the fixtures.
    logged = [record.getMessage() for record in caplog.get_records("call")]
    assert not [text for text in logged if "Unexpected error" in text]
