"""Which alarms are fired, and that each is fired once."""

from datetime import timedelta
from typing import Any

import pytest

from custom_components.bike_tracker.api.models import Position
from custom_components.bike_tracker.tracking.account import Account
from custom_components.bike_tracker.tracking.history import HistoryAnswer
from custom_components.bike_tracker.tracking.occurrences import (
    MAX_WAITING,
    Alarm,
    UpdateContext,
)

from .conftest import NOW, Listener, Read, a_device, a_position


class Service:
    """A service, an account that polls it, and somebody who listens to its alarms."""

    def __init__(
        self, account: Account, read: Read, listener: Listener | None = None
    ) -> None:
        """Begin before the first poll."""
        self.account = account
        self.read = read
        self.listener = listener or Listener()

    def poll(self, *positions: Position, announced: int | None = None) -> list[str]:
        """List a tracker with its position; return the alarms to be told now."""
        position_id = announced or next((item.id for item in positions), None)
        self.account.apply_poll(
            self.read(a_device(position_id=position_id)),
            dict.fromkeys(["red"], positions[0]) if positions else {},
            UpdateContext(NOW),
        )
        return self.fire("red")

    def fire(self, unique_id: str) -> list[str]:
        """Return the alarms of a tracker that are fired now."""
        story = self.account.trackers[unique_id].state
        return [item.attributes["alarm"] for item in self.listener.fired(story)]


@pytest.fixture
def service(account: Account, read: Read) -> Service:
    """Return a service that has been polled, before any alarm."""
    service = Service(account, read)
    assert service.poll(a_position(1)) == []
    return service


def test_alarm(service: Service) -> None:
    """It is fired with its report, and is the last one from then on."""
    position = a_position(2, alarm="sos")
    assert service.poll(position) == ["sos"]
    alarm = Alarm("sos", 2, position.fix_time)
    assert service.account.trackers["red"].state.alarms == (alarm,)
    # Home Assistant's log names what a listener fails at.
    [fired] = service.account.trackers["red"].state.occurrences
    assert repr(fired) == "alarm_raised 1"
    assert service.poll(position) == []
    assert service.poll(a_position(3)) == []
    assert service.account.trackers["red"].state.alarms == (alarm,)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("sos,vibration", ["sos", "vibration"]),
        (" sos , ,sos,\tvibration\n", ["sos", "vibration"]),
        (",", []),
        ("x" * 500, ["x" * 100]),
        (",".join(map(str, range(100))), list(map(str, range(20)))),
    ],
)
def test_words(service: Service, said: str, words: list[str]) -> None:
    """Several at once are fired apart; each is one line of bearable length."""
    assert service.poll(a_position(2, alarm=said)) == words


def test_first_report(account: Account, read: Read) -> None:
    """One of a bike that was listed before it ever reported is fired."""
    service = Service(account, read)
    assert service.poll() == []
    assert service.poll(a_position(1, alarm="sos")) == ["sos"]


def test_what_was_there_at_the_start(account: Account, read: Read) -> None:
    """It is the last alarm, and not told."""
    service = Service(account, read)
    assert service.poll(a_position(1, alarm="sos")) == []
    assert account.trackers["red"].state.alarms[-1].word == "sos"
    assert service.poll(a_position(1, alarm="sos")) == []
    assert service.poll(a_position(2, alarm="tow")) == ["tow"]


def test_restart(service: Service, read: Read) -> None:
    """What was told before it is not fired again, and what came meanwhile is told."""
    assert service.poll(a_position(2, alarm="sos")) == ["sos"]
    for first, fired in (
        (a_position(2, alarm="sos"), []),
        (a_position(3, alarm="tow"), ["tow"]),
    ):
        account = Account("Bikes", dict(service.account.states))
        listener = Listener(service.listener.last_fired)
        restarted = Service(account, read, listener)
        assert restarted.poll(first) == fired
        assert restarted.poll(first) == []
        assert restarted.poll(a_position(4, alarm="door")) == ["door"]


def test_new_tracker(service: Service) -> None:
    """Nobody knows how long ago its alarm was; the next one is told."""
    devices = a_device(position_id=1), a_device("blue", position_id=7)
    account = service.account
    account.apply_poll(
        service.read(*devices), {"blue": a_position(7, alarm="sos")}, UpdateContext(NOW)
    )
    assert service.fire("blue") == []
    devices = a_device(position_id=1), a_device("blue", position_id=8)
    account.apply_poll(
        service.read(*devices), {"blue": a_position(8, alarm="tow")}, UpdateContext(NOW)
    )
    assert service.fire("blue") == ["tow"]


def _storm(many: int, words: int = 1) -> list[Position]:
    """Return reports of the last hour, with so many alarms each."""
    said = ",".join(f"word{number}" for number in range(words))
    return [
        a_position(
            2 + number,
            fix_time=(time := NOW - timedelta(seconds=many - number)),
            device_time=time,
            alarm=said,
        )._replace(device_id=sum(b"red"))
        for number in range(many)
    ]


def _recall(service: Service, reports: list[Position]) -> list[str]:
    past = HistoryAnswer(reports, NOW)
    service.account.apply_history("red", past, UpdateContext(NOW, has_history=True))
    return service.fire("red")


def test_storm_in_the_history(service: Service) -> None:
    """The last 50 are fired, and none of them again, nor those before."""
    storm = _storm(1_000, words=20)
    fired = _recall(service, storm)
    assert len(fired) == MAX_WAITING
    assert fired[-20:] == [f"word{number}" for number in range(20)]
    assert _recall(service, storm) == []
    assert _recall(service, storm[:100]) == []
    late = storm[-2]._replace(id=-1, alarm="late")
    assert _recall(service, [late]) == ["late"]


def test_alarms_of_many_reports(service: Service) -> None:
    """Of those of one answer, the last 50 are fired, in the order of their reports."""
    storm = [it._replace(alarm=f"word{it.id}") for it in _storm(60)]
    last = [f"word{it.id}" for it in storm[-MAX_WAITING:]]
    assert _recall(service, storm) == last


def test_storm_over_live(service: Service) -> None:
    """Each is fired as it comes, and none again when the history tells of it."""
    storm, fired = _storm(120), 0
    for report in storm:
        service.account.apply_message([], [report], UpdateContext(NOW))
        fired += len(service.fire("red"))
    assert fired == 120
    assert len(service.account.trackers["red"].state.alarms) <= MAX_WAITING
    assert _recall(service, storm) == []
    assert service.poll(a_position(500, alarm="sos")) == ["sos"]


def test_other_server_after_a_storm(service: Service) -> None:
    """Its numbers begin anew, and its alarms are fired."""
    _recall(service, _storm(120))
    position = a_position(3, fix_time=NOW, device_time=NOW, alarm="sos")
    assert service.poll(position) == ["sos"]


def test_what_a_tracker_says_of_itself_is_kept(service: Service) -> None:
    """What a report does not tell is as it was."""
    keys = ("charge", "lock", "battery_voltage", "power_voltage", "firmware")
    known: dict[str, Any] = dict(
        zip(keys, (True, False, 3.9, 12.3, "1.2"), strict=True)
    )
    service.poll(a_position(2, **known))
    reports: list[dict[str, Any]] = [{}, {"charge": False}, {"lock": True}]
    reports += [{"battery_voltage": 0}, {"power_voltage": 0, "firmware": "1.3"}]
    for number, said in enumerate(reports, 3):
        known |= said
        service.poll(a_position(number, **said))
        position = service.account.trackers["red"].position
        assert position is not None
        assert known.items() <= position._asdict().items()
