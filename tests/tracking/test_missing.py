"""Who is missing, and for how long."""

from collections.abc import Iterable

from custom_components.bike_tracker.tracking import Account, Moment, Remembered

from .conftest import NOW, Read, a_device

HOUR = 60 * 60
# After so many seconds of lists without it a tracker is gone.
GONE_AFTER = 7 * 24 * HOUR


def missing_after(
    account: Account, had: Iterable[str], *seconds: float
) -> list[list[str]]:
    """Return who is gone after each of some times, of which no hour is without a poll."""
    return [_gone_after(account, set(had), each) for each in seconds]


def _gone_after(account: Account, had: set[str], seconds: float) -> list[str]:
    hours, rest = divmod(seconds, HOUR)
    for _ in range(int(hours)):
        account.count_missing(had, HOUR)
    return account.count_missing(had, rest)


def test_nobody_is_missing(account: Account, read: Read) -> None:
    """Who is listed is not missing, however long that is."""
    account.take(read(a_device("red"), a_device("blue")), {}, Moment(NOW))
    assert missing_after(account, ["red", "blue"], 0, GONE_AFTER) == [[], []]
    assert account.remembered.missing == {}


def test_time_before_the_first_list_without_it(account: Account, read: Read) -> None:
    """It was listed then: a tracker is missing from the first list without it on."""
    account.take(read(a_device("blue")), {}, Moment(NOW))
    assert account.count_missing({"red", "blue"}, GONE_AFTER) == []
    assert account.remembered.missing == {"red": 0}


def test_a_machine_that_slept(account: Account, read: Read) -> None:
    """The account was not seen without it meanwhile: an hour of that counts."""
    account.take(read(a_device("blue")), {}, Moment(NOW))
    assert missing_after(account, ["red", "blue"], 0) == [[]]
    assert account.count_missing({"red", "blue"}, 2 * GONE_AFTER) == []
    assert account.remembered.missing == {"red": HOUR}


def test_gone_once_the_time_is_over(account: Account, read: Read) -> None:
    """Not a second before, and from then on until it is forgotten."""
    account.take(read(a_device("blue")), {}, Moment(NOW))
    had = ["red", "blue"]
    assert missing_after(account, had, 0, GONE_AFTER - 1, 0.5) == [[], [], []]
    assert missing_after(account, had, 0.5, 0) == [["red"], ["red"]]
    account.forget("red")
    assert missing_after(account, ["blue"], 0) == [[]]


def test_each_has_its_own_time(account: Account, read: Read) -> None:
    """Who left later is gone later."""
    account.take(read(a_device("blue"), a_device("green")), {}, Moment(NOW))
    had = ["red", "blue", "green"]
    assert missing_after(account, had, 0, GONE_AFTER - HOUR) == [[], []]
    account.take(read(a_device("green")), {}, Moment(NOW))
    assert missing_after(account, had, HOUR) == [["red"]]
    account.forget("red")
    had.remove("red")
    assert missing_after(account, had, GONE_AFTER - 1, 1) == [[], ["blue"]]


def test_return_ends_it(account: Account, read: Read) -> None:
    """Who was there in between has all the time again."""
    had = ["red", "blue"]
    account.take(read(a_device("blue")), {}, Moment(NOW))
    missing_after(account, had, 0, GONE_AFTER - 1)
    account.take(read(a_device("blue"), a_device("red")), {}, Moment(NOW))
    missing_after(account, had, HOUR)
    assert account.remembered.missing == {}
    account.take(read(a_device("blue")), {}, Moment(NOW))
    assert missing_after(account, had, HOUR, GONE_AFTER - 1) == [[], []]


def test_tracker_that_was_never_had(account: Account, read: Read) -> None:
    """Nobody misses it."""
    account.take(read(a_device("blue")), {}, Moment(NOW))
    account.take(read(), {}, Moment(NOW))
    assert missing_after(account, [], 0, GONE_AFTER) == [[], []]
    assert account.remembered.missing == {}


def test_time_outlives_a_restart(read: Read) -> None:
    """What was counted before counts."""
    account = Account(Remembered(missing={"red": GONE_AFTER - HOUR}))
    account.take(read(a_device("blue")), {}, Moment(NOW))
    assert missing_after(account, ["red", "blue"], 0, HOUR) == [[], ["red"]]


def test_remembered_as_missing_and_listed(read: Read) -> None:
    """Who came back while nobody looked is not missing."""
    account = Account(Remembered(missing={"red": GONE_AFTER}))
    account.take(read(a_device("red")), {}, Moment(NOW))
    assert missing_after(account, ["red"], HOUR) == [[]]
    assert account.remembered.missing == {}
