"""Fixtures of the night guard's tests."""

from collections.abc import AsyncIterator, Iterator

import pytest
from pytest_homeassistant_custom_component.common import MockUser

from tests.blueprints.conftest import clock, home
from tests.blueprints.house import BIKES
from tests.conftest import Bikes

from .night import Night

__all__ = ["clock", "home", "no_errors"]


@pytest.fixture(autouse=True)
def no_errors(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail if an unexpected error was logged. Such an error affects only one bike, so other checks might miss it."""
    yield
    # Here, `caplog.text` lacks the log of the test itself, so read its records.
    logged = [record.getMessage() for record in caplog.get_records("call")]
    assert not [text for text in logged if "Unexpected error" in text]


@pytest.fixture
async def night(
    home: None, ready: Bikes, phones: list[str], hass_admin_user: MockUser
) -> AsyncIterator[Night]:
    """Return a house just after noon. Two bikes stand at home, and no night guard is set up."""
    night = Night(ready, phones[1], user_id=hass_admin_user.id)
    for bike in BIKES:
        night.report(bike)
    await night.async_minutes(1)
    yield night
    await night.async_save()
