"""The documented part: credentials, the list, and nothing else."""

from base64 import b64encode
import re

import pytest

from tests.tools.simulator import Simulator

from .conftest import EMAIL, Ask


async def test_lists_the_documented_fields(ask: Ask) -> None:
    """Each of the eight fields has the documented type and shape."""
    devices = (await ask()).json()
    assert {device["uniqueId"] for device in devices} == {
        "860000000000001",
        "860000000000002",
    }
    for device in devices:
        assert isinstance(device["id"], int)
        assert isinstance(device["name"], str)
        assert device["status"] in {"online", "offline"}
        assert re.fullmatch(
            r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000", device["lastUpdate"]
        )
        assert isinstance(device["positionId"], int)
        assert isinstance(device["groupId"], int)
        assert device["disabled"] is False


def _encoded(text: str, encoding: str = "utf-8") -> str:
    return b64encode(text.encode(encoding)).decode()


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "Basic",
        f"Basic  {_encoded(f'{EMAIL}:pät')}",
        f"basic {_encoded(f'{EMAIL}:pät')}",
        f"BASIC {_encoded(f'{EMAIL}:pät')}",
        f"Basic {_encoded(f'{EMAIL}:pät')}=",
        f"Basic {_encoded(f'{EMAIL}:pät').rstrip('=')}",
        f"Basic {_encoded(f'{EMAIL}:pät ')}",
        f"Basic {_encoded(f'{EMAIL}:pät\n')}",
        f"Basic {_encoded(f' {EMAIL}:pät')}",
        f"Basic {_encoded(f'{EMAIL.upper()}:pät')}",
        f"Basic {_encoded(f'{EMAIL}:PÄT')}",
        f"Basic {_encoded(f'{EMAIL}:pät', 'latin-1')}",
        f"Basic {_encoded(f'{EMAIL}:')}",
        f"Basic {EMAIL}:pät",
        f"Bearer {_encoded(f'{EMAIL}:pät')}",
    ],
)
async def test_refuses_anything_else(
    simulator: Simulator, ask: Ask, value: str | None
) -> None:
    """A header that differs in one character is a 401, and a missing one too."""
    simulator.set_password(EMAIL, "pät")
    answer = await ask(authorization=value)
    assert answer.status == 401
    assert simulator.requests[-1].account is None


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "devices/", 404),
        ("GET", "devices?all=true", 404),
        ("GET", "Devices", 404),
        ("GET", "server", 404),
        ("GET", "", 404),
        ("GET", "../devices", 404),
        ("POST", "devices", 405),
        ("HEAD", "devices", 405),
        ("DELETE", "devices", 405),
    ],
)
async def test_serves_nothing_else(
    ask: Ask, method: str, path: str, status: int
) -> None:
    """Other paths, methods and parameters do not exist."""
    assert (await ask(path, method=method)).status == status
