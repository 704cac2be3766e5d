"""From one answer to the next: what changed, and what is left out."""

from collections.abc import Callable
import itertools
from typing import Any

import orjson
import pytest

from custom_components.bike_tracker.api.errors import InvalidResponseError
from custom_components.bike_tracker.api.models import (
    DeviceReader,
    Position,
    read_positions,
)

from .rows import DEVICE, MISSING, POSITION, row

type Rows = list[Any]

OLD = "2001-01-01T00:00:00.000+0000"
NEW = "2026-11-20T07:00:00.000+0000"


@pytest.fixture
def devices() -> DeviceReader:
    """Return a reader of device lists."""
    return DeviceReader()


def two(**fields: Any) -> Rows:
    """Return two devices, the first with other values in these fields."""
    return [row(DEVICE, **fields), row(DEVICE, uniqueId="860000000000022", id=1002)]


def test_equal_bodies_are_not_read_again(
    devices: DeviceReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes that changed nothing are the same dictionary, without a look into them."""
    body = orjson.dumps(two(), option=orjson.OPT_INDENT_2)
    devices.read(body)
    before = devices.read(body)
    monkeypatch.setattr(orjson, "loads", pytest.fail)
    assert devices.read(body) is before


SAME: dict[str, Callable[[Rows], Rows]] = {
    "another order": lambda rows: rows[::-1],
    "fields nobody reads": lambda rows: [row(r, attributes={"key": 1}) for r in rows],
    "fields in another order": lambda rows: [dict(reversed(r.items())) for r in rows],
    "everything twice": lambda rows: rows * 2,
    "and rows that are no devices": lambda rows: [*rows, 1, None, {}],
    "another way to write a time": lambda rows: [
        row(r, lastUpdate="2026-11-20T06:30:15.250Z") for r in rows
    ],
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_answers_that_say_the_same(
    devices: DeviceReader, change: Callable[[Rows], Rows]
) -> None:
    """Whatever does not show in an object makes no other object."""
    before = devices.read(orjson.dumps(two()))
    assert devices.read(orjson.dumps(change(two()))) is before


def test_only_what_changed_is_another_object(devices: DeviceReader) -> None:
    """The other tracker is the same object, in a dictionary of its own, wherever it is listed."""
    before = devices.read(orjson.dumps(two()))
    after = devices.read(orjson.dumps(two(status="offline")[::-1]))
    assert after["860000000000011"].status == "offline"
    assert before["860000000000011"].status == "online"
    assert after["860000000000022"] is before["860000000000022"]


def test_trackers_come_and_go(devices: DeviceReader) -> None:
    """An answer is the whole truth about who is in the list."""
    both = two()
    before = devices.read(orjson.dumps(both))
    one = devices.read(orjson.dumps(both[:1]))
    assert one == {"860000000000011": before["860000000000011"]}
    assert devices.read(b"[]") == {}
    assert devices.read(orjson.dumps(both)) == before


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"0",
        b'{"devices": []}',
        b"[]]",
        b"<html>",
        b'["\xff"]',
        b'["\xed\xa0\x80"]',
        '["ä"]'.encode("utf-16"),
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"0" + b"}" * 100_000,
        b'[1, "a", null, []]',
        b'[{"uniqueId": ""}]',
        b'[{"uniqueId": 860000000000011}]',
        b'[{"uniqueId": "\\ud800"}]',
        b'[{"groupId": 1e400, "uniqueId": "1"}]',
        b'[{"groupId": NaN, "uniqueId": "1"}]',
    ],
    ids=lambda body: repr(body[:24]),
)
def test_no_list_of_trackers(devices: DeviceReader, body: bytes) -> None:
    """It is an error each time, which holds nothing of the answer; what was known stays."""
    good = orjson.dumps(two())
    before = devices.read(good)
    for _ in range(2):
        with pytest.raises(InvalidResponseError) as caught:
            devices.read(body)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
        assert "860000000000011" not in str(caught.value)
    assert devices.read(good) is before


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        (b"9007199254740993", 2**53 + 1),
        (b"18446744073709551615", 2**64 - 1),
        (b"-9223372036854775808", -(2**63)),
        (b"18446744073709551616", None),
        (b"99999999999999999999", None),
        (b"-9223372036854775809", None),
        (b"1e3", None),
    ],
)
def test_large_integers(
    devices: DeviceReader, literal: bytes, value: int | None
) -> None:
    """Integers of 64 bits are exact, larger ones are none."""
    body = orjson.dumps(two(groupId="@")).replace(b'"@"', literal)
    assert (devices.read(body))["860000000000011"].group_id == value


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        (OLD, NEW, "second"),
        (NEW, OLD, "first"),
        (MISSING, OLD, "second"),
        (OLD, "nonsense", "first"),
        ("2026-11-20T07:00:00.000+0200", "2026-11-20T06:00:00.000+0000", "second"),
    ],
)
def test_of_two_with_one_unique_id_the_newest_counts(
    devices: DeviceReader, first: Any, second: Any, name: str
) -> None:
    """In whatever order they come, and whatever was known before."""
    twins = [
        row(DEVICE, name="first", lastUpdate=first),
        row(DEVICE, name="second", lastUpdate=second),
    ]
    for before in (twins[:1], twins, twins[1:], twins[::-1]):
        devices.read(orjson.dumps(before))
        for rows in (twins, twins[::-1]):
            read = devices.read(orjson.dumps(rows))
            assert read["860000000000011"].name == name


@pytest.mark.parametrize("last_update", [NEW, None, MISSING])
def test_ties_do_not_depend_on_the_order(
    devices: DeviceReader, last_update: Any
) -> None:
    """Of several from the same moment it is always the same one."""
    twins = [
        row(DEVICE, lastUpdate=last_update, **fields)
        for fields in (
            {"name": "a"},
            {"name": "b"},
            {"id": 7},
            {"id": 7.0},
            {"id": "7"},
        )
    ]
    first = None
    for rows in itertools.permutations(twins):
        read = devices.read(orjson.dumps(rows))
        first = first or read
        assert read is first


@pytest.mark.parametrize(
    "bad",
    [
        1,
        "a",
        None,
        [],
        {},
        {"id": 1},
        {"deviceId": 1},
        row(POSITION, id="1"),
        row(POSITION, deviceId=True),
    ],
)
def test_positions_without_ids_are_left_out(bad: Any) -> None:
    """A position is of a device and has a number; nothing else is needed.

    Traccar 4 sends null for a device without a position.
    """
    assert read_positions(b"[null]") == []
    body = orjson.dumps([bad, {"id": 1, "deviceId": 2}])
    assert read_positions(body) == [Position(device_id=2, id=1)]
    assert read_positions(body, {2}) == read_positions(body)
    assert read_positions(body, {3}) == []
