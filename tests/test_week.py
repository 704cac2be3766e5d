"""What is left of bikes that are ridden, in Activity and in the database."""

from datetime import timedelta
import logging

from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.logbook import DOMAIN as LOGBOOK
from homeassistant.components.logbook.models import LogbookConfig
from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.typing import RecorderInstanceContextManager

from .books import row, store
from .conftest import EMAIL, PASSWORD, MakeEntry
from .tools.simulator.server import Simulator
from .tools.week.options import Options
from .tools.week.week import MIDNIGHT, Week


@pytest.fixture
def options(pytestconfig: pytest.Config) -> Options:
    """Return how long, as `python -m tests.tools.week` says; a morning otherwise."""
    plugins = pytestconfig.pluginmanager.get_plugins()
    fired = (plugin for plugin in plugins if isinstance(plugin, Options))
    return next(fired, Options())


@pytest.fixture
def mock_recorder_before_hass(
    async_test_recorder: RecorderInstanceContextManager,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Have a recorder that does not tell of each row."""
    caplog.set_level(logging.WARNING)
    caplog.set_level(logging.WARNING, "sqlalchemy.engine")


@pytest.fixture
def recorder_config() -> dict[str, int]:
    """Write to the database as often as Home Assistant does."""
    return {"commit_interval": 5}


@pytest.mark.usefixtures("recorder_mock", "with_live")
async def test_week(
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    make_entry: MakeEntry,
    options: Options,
) -> None:
    """A few lines an hour and bike that is ridden, and two thirds of the rows of every new value."""
    hass.data[LOGBOOK] = LogbookConfig({})
    begin = MIDNIGHT + options.begin
    freezer.move_to(begin)
    async with Simulator() as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        week = Week(simulator, begin, begin + options.length, options.bikes)
        week.add_bikes(EMAIL)
        entry, bikes = make_entry(url=simulator.url), list(week.journeys)
        store(
            hass,
            entry,
            [
                row(
                    timedelta(hours=1 + number // len(bikes)),
                    bikes[number % len(bikes)],
                )
                for number in range(options.booked)
            ],
        )
        found = await week.run(hass, freezer, entry)
    options.take(found)
    assert found.lines_an_hour <= 15
    assert found.share <= 2 / 3
    # The goals are 10 MB a week of five bikes, and 35 of 20; a morning has its share.
    most = {5: 5_000_000, 20: 25_000_000}[options.bikes]
    assert found.written.total() <= most * found.days / 7
