"""What there is to try with a fleet, and what to watch then: for people who look at the demo."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from .fleet import Fleet
from .server import Simulator
from .streets import HOME

OTHER_PASSWORD = "another"
NEW_NAME = "Blue bike"

type Act = Callable[[str], None]
"""What is done with the tracker of this `uniqueId`."""


@dataclass(frozen=True, slots=True)
class Trick:
    """Something to try."""

    title: str
    """What happens; `{bike}` is the name of the bike."""
    watch: str
    """Where that is to be seen in Home Assistant, and when."""
    icon: str
    act: Act
    bike: int = 0
    """Which bike of the fleet; in a smaller fleet another one."""
    needs_positions: bool = False


class Tricks:
    """All that there is to try with this fleet, by name."""

    def __init__(self, simulator: Simulator, fleet: Fleet, email: str) -> None:
        """Try it with the trackers of this account."""
        self._simulator = simulator
        self._fleet = fleet
        self._email = email
        self._password = simulator.accounts[email].password
        self._numbers = count(1)
        self._tricks = self._all()

    def list(self) -> list[dict[str, Any]]:
        """Return what there is to try now, under the names that bikes have now."""
        return [
            {
                "name": name,
                "title": self._title(trick),
                "watch": trick.watch,
                "icon": trick.icon,
                "needs_positions": trick.needs_positions,
            }
            for name, trick in self._tricks.items()
            if self._fleet.unique_ids
        ]

    def do(self, name: str) -> str:
        """Do it; return what happened and what to watch."""
        if name not in self._tricks or not self._fleet.unique_ids:
            raise LookupError(f"nothing to try is called {name}")
        trick = self._tricks[name]
        done = f"{self._title(trick)}. {trick.watch}"
        trick.act(self._bike(trick))
        return done

    def park(self, unique_id: str) -> None:
        """Have a bike stay where it is, if it is one of the fleet."""
        if unique_id in self._fleet.unique_ids:
            self._fleet.park(unique_id)

    def _bike(self, trick: Trick) -> str:
        return self._fleet.unique_ids[trick.bike % len(self._fleet.unique_ids)]

    def _title(self, trick: Trick) -> str:
        name = self._simulator.devices[self._bike(trick)].name
        return trick.title.format(bike=name)

    def _all(self) -> dict[str, Trick]:
        simulator, fleet = self._simulator, self._fleet
        return {
            "leaves-home": Trick(
                "{bike} leaves home",
                "Wherever it was, it is at home for a moment. Then it leaves Home.",
                "mdi:home-export-outline",
                fleet.leave_home,
                needs_positions=True,
            ),
            "rides": Trick(
                "{bike} rides",
                "Moving and Speed change within seconds, and Last ride counts its kilometers.",
                "mdi:bike-fast",
                fleet.set_off,
                bike=1,
                needs_positions=True,
            ),
            "arrives": Trick(
                "{bike} arrives",
                "Moving says so at once. After five minutes its ride ends: Rides and Last ride have it.",
                "mdi:flag-checkered",
                fleet.park,
                bike=1,
                needs_positions=True,
            ),
            "battery": Trick(
                "{bike} has 15 % left",
                "Battery shows it within seconds.",
                "mdi:battery-10",
                lambda bike: fleet.drain(bike, 15),
                bike=2,
                needs_positions=True,
            ),
            "offline": Trick(
                "{bike} goes offline",
                "Connectivity says Offline within a minute.",
                "mdi:cloud-off-outline",
                self._go_offline,
                bike=3,
            ),
            "online": Trick(
                "{bike} is back online",
                "Connectivity says Online within a minute.",
                "mdi:cloud-check-outline",
                self._come_online,
                bike=3,
            ),
            "silent": Trick(
                "{bike} is silent for a day",
                "Last update says so within a minute, and the blueprint for trackers that are offline or silent tells you a minute later. It reports again once it rides.",
                "mdi:sleep",
                fleet.fall_silent,
                bike=1,
            ),
            "sos": Trick(
                "Somebody on {bike} needs help",
                "Last alarm says SOS within seconds. It is there from the first alarm on.",
                "mdi:alert-octagon-outline",
                lambda bike: fleet.raise_alarm(bike, "sos"),
                bike=4,
                needs_positions=True,
            ),
            "alarm": Trick(
                "{bike} is towed",
                "Last alarm says Towed within seconds. It is there from the first alarm on.",
                "mdi:alarm-light-outline",
                lambda bike: fleet.raise_alarm(bike, "tow"),
                bike=4,
                needs_positions=True,
            ),
            "parked": Trick(
                "{bike} is parked",
                "It stays where it is. Tap the lock of its Guard now, and see what happens next.",
                "mdi:bicycle",
                fleet.park,
                bike=2,
                needs_positions=True,
            ),
            "cat": Trick(
                "A cat touches {bike}",
                "If it is guarded, its Guard is triggered within seconds: its tracker notices that something shakes it, and not who.",
                "mdi:cat",
                lambda bike: fleet.raise_alarm(bike, "vibration"),
                bike=2,
                needs_positions=True,
            ),
            "stolen": Trick(
                "Somebody steals {bike}",
                "If it is guarded, its Guard is triggered with the first report, within half a minute.",
                "mdi:bike-fast",
                fleet.set_off,
                bike=2,
                needs_positions=True,
            ),
            "carried-off": Trick(
                "Somebody carries {bike} away",
                "Its tracker does not say that it moves. If it is guarded, its Guard is triggered with the second report from there, within half a minute.",
                "mdi:human-dolly",
                fleet.carry_off,
                bike=2,
                needs_positions=True,
            ),
            "server-down": Trick(
                "The server is down",
                "All but Guard and Rides are unavailable within a minute. After 30 minutes, Repairs says so too.",
                "mdi:server-network-off",
                lambda _: simulator.fault("status-503"),
            ),
            "server-up": Trick(
                "The server works again",
                "All is back within 5 minutes, the sooner the shorter the server was down.",
                "mdi:server-network",
                lambda _: simulator.fault(None),
            ),
            "password": Trick(
                "The password changes",
                f"Within two minutes Home Assistant asks you to sign in again, under Settings. The new password is: {OTHER_PASSWORD}",
                "mdi:lock-reset",
                lambda _: simulator.set_password(self._email, OTHER_PASSWORD),
            ),
            "password-back": Trick(
                "The password is as before",
                "The request to sign in goes away by itself, within 5 minutes.",
                "mdi:lock-check-outline",
                lambda _: simulator.set_password(self._email, self._password),
            ),
            "rides-unseen": Trick(
                "{bike} rides in an outage",
                "For a minute the server does not answer. Then Rides has one that began and ended before.",
                "mdi:cloud-question-outline",
                self._ride_unseen,
                bike=1,
                needs_positions=True,
            ),
            "renamed": Trick(
                f"{{bike}} is now called {NEW_NAME}",
                "Its device has that name within a minute.",
                "mdi:rename-outline",
                lambda bike: simulator.rename(bike, NEW_NAME),
            ),
            "taken-away": Trick(
                "{bike} is taken from the account",
                "Its entities are unavailable within a minute.",
                "mdi:account-remove-outline",
                lambda bike: simulator.unassign(self._email, bike),
                bike=-1,
            ),
            "given-back": Trick(
                "{bike} is given back to the account",
                "Its entities are as before within a minute.",
                "mdi:account-check-outline",
                lambda bike: simulator.assign(self._email, bike),
                bike=-1,
            ),
            "new": Trick(
                "A new bike comes to the account",
                "It has a device and a place on the dashboard within a minute.",
                "mdi:plus-circle-outline",
                self._add,
            ),
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
        self._simulator.add_device(
            f"new-{number}",
            name=f"New bike {number}" if number > 1 else "New bike",
            email=self._email,
            latitude=HOME[0],
            longitude=HOME[1],
        )
