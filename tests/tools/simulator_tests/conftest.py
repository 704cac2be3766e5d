"""A simulator with one account and two trackers, and how to ask it."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import ClientSession
import orjson
import pytest
from yarl import URL

from tests.tools.simulator import Simulator, authorization

EMAIL = "rider@example.com"
PASSWORD = "demo"


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Read the body."""
        return orjson.loads(self.body)


@dataclass(frozen=True)
class Ask:
    """Asks the simulator, by default for the devices and with the right headers."""

    simulator: Simulator
    session: ClientSession

    async def __call__(
        self,
        path: str = "devices",
        *,
        method: str = "GET",
        authorization: str | None = authorization(EMAIL, PASSWORD),
    ) -> Answer:
        """Send one request and read all of the answer; follow nothing."""
        headers = {"accept": "application/json", "Authorization": authorization}
        async with self.session.request(
            method,
            URL(f"{self.simulator.url}/{path}", encoded=True),
            headers={key: value for key, value in headers.items() if value is not None},
            skip_auto_headers=["accept"],
            allow_redirects=False,
        ) as response:
            return Answer(response.status, response.headers, await response.read())


@pytest.fixture(autouse=True)
def integration(socket_enabled: None) -> None:
    """Do without Home Assistant, which the other tests start each time."""


@pytest.fixture
async def session() -> AsyncGenerator[ClientSession]:
    """A client session."""
    async with ClientSession() as session:
        yield session


@pytest.fixture
async def simulator() -> AsyncGenerator[Simulator]:
    """A running simulator: an account with two trackers."""
    async with Simulator() as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        simulator.add_device("860000000000001", name="City bike", email=EMAIL)
        simulator.add_device("860000000000002", name="Cargo bike", email=EMAIL)
        yield simulator


@pytest.fixture
def ask(simulator: Simulator, session: ClientSession) -> Ask:
    """Ask that simulator."""
    return Ask(simulator, session)
