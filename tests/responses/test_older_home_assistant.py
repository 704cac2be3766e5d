"""What there is on a Home Assistant that does not know such tools yet."""

from collections.abc import Iterator
import logging
import sys

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
import pytest

from .asking import async_tools


@pytest.fixture
def before_2026_10(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Import the tools as on a Home Assistant that has no such results."""
    names = [f"custom_components.bike_tracker.{x}" for x in ("llm", "responses.tools")]
    before = {name: sys.modules.pop(name, None) for name in names}
    monkeypatch.delattr(llm, "ToolResult", raising=False)
    yield
    for name, module in before.items():
        sys.modules.pop(name, None)
        if module is not None:
            sys.modules[name] = module


@pytest.mark.usefixtures("before_2026_10", "exposed")
async def test_older_home_assistant(
    hass: HomeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is offered there, and nothing is said."""
    caplog.clear()
    assert await async_tools(hass) == {}
    assert not [line for line in caplog.records if line.levelno > logging.DEBUG]
