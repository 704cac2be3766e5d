"""What happened to bikes, and what was told of it: numbers alone, as a month has many."""

from collections import Counter, defaultdict
from random import Random

from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from tests.tools.story.service import Service
from tests.tools.story.told import TRIGGERS, Listener, Told, automation, label_bikes

_ALARMS = ("sos", "vibration", "tow", "lowBattery")
_NUMBERED = "alarm {}"


class Ledger:
    """Knows each alarm that was raised, which of them was heard of, and what was told."""

    def __init__(self, hass: HomeAssistant, service: Service) -> None:
        """Listen to event entities, and to a trigger of each kind."""
        self._hass = hass
        self._service = service
        self._listener = Listener()
        self._raised = 0
        # Which alarm a report raised.
        self._of_report: dict[int, int] = {}
        self._heard = set[int]()
        # By who told what of which bike: the numbers of alarms; of rides, how many.
        self._alarms: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._rides: defaultdict[tuple[str, str], list[str]] = defaultdict(list)

    @property
    def raised(self) -> int:
        """Return how many alarms were raised."""
        return self._raised

    @property
    def heard(self) -> int:
        """Return how many of them Home Assistant heard of for sure."""
        return len(self._heard)

    async def async_listen(self) -> None:
        """Have automations that tell."""
        self._listener.async_listen(self._hass)
        automations = [automation(trigger) for trigger in TRIGGERS]
        assert await async_setup_component(
            self._hass, "automation", {"automation": automations}
        )

    def aim(self) -> None:
        """Aim automations at all bikes that there are."""
        label_bikes(self._hass)

    def raise_alarm(self, random: Random, tracker: str) -> None:
        """Have a bike raise an alarm, with a word of its own or with one more."""
        self._raised += 1
        word = _NUMBERED.format(self._raised)
        if random.random() < 0.3:
            word += f",{random.choice(_ALARMS)}"
        position = self._service.report(tracker, attributes={"alarm": word})
        self._of_report[position.id] = self._raised

    def settle(self) -> None:
        """Take in what was heard of and told by now."""
        for reached in self._service.reached:
            if number := self._of_report.get(reached.report):
                self._heard.add(number)
        self._service.reached.clear()
        listener = self._listener
        assert not listener.unnoticed
        for who, told in (
            ("entity", listener.entities),
            ("trigger", listener.triggers),
        ):
            for item in told:
                self._note(who, item)
            told.clear()

    def _note(self, who: str, told: Told) -> None:
        if told.what != "alarm":
            self._rides[who, told.tracker].append(told.what)
        elif told.word not in _ALARMS:
            self._alarms[who, told.tracker].append(int(told.word.split()[1]))

    def problems(self) -> list[str]:
        """Return what was lost, invented, told twice, or in another order."""
        self.settle()
        problems = []
        for who in ("entity", "trigger"):
            told = Counter(
                number
                for (teller, _), numbers in self._alarms.items()
                if teller == who
                for number in numbers
            )
            if lost := sorted(self._heard - told.keys()):
                problems.append(f"{who} lost alarms {lost}")
            if twice := sorted(number for number in told if told[number] > 1):
                problems.append(f"{who} told alarms {twice} more than once")
        for (who, tracker), numbers in self._alarms.items():
            if numbers != sorted(numbers):
                problems.append(f"{who} told alarms of {tracker} in another order")
        for (who, tracker), rides in self._rides.items():
            if (
                rides
                != ["started", "ended"] * (len(rides) // 2)
                + rides[len(rides) // 2 * 2 :]
            ):
                problems.append(f"{who} told rides of {tracker} as {rides}")
        return problems
