"""What there is on a Home Assistant that does not know such tools yet."""

import logging
import sys

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
import pytest

from .asking import async_tools


@pytest.mark.usefixtures("exposed")
async def test_older_home_assistant(
    hass: HomeAssistant,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nothing is offered there, and nothing is said."""
    for name in ("ToolAnnotations", "ToolResult"):
        monkeypatch.delattr(llm, name, raising=False)
    sys.modules.pop("custom_components.bike_tracker.llm", None)
    caplog.clear()
    assert await async_tools(hass) == {}
    assert not [line for line in caplog.records if line.levelno > logging.DEBUG]
