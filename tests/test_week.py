"""The test counts the lines in Activity and the rows in Home Assistant's database that rides of bikes cause.

By default, five bikes ride for a morning. With BIKES=5 in the environment, they ride for
a week, and docs/week.md is written. With BIKES=20, twenty bikes ride for a week, and
only the written bytes are printed.
"""

from datetime import timedelta
import logging
import os

from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.logbook import DOMAIN as LOGBOOK
from homeassistant.components.logbook.models import LogbookConfig
from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.typing import RecorderInstanceContextManager

from .books import row, store
from .conftest import EMAIL, PASSWORD, MakeEntry
from .tools.rides.trips import BEGIN, Journey, a_journey
from .tools.simulator.server import Simulator
from .tools.tables import DOCS, fill
from .tools.week import Week

_BIKES = int(os.environ.get("BIKES", "0"))
_DAYS = 7 if _BIKES else 3 / 24
_BOOKED = 50_000 if _BIKES else 0
"""Number of rides that the account's database contains from the start."""


@pytest.fixture
def mock_recorder_before_hass(
    async_test_recorder: RecorderInstanceContextManager,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Use a recorder that does not log each row."""
    caplog.set_level(logging.WARNING)
    caplog.set_level(logging.WARNING, "sqlalchemy.engine")


@pytest.fixture
def recorder_config() -> dict[str, int]:
    """Let the recorder write to its database every five seconds, which is Home Assistant's default."""
    return {"commit_interval": 5}


@pytest.mark.usefixtures("recorder_mock", "with_live")
async def test_week(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory, make_entry: MakeEntry
) -> None:
    """A bike causes at most 15 lines in Activity in an average hour with a ride, and 3.2 database rows per report.

    If one value that changes in steps changed with each report, it would cause more.
    """
    hass.data[LOGBOOK] = LogbookConfig({})
    begin = BEGIN + timedelta(hours=0 if _BIKES else 9)
    end = begin + timedelta(days=_DAYS)
    freezer.move_to(begin)
    # Keep only trips that start during the test, so that all bikes first stand at home.
    journeys = {
        f"86000000000010{number}": Journey(
            [it for it in a_journey(number, 8).trips if begin < it.starts_at < end]
        )
        for number in range(1, (_BIKES or 5) + 1)
    }
    async with Simulator() as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        for number, bike in enumerate(journeys, 1):
            simulator.add_device(bike, name=f"Bike {number}", email=EMAIL)
        entry = make_entry(url=simulator.url)
        bikes = list(journeys)
        rides = [
            row(timedelta(hours=1 + n // len(bikes)), bikes[n % len(bikes)])
            for n in range(_BOOKED)
        ]
        store(hass, entry, rides)
        week = Week(hass, freezer, simulator, journeys, end)
        await week.run(entry)
    tables = week.tables()
    print(f"{week.written:,} bytes")  # noqa: T201
    if _BIKES == 5:
        fill(DOCS / "week.md", tables)
    assert week.lines_an_hour <= 15
    assert week.rows.total() <= 3.2 * len(week.reports)
    # The limit of written bytes in a week. It is lower than the goals: 10 MB for five
    # bikes and 35 MB for 20 bikes.
    most = {5: 5_000_000, 20: 25_000_000}[len(bikes)]
    assert week.written <= most * _DAYS / 7
