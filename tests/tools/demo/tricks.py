"""What there is to try with a fleet, and what to watch then: for people who look at the demo."""

from collections.abc import Callable, Mapping
from itertools import count
from typing import NamedTuple

from tests.tools.simulator import Simulator
from tests.tools.simulator.streets import HOME

from .fleet import Fleet

OTHER_PASSWORD = "another"
NEW_NAME = "Blue bike"

type Act = Callable[[str], object]
"""What is done with the tracker of this `uniqueId`."""


_TRICKS = [
    line.split(" | ")
    for line in """
leaves_home | home-export-outline | 0 | {bike} leaves home | Wherever it was, it is at home for a moment. Then it leaves Home.
rides | bike-fast | 1 | {bike} rides | Moving and Speed change within seconds, and Last ride counts its kilometers.
arrives | flag-checkered | 1 | {bike} arrives | Moving says so at once. Its ride ends with the first position after five minutes: Rides and Last ride have it.
battery | battery-10 | 2 | {bike} has 15 % left | Battery shows it within seconds.
offline | cloud-off-outline | 3 | {bike} goes offline | Connectivity says Offline within a minute.
online | cloud-check-outline | 3 | {bike} is back online | Connectivity says Online within a minute.
silent | sleep | 1 | {bike} is silent for a day | Last update says so within a minute, and the blueprint for trackers that are offline or silent tells you a minute later. It reports again once it rides.
sos | alert-octagon-outline | 4 | Somebody on {bike} needs help | Last alarm says SOS within seconds. It is there from the first alarm on.
alarm | alarm-light-outline | 4 | {bike} is towed | Last alarm says Towed within seconds. It is there from the first alarm on.
parked | bicycle | 2 | {bike} is parked | It stays where it is. Tap the lock of its Guard now, and see what happens next.
cat | cat | 2 | A cat touches {bike} | If it is guarded, its Guard is triggered within seconds: its tracker notices that something shakes it, and not who.
stolen | bike-fast | 2 | Somebody steals {bike} | If it is guarded, its Guard is triggered with the first report, within half a minute.
carried_off | human-dolly | 2 | Somebody carries {bike} away | Its tracker does not say that it moves. If it is guarded, its Guard is triggered with the second report from there, within half a minute.
server_down | server-network-off | 0 | The server is down | All but Guard and Rides are unavailable within a minute. After 30 minutes, Repairs says so too.
server_up | server-network | 0 | The server works again | All is back within 5 minutes, the sooner the shorter the server was down.
password | lock-reset | 0 | The password changes | Within two minutes Home Assistant asks you to sign in again, under Settings. The new password is: another
password_back | lock-check-outline | 0 | The password is as before | The request to sign in goes away by itself, within 5 minutes.
rides_unseen | cloud-question-outline | 1 | {bike} rides in an outage | For a minute the server does not answer. Then Rides has one that began and ended before.
renamed | rename-outline | 0 | {bike} is now called Blue bike | Its device has that name within a minute.
taken_away | account-remove-outline | -1 | {bike} is taken from the account | Its entities are unavailable within a minute.
given_back | account-check-outline | -1 | {bike} is given back to the account | Its entities are as before within a minute.
new | plus-circle-outline | 0 | A new bike comes to the account | It has a device and a place on the dashboard within a minute.
""".strip().splitlines()
]
"""Name, icon, number of the bike, title, and where to look when. A smaller fleet takes another bike."""


class Trick(NamedTuple):
    """Something to try."""

    name: str
    icon: str
    title: str
    watch: str
    """Where that is to be seen in Home Assistant, and when."""


class Tricks:
    """All that there is to try with this fleet."""

    def __init__(self, simulator: Simulator, fleet: Fleet, email: str) -> None:
        """Try it with the trackers of this account."""
        self._simulator = simulator
        self._fleet = fleet
        self._email = email
        self._numbers = count(1)
        self._acts = self._all_acts(simulator.accounts[email].password)

    def list(self) -> list[Trick]:
        """Return what there is to try now, under the names that bikes have now."""
        devices = self._simulator.devices
        return [
            Trick(name, icon, title.format(bike=devices[self.bike(number)].name), watch)
            for name, icon, number, title, watch in _TRICKS
            if self._fleet.unique_ids
        ]

    def do(self, name: str) -> None:
        """Do it."""
        [number] = [number for own, _, number, *_ in _TRICKS if own == name]
        self._acts[name](self.bike(number))

    def bike(self, number: int | str) -> str:
        """Return a bike of the fleet, in a smaller one another one."""
        return self._fleet.unique_ids[int(number) % len(self._fleet.unique_ids)]

    def _all_acts(self, password: str) -> Mapping[str, Act]:
        simulator, fleet, email = self._simulator, self._fleet, self._email

        def alarm(word: str) -> Act:
            return lambda bike: fleet.report(bike, alarm=word)

        return {
            "leaves_home": fleet.leave_home,
            "rides": fleet.set_off,
            "arrives": fleet.park,
            "battery": lambda bike: fleet.drain(bike, 15),
            "offline": self._go_offline,
            "online": self._come_online,
            "silent": fleet.fall_silent,
            "sos": alarm("sos"),
            "alarm": alarm("tow"),
            "parked": fleet.park,
            "cat": alarm("vibration"),
            "stolen": fleet.set_off,
            "carried_off": fleet.carry_off,
            "server_down": lambda _: simulator.fault("status-503"),
            "server_up": lambda _: simulator.fault(None),
            "password": lambda _: simulator.set_password(email, OTHER_PASSWORD),
            "password_back": lambda _: simulator.set_password(email, password),
            "rides_unseen": self._ride_unseen,
            "renamed": lambda bike: simulator.rename(bike, NEW_NAME),
            "taken_away": lambda bike: simulator.unassign(email, bike),
            "given_back": lambda bike: simulator.assign(email, bike),
            "new": self._add,
        }

    def _go_offline(self, bike: str) -> None:
        # The fleet has it online again when it rides on: what overrides that stays.
        self._simulator.override_field(bike, "status", "offline")
        self._simulator.set_status(bike, "offline")

    def _come_online(self, bike: str) -> None:
        self._simulator.clear_overrides(bike)
        self._simulator.set_status(bike, "online")

    def _ride_unseen(self, bike: str) -> None:
        self._simulator.live.drop()
        self._simulator.fault("status-503", path="devices", times=1)
        self._fleet.ride_unseen(bike)

    def _add(self, _: str) -> None:
        number = next(self._numbers)
        name = f"New bike {number}" if number > 1 else "New bike"
        latitude, longitude = HOME
        self._simulator.add_device(
            f"new-{number}",
            name=name,
            email=self._email,
            latitude=latitude,
            longitude=longitude,
        )
