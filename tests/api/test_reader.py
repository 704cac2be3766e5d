"""From one answer to the next: what changed, and what is left out."""

import asyncio
from collections.abc import Callable
import itertools
import logging
import tracemalloc
from typing import Any

import orjson
import pytest

from custom_components.bike_tracker.api import Device, InvalidResponseError, Position
from custom_components.bike_tracker.api.reader import ListReader

from .rows import DEVICE, MISSING, POSITION, row

type Rows = list[Any]

OLD = "2001-01-01T00:00:00.000+0000"
NEW = "2026-11-20T07:00:00.000+0000"


@pytest.fixture
def devices() -> ListReader[str, Device]:
    """Return a reader of device lists."""
    return ListReader(Device)


@pytest.fixture
def positions() -> ListReader[int, Position]:
    """Return a reader of positions."""
    return ListReader(Position)


def two(**fields: Any) -> Rows:
    """Return two devices, the first with other values in these fields."""
    return [row(DEVICE, **fields), row(DEVICE, uniqueId="860000000000022", id=1002)]


async def test_equal_bodies_are_not_read_again(
    devices: ListReader[str, Device], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same bytes are the same dictionary, without a look into them."""
    before = await devices.async_read(orjson.dumps(two()))
    monkeypatch.setattr(orjson, "loads", pytest.fail)
    assert await devices.async_read(orjson.dumps(two())) is before


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda rows: rows[::-1], id="another order"),
        pytest.param(
            lambda rows: [row(r, attributes={"key": 1}) for r in rows],
            id="fields nobody reads",
        ),
        pytest.param(
            lambda rows: [dict(reversed(r.items())) for r in rows],
            id="fields in another order",
        ),
        pytest.param(lambda rows: rows * 2, id="everything twice"),
        pytest.param(
            lambda rows: [*rows, 1, None, {}], id="and rows that are no devices"
        ),
        pytest.param(
            lambda rows: [row(r, lastUpdate="2026-11-20T06:30:15.250Z") for r in rows],
            id="another way to write a time",
        ),
    ],
)
async def test_answers_that_say_the_same(
    devices: ListReader[str, Device], change: Callable[[Rows], Rows]
) -> None:
    """Whatever does not show in an object makes no other object."""
    before = await devices.async_read(orjson.dumps(two()))
    assert await devices.async_read(orjson.dumps(change(two()))) is before


async def test_only_what_changed_is_another_object(
    devices: ListReader[str, Device],
) -> None:
    """The other tracker is the same object, in a dictionary of its own."""
    before = await devices.async_read(orjson.dumps(two()))
    after = await devices.async_read(orjson.dumps(two(status="offline")))
    assert after["860000000000011"].status == "offline"
    assert before["860000000000011"].status == "online"
    assert after["860000000000022"] is before["860000000000022"]


@pytest.mark.parametrize(
    ("field", "values", "attribute", "expected"),
    [
        ("id", [1, True, 1.0, 1], "id", [1, None, None, 1]),
        ("groupId", [0, False, 0.0, 0], "group_id", [0, None, None, 0]),
        ("disabled", [True, 1, 1.0, True], "disabled", [True, None, None, True]),
        ("positionId", [1, 1.0, True, 1], "position_id", [1, None, None, 1]),
    ],
)
async def test_types_tell_apart_what_python_calls_equal(
    devices: ListReader[str, Device],
    field: str,
    values: list[Any],
    attribute: str,
    expected: list[Any],
) -> None:
    """1, 1.0 and True are three things in JSON."""
    for value, seen in zip(values, expected, strict=True):
        read = await devices.async_read(orjson.dumps(two(**{field: value})))
        got = getattr(read["860000000000011"], attribute)
        assert (type(got), got) == (type(seen), seen)


async def test_trackers_come_and_go(devices: ListReader[str, Device]) -> None:
    """An answer is the whole truth about who is in the list."""
    both = two()
    before = await devices.async_read(orjson.dumps(both))
    one = await devices.async_read(orjson.dumps(both[:1]))
    assert one == {"860000000000011": before["860000000000011"]}
    assert await devices.async_read(b"[]") == {}
    assert await devices.async_read(orjson.dumps(both)) == before


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{}",
        b"null",
        b"0",
        b"true",
        b'"devices"',
        b'{"devices": []}',
        b"[1",
        b"[]]",
        b"[] []",
        b"<html>",
        b'["\xff"]',
        b'["\xed\xa0\x80"]',
        '["ä"]'.encode("utf-16"),
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"0" + b"}" * 100_000,
        b'[1, "a", null, []]',
        b"[{}]",
        b'[{"uniqueId": ""}]',
        b'[{"uniqueId": null}]',
        b'[{"uniqueId": 860000000000011}]',
        b'[{"uniqueId": ["860000000000011"]}]',
        b'[{"uniqueId": "\\ud800"}]',
    ],
    ids=lambda body: repr(body[:24]),
)
async def test_no_list_of_trackers(
    devices: ListReader[str, Device], body: bytes
) -> None:
    """It is an error, which holds nothing of the answer, and what was known stays."""
    good = orjson.dumps(two())
    before = await devices.async_read(good)
    with pytest.raises(InvalidResponseError) as caught:
        await devices.async_read(body)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "860000000000011" not in str(caught.value)
    assert await devices.async_read(good) is before


@pytest.mark.parametrize(
    "literal",
    [b"9" * 400, b"9" * 10_000, b"-" + b"9" * 400, b"1e400", b"NaN", b"-Infinity"],
    ids=["400 digits", "10000 digits", "below zero", "1e400", "NaN", "-Infinity"],
)
async def test_numbers_that_nothing_can_hold(
    devices: ListReader[str, Device],
    positions: ListReader[int, Position],
    literal: bytes,
) -> None:
    """They cost their field, and neither the tracker nor the others."""
    body = orjson.dumps(two(groupId="@")).replace(b'"@"', literal)
    read = await devices.async_read(body)
    assert read["860000000000011"].group_id is None
    assert read["860000000000011"].id == 1001
    assert read["860000000000022"].group_id == 3

    body = orjson.dumps([row(POSITION, altitude="@")]).replace(b'"@"', literal)
    [position] = (await positions.async_read(body)).values()
    assert position.altitude is None
    assert position.latitude == 47.996


@pytest.mark.parametrize("other", [b"0", b"1e400"], ids=["", "beside a huge one"])
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
async def test_large_integers(
    devices: ListReader[str, Device], literal: bytes, value: int | None, other: bytes
) -> None:
    """Integers of 64 bits are exact, whatever else is in the list."""
    body = orjson.dumps(two(groupId="@", future="#"))
    body = body.replace(b'"@"', literal).replace(b'"#"', other)
    assert (await devices.async_read(body))["860000000000011"].group_id == value


async def test_half_a_character(devices: ListReader[str, Device]) -> None:
    """It is taken out of a name, and a serial number with it is none."""
    body = orjson.dumps(two(name="@")).replace(b'"@"', rb'"half \ud83d of a pair"')
    read = await devices.async_read(body)
    assert read["860000000000011"].name == "half of a pair"
    body = orjson.dumps(two(uniqueId="@")).replace(b'"@"', rb'"\udc00"')
    assert (await devices.async_read(body)).keys() == {"860000000000022"}


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
async def test_of_two_with_one_unique_id_the_newest_counts(
    devices: ListReader[str, Device], first: Any, second: Any, name: str
) -> None:
    """In whatever order they come, and whatever was known before."""
    twins = [
        row(DEVICE, name="first", lastUpdate=first),
        row(DEVICE, name="second", lastUpdate=second),
    ]
    for before in (twins[:1], twins, twins[1:], twins[::-1]):
        await devices.async_read(orjson.dumps(before))
        for rows in (twins, twins[::-1]):
            read = await devices.async_read(orjson.dumps(rows))
            assert read["860000000000011"].name == name


@pytest.mark.parametrize("last_update", [NEW, None, MISSING])
async def test_ties_do_not_depend_on_the_order(
    devices: ListReader[str, Device], last_update: Any
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
        read = await devices.async_read(orjson.dumps(rows))
        first = first or read
        assert read is first


async def test_of_two_positions_of_a_device_the_newest_counts(
    positions: ListReader[int, Position],
) -> None:
    """Positions are by device, and told apart by the time of their fix."""
    twins = [row(POSITION, id=1, fixTime=NEW), row(POSITION, id=2, fixTime=OLD)]
    for rows in (twins, twins[::-1]):
        [position] = (await positions.async_read(orjson.dumps(rows))).values()
        assert position.id == 1


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
async def test_positions_without_ids_are_left_out(
    positions: ListReader[int, Position], bad: Any
) -> None:
    """A position is of a device and has a number; nothing else is needed."""
    read = await positions.async_read(orjson.dumps([bad, {"id": 1, "deviceId": 2}]))
    assert read == {2: Position(device_id=2, id=1)}


async def test_what_is_wanted_alone_is_read(
    positions: ListReader[int, Position],
) -> None:
    """Of a long list only some may be news; the others are not looked into."""
    rows = [row(POSITION, deviceId=n, id=n, altitude=n) for n in range(5)]
    body = orjson.dumps(rows)
    some = await positions.async_read(body, {1, 3, 99})
    assert some.keys() == {1, 3}
    assert await positions.async_read(body, set()) == {}
    every = await positions.async_read(body)
    assert {key: every[key] for key in some} == some
    assert await positions.async_read(body, {1}) == {1: some[1]}
    assert await positions.async_read(body) is every


async def test_what_is_not_wanted_is_no_fault(
    devices: ListReader[str, Device], caplog: pytest.LogCaptureFixture
) -> None:
    """Rows without a key are counted in any case, others need not be readable."""
    body = orjson.dumps([*two(groupId="x"), 1, {}])
    read = await devices.async_read(body, {"860000000000022"})
    assert read.keys() == {"860000000000022"}
    assert devices.left_out == 2
    assert devices.unreadable_fields == set()
    assert len(caplog.records) == 1
    with pytest.raises(InvalidResponseError):
        await devices.async_read(b"[{}]", {"860000000000022"})


async def test_each_unreadable_field_is_logged_once(
    devices: ListReader[str, Device], caplog: pytest.LogCaptureFixture
) -> None:
    """A field that stays unreadable is a line in the log and not one a minute."""
    for number in range(3):
        await devices.async_read(orjson.dumps(two(groupId="secret", status=number)))
    assert sorted(record.message for record in caplog.records) == [
        "The server sent a device without a readable groupId, which stays unknown",
        "The server sent a device without a readable status, which stays unknown",
    ]
    assert devices.unreadable_fields == {"groupId", "status"}


async def test_left_out_rows_are_logged_once(
    devices: ListReader[str, Device], caplog: pytest.LogCaptureFixture
) -> None:
    """Until none is left out, and then anew."""
    answers: list[Rows] = [[1], [1], [1, "secret"], [], [None]]
    for number, bad in enumerate(answers):
        await devices.async_read(orjson.dumps([*two(groupId=number), *bad]))
        assert devices.left_out == len(bad)
    assert [record.message for record in caplog.records] == [
        "The server sent 1 elements that are no device and are left out"
    ] * 2
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


async def test_names_of_fields_are_remembered(devices: ListReader[str, Device]) -> None:
    """Which fields came is for diagnostics: the names, and no values."""
    await devices.async_read(orjson.dumps(two(attributes={"key": "secret"})))
    assert devices.seen_fields == {*DEVICE, "attributes"}


async def test_long_lists_leave_the_loop_its_turn(
    devices: ListReader[str, Device],
) -> None:
    """Others run while ten thousand trackers are read."""
    body = orjson.dumps([row(DEVICE, uniqueId=str(n)) for n in range(10_000)])
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    read = await devices.async_read(body)
    task.cancel()
    assert len(read) == 10_000
    assert turns >= 9


@pytest.mark.parametrize(
    "item",
    [b"{}", b"[]", b'{"a":1}', b"1.5", b'{"uniqueId":"a"}', b'{"a":{"a":{"a":0}}}'],
)
async def test_many_small_values(devices: ListReader[str, Device], item: bytes) -> None:
    """16 MiB of tiny values, which would fill the memory, are not read."""
    number = 16 * 2**20 // (len(item) + 1)
    body = b"[" + (item + b",") * number + b"0]"
    tracemalloc.start()
    with pytest.raises(InvalidResponseError, match="too many values"):
        await devices.async_read(body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20


async def test_large_account(devices: ListReader[str, Device]) -> None:
    """Thirty thousand trackers, as talkative as such servers are, are not too many."""
    attributes = {f"attribute{n}": n for n in range(8)}
    more = {"attributes": attributes, "phone": None, "model": None, "contact": None}
    body = orjson.dumps([row(DEVICE, uniqueId=str(n), **more) for n in range(30_000)])
    assert len(body) < 16 * 2**20
    assert len(await devices.async_read(body)) == 30_000


async def test_left_out_of_an_answer_that_comes_again(
    devices: ListReader[str, Device],
) -> None:
    """What is counted is always that of the last answer, however it was read."""
    whole = orjson.dumps(two())
    await devices.async_read(whole)
    broken = orjson.dumps([*two(), *two(), {}])
    await devices.async_read(broken, {"860000000000022"})
    assert devices.left_out == 1

    await devices.async_read(whole)

    assert devices.left_out == 0
