"""Which alarms are told, and that each is told once."""

import pytest

from custom_components.bike_tracker.account import Account, Alarm, Remembered
from custom_components.bike_tracker.api import Hardware, Position

from .conftest import NOW, Read, a_device, a_position, no_fix


class Service:
    """A service and an account that polls it."""

    def __init__(self, account: Account, read: Read) -> None:
        """Begin before the first poll."""
        self.account = account
        self.read = read

    def poll(self, *positions: Position, announced: int | None = None) -> list[str]:
        """List a tracker with its position; return the alarms that are news now."""
        position_id = announced or next((item.id for item in positions), None)
        news = self.account.take(
            self.read(a_device(position_id=position_id)),
            dict.fromkeys(["red"], positions[0]) if positions else {},
            now=NOW,
        )
        return _told(news.before.get("red"), news.now.get("red"))


def _told(before: object, now: object) -> list[str]:
    alarm = getattr(now, "alarm", None)
    if alarm is None or alarm == getattr(before, "alarm", None) or not alarm.is_news:
        return []
    return list(alarm.words)


@pytest.fixture
def service(account: Account, read: Read) -> Service:
    """Return a service that has been polled, before any alarm."""
    service = Service(account, read)
    assert service.poll(a_position(1)) == []
    return service


def test_alarm(service: Service) -> None:
    """It is told with its report, and is the last one from then on."""
    position = a_position(2, alarm="sos")
    assert service.poll(position) == ["sos"]
    alarm = Alarm(2, ("sos",), position.fix_time, is_news=True)
    assert service.account.trackers["red"].alarm == alarm
    assert service.poll(position) == []
    assert service.poll(a_position(3)) == []
    assert service.account.trackers["red"].alarm == alarm


def test_the_same_alarm_again(service: Service) -> None:
    """Each report is told, also if it says what the one before said."""
    assert service.poll(a_position(2, alarm="sos")) == ["sos"]
    assert service.poll(a_position(3, alarm="sos")) == ["sos"]


def test_report_that_comes_again(service: Service) -> None:
    """A server that goes back and forth has one alarm told once."""
    assert service.poll(a_position(2, alarm="sos")) == ["sos"]
    assert service.poll(a_position(3)) == []
    assert service.poll(a_position(2, alarm="sos")) == []


def test_alarm_that_says_nothing(service: Service) -> None:
    """It is none, and the one before stays the last."""
    assert service.poll(a_position(2, alarm="sos")) == ["sos"]
    assert service.poll(a_position(3, alarm=" ,")) == []
    alarm = service.account.trackers["red"].alarm
    assert alarm is not None
    assert alarm.words == ("sos",)


def test_alarm_without_a_place(service: Service) -> None:
    """Its time is that of the place that is known."""
    assert service.poll(no_fix(2, alarm="removing")) == ["removing"]
    alarm = service.account.trackers["red"].alarm
    assert alarm is not None
    assert alarm.time == a_position().fix_time


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
    """Several at once are told apart; each is one line of bearable length."""
    assert service.poll(a_position(2, alarm=said)) == words


def test_what_was_there_at_the_start(account: Account, read: Read) -> None:
    """It is the last alarm, and not told."""
    service = Service(account, read)
    assert service.poll(a_position(1, alarm="sos")) == []
    alarm = account.trackers["red"].alarm
    assert alarm is not None
    assert alarm.words == ("sos",)
    assert service.poll(a_position(1, alarm="sos")) == []
    assert service.poll(a_position(2, alarm="tow")) == ["tow"]


def test_what_was_announced_at_the_start(account: Account, read: Read) -> None:
    """It is not told either when it comes later."""
    service = Service(account, read)
    assert service.poll(announced=1) == []
    assert service.poll(a_position(1, alarm="sos")) == []
    assert service.poll(a_position(2, alarm="tow")) == ["tow"]
    assert service.poll(announced=3) == []
    assert service.poll(a_position(3, alarm="fault")) == ["fault"]


def test_more_than_was_announced_at_the_start(account: Account, read: Read) -> None:
    """What happened since then is told."""
    service = Service(account, read)
    assert service.poll(announced=1) == []
    assert service.poll(a_position(2, alarm="sos")) == ["sos"]


def test_restart(service: Service, read: Read) -> None:
    """What was told before it is not told again, nor is what came meanwhile."""
    assert service.poll(a_position(2, alarm="sos")) == ["sos"]
    for first in (a_position(2, alarm="sos"), a_position(3, alarm="tow")):
        alarms = {"red": Alarm(2, ("sos",), None)}
        positions = {"red": a_position(2)}
        account = Account(Remembered(positions=positions, alarms=alarms))
        restarted = Service(account, read)
        assert restarted.poll(first) == []
        assert restarted.poll(first) == []
        assert restarted.poll(a_position(4, alarm="door")) == ["door"]


def test_tracker_that_comes_back(service: Service) -> None:
    """What happened while it was not listed is told, and held back is only its place."""
    service.account.take(service.read(), {}, now=NOW)
    assert service.poll(a_position(2, alarm="tow", latitude=48.0)) == ["tow"]
    position = service.account.trackers["red"].position
    assert position is not None
    assert position.latitude == a_position().latitude
    news = service.account.move(now=NOW)
    assert _told(news.before["red"], news.now["red"]) == []
    assert news.now["red"].position == a_position(2, alarm="tow", latitude=48.0)


def test_new_tracker(service: Service) -> None:
    """Nobody knows how long ago its alarm was; the next one is told."""
    devices = a_device(position_id=1), a_device("blue", position_id=7)
    account = service.account
    news = account.take(
        service.read(*devices), {"blue": a_position(7, alarm="sos")}, now=NOW
    )
    assert _told(None, news.now["blue"]) == []
    devices = a_device(position_id=1), a_device("blue", position_id=8)
    news = account.take(
        service.read(*devices), {"blue": a_position(8, alarm="tow")}, now=NOW
    )
    assert _told(news.before["blue"], news.now["blue"]) == ["tow"]


def test_first_report_of_all(account: Account, read: Read) -> None:
    """A tracker that was listed without a position may begin with an alarm."""
    service = Service(account, read)
    assert service.poll() == []
    assert service.poll(a_position(1, alarm="sos")) == ["sos"]


def test_tracker_of_another_account(service: Service, read: Read) -> None:
    """What the account that had it has told is not told again."""
    assert service.poll(a_position(2, alarm="sos")) == ["sos"]
    taker = Service(Account(Remembered()), read)
    taker.account.take(read(), {}, now=NOW)
    taker.account.adopt("red", service.account)
    assert taker.poll(a_position(2, alarm="sos")) == []
    assert taker.account.trackers["red"].alarm is not None


def test_forgotten_tracker(service: Service) -> None:
    """Nothing is left of its alarms."""
    service.poll(a_position(2, alarm="sos"))
    service.account.forget("red")
    assert not service.account.remembered.alarms


def test_what_a_tracker_says_of_itself_is_kept(service: Service) -> None:
    """What a report does not tell is as it was."""
    first = Hardware(True, False, 3.9, 12.3, "1.2")
    service.poll(a_position(2, hardware=first))
    for number, (said, known) in enumerate(
        [
            (None, first),
            (Hardware(charge=False), Hardware(False, False, 3.9, 12.3, "1.2")),
            (Hardware(lock=True), Hardware(False, True, 3.9, 12.3, "1.2")),
            (Hardware(battery_voltage=0), Hardware(False, True, 0, 12.3, "1.2")),
            (
                Hardware(power_voltage=0, firmware="1.3"),
                Hardware(False, True, 0, 0, "1.3"),
            ),
        ],
        3,
    ):
        service.poll(a_position(number, hardware=said))
        position = service.account.trackers["red"].position
        assert position is not None
        assert position.hardware == known
        assert service.account.trackers["red"].firmware == known.firmware


def test_firmware_that_was_never_told(account: Account, read: Read) -> None:
    """It is unknown, with a position and without."""
    service = Service(account, read)
    service.poll()
    assert account.trackers["red"].firmware is None
    service.poll(a_position(1, hardware=Hardware(lock=True)))
    assert account.trackers["red"].firmware is None
    service.poll(a_position(2))
    assert account.trackers["red"].firmware is None
