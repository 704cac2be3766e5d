"""Polls, with everything between them that happens in a month."""

from collections import Counter
from collections.abc import Callable
from random import Random

from homeassistant.config_entries import ConfigEntryState

from tests.tools.faults.flapping import flap, strike
from tests.tools.faults.home import Home
from tests.tools.faults.trouble import TROUBLES, Trouble
from tests.tools.simulator import LIVE_FAULTS
from tests.tools.simulator.render import Endpoint

from .options import Options
from .reading import Reading, read

# It ends by itself, in real time; a refused connection is the same to a client.
_ENDS_BY_ITSELF = {"restart"}
_POLL = 61
# Then connections that were kept for another request are closed.
_REST = 20
_READINGS = 10
# After so long the live connection was tried again, whatever it was.
_LIVE_AGAIN = 16 * 60
# So many reports of a tracker the simulator remembers: longer is no trouble.
_REPORTS = 15
# What takes 64 MiB to send, by a simulator in this same process.
_LARGE = "huge-message"


class Soak:
    """Lives in a home for as many polls as asked for."""

    def __init__(
        self,
        home: Home,
        email: str,
        password: str,
        options: Options,
        forget: Callable[[], None],
    ) -> None:
        """Live in this home, with this account; `forget` frees what the tests note."""
        self.counts: Counter[str] = Counter()
        """What happened how often."""
        self._home = home
        self._email = email
        self._password = password
        self._options = options
        self._forget = forget
        self._random = Random(options.seed)  # noqa: S311 - no secret
        self._troubles = [
            trouble for name, trouble in TROUBLES.items() if name not in _ENDS_BY_ITSELF
        ]

    async def run(self) -> list[Reading]:
        """Do it, and return what there was meanwhile."""
        home, polls = self._home, self._options.polls
        await self._warm_up()
        readings = []
        for number in range(1, _READINGS + 1):
            while home.polls * _READINGS < number * polls:
                await self._live()
            readings.append(await self._read())
            self._options.say(str(readings[-1]))
        return readings

    async def _warm_up(self) -> None:
        """Take up as much memory as it ever takes."""
        for trouble in self._troubles:
            if trouble.is_large:
                await self._be_in(trouble)
        await self._be_in_live(_LARGE)

    async def _live(self) -> None:
        """Half an hour as it goes, and one thing that does not go every half an hour."""
        for _ in range(self._random.randint(20, 40)):
            self._ride()
            await self._home.wait(_POLL)
        happens = self._random.choice(
            [self._trouble] * 8
            + [self._trouble_of_positions] * 4
            + [self._trouble_of_history] * 4
            + [self._flap] * 3
            + [self._trouble_of_live] * 5
            + [self._positions_behind]
            + [self._reload, self._come_and_go, self._rename]
        )
        self.counts[happens.__name__.strip("_").replace("_", " ")] += 1
        await happens()
        self._count_requests()

    def _ride(self) -> None:
        simulator = self._home.simulator
        for tracker in simulator.devices:
            if self._random.random() < 0.3:
                simulator.report_many([tracker])
            if self._random.random() < 0.1:
                self.counts["alarms"] += 1
                word = f"alarm {self.counts['alarms']}"
                simulator.report(tracker, attributes={"alarm": word})
            if self._random.random() < 0.05:
                simulator.set_status(
                    tracker, self._random.choice(["online", "offline"])
                )

    async def _trouble(self) -> None:
        await self._be_in(self._random.choice(self._troubles))

    async def _be_in(self, trouble: Trouble) -> None:
        home = self._home
        home.trouble = trouble
        with home.in_trouble():
            await self._endure()
        if home.asks_to_sign_in and self._random.random() < 0.5:
            self.counts["sign-ins"] += 1
            await home.sign_in_again(self._password)
        await home.wait(15 * 60)
        assert not home.asks_to_sign_in
        assert home.state is ConfigEntryState.LOADED, home.trouble.name

    async def _trouble_of_positions(self) -> None:
        await self._be_in_one("positions")

    async def _trouble_of_history(self) -> None:
        # What was reported by then is asked for.
        self._home.simulator.live.drop()
        await self._be_in_one("history")

    async def _be_in_one(self, path: Endpoint) -> None:
        """Let one of the calls alone fail."""
        home = self._home
        home.trouble = self._random.choice(
            [trouble for trouble in self._troubles if trouble.strikes_positions]
        )
        with home.in_trouble(path):
            home.simulator.report_many()
            await self._endure()
        assert home.state is ConfigEntryState.LOADED, home.trouble.name

    async def _trouble_of_live(self) -> None:
        await self._be_in_live(self._random.choice(list(LIVE_FAULTS)))

    async def _be_in_live(self, name: str) -> None:
        """Let the live connection fail for some minutes, or be cut off."""
        home = self._home
        home.simulator.live_fault(name)
        for _ in range(self._random.randint(1, 6)):
            self._ride()
            await home.wait(_POLL)
        home.simulator.live_fault(None)
        if self._random.random() < 0.3:
            home.simulator.live.drop()
        assert home.state is ConfigEntryState.LOADED, name
        assert not home.asks_to_sign_in, name

    async def _flap(self) -> None:
        """Let faults come and go, alternate and overlap."""
        home = self._home
        for _ in range(self._random.randint(2, 10)):
            strike(home.simulator, flap(self._random))
            self._ride()
            await home.wait(self._random.choice([5, 20, _POLL, 200]))
        home.simulator.fault(None)
        await home.wait(15 * 60)
        assert home.state is ConfigEntryState.LOADED

    async def _positions_behind(self) -> None:
        """Let the list announce positions that are not there yet."""
        simulator = self._home.simulator
        simulator.raw_positions(list(simulator.listed("positions", self._email)))
        simulator.report_many()
        await self._endure()
        simulator.raw_positions(None)

    async def _endure(self) -> None:
        for _ in range(self._random.randint(1, 3)):
            await self._home.wait(_POLL)

    async def _reload(self) -> None:
        await self._home.unload()
        await self._home.set_up()

    async def _come_and_go(self) -> None:
        tracker = self._random.choice(list(self._home.simulator.devices))
        self._home.simulator.unassign(self._email, tracker)
        await self._home.wait(_POLL)
        self._home.simulator.assign(self._email, tracker)
        await self._home.wait(_POLL)

    async def _rename(self) -> None:
        tracker = self._random.choice(list(self._home.simulator.devices))
        self._home.simulator.rename(tracker, f"Bike {self._random.randint(1, 99)}")
        await self._home.wait(_POLL)

    def _count_requests(self) -> None:
        record = self._home.simulator.record
        for path, number in record.counts.items():
            self.counts[f"requests for {path}"] += number
        self.counts["requests for history"] += sum(
            "deviceId" in request.query for request in record.requests
        )
        record.clear()
        for reports in self._home.simulator.reports.values():
            while len(reports) > _REPORTS:
                reports.popleft()
        self._forget()

    async def _read(self) -> Reading:
        await self._home.wait(_LIVE_AGAIN)
        await self._home.wait(_POLL)
        await self._home.wait(_REST)
        self._count_requests()
        return read(self._home.hass, self._home.polls)
