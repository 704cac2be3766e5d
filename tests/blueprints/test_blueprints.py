"""All blueprints in a running Home Assistant."""

import pytest

from .conftest import BLUEPRINTS
from .house import House

NAMES = {path.stem for path in BLUEPRINTS.rglob("*.yaml")}


@pytest.mark.parametrize("name", sorted(NAMES - {"where_is_my_bike"}))
async def test_nothing_chosen(
    house: House, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """An automation without bikes logs it; one that answers says it then."""
    with pytest.raises(AssertionError):
        await house.async_automate(name)
    assert "choose at least one bike" in caplog.text
