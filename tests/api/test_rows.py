"""The elements of a list, told apart by their texts and read in portions."""

import asyncio
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from custom_components.bike_tracker.api import Device, InvalidResponseError
from custom_components.bike_tracker.api.reader import ListReader

from .rows import DEVICE, row

type Rows = list[dict[str, Any]]

# More than is decoded at once, a few times over.
MANY = 40_000
PADDING = "x" * 200


@pytest.fixture
def devices() -> ListReader[str, Device]:
    """Return a reader of device lists."""
    return ListReader(Device)


def fleet(number: int, **fields: Any) -> Rows:
    """Return so many devices, the first with other values in these fields."""
    rows = [row(DEVICE, uniqueId=f"{number}", id=number) for number in range(number)]
    return [row(rows[0], **fields), *rows[1:]]


@pytest.fixture
def read_rows(monkeypatch: pytest.MonkeyPatch) -> Rows:
    """Return a list that grows with each row that is looked into."""
    looked_into: Rows = []
    from_row = Device.from_row

    def note(row: dict[str, Any], *args: Any) -> Device | None:
        looked_into.append(row)
        return from_row(row, *args)

    monkeypatch.setattr(Device, "from_row", note)
    return looked_into


async def test_only_what_is_new_is_read(
    devices: ListReader[str, Device], read_rows: Rows
) -> None:
    """Whatever the order, no row is looked into that was in the last answer."""
    for option in (orjson.OPT_INDENT_2, None):
        await devices.async_read(orjson.dumps(fleet(50), option=option))
    read_rows.clear()

    changed = fleet(50, status="offline")
    read = await devices.async_read(orjson.dumps(changed[::-1]) + b"\n")

    assert read_rows == changed[:1]
    assert read["0"].status == "offline"
    assert len(read) == 50


@pytest.mark.parametrize(
    "oddity",
    [
        {"tags": [{"a": 1}, {"b": 2}, {"c": 3}]},
        {"tags": [{"uniqueId": "1"}, {"uniqueId": "x", "id": 7}, {"uniqueId": "1"}]},
        {"name": "},{"},
        {"name": '"},{"uniqueId":"x'},
        {"name": "}]"},
        {"name": "[{"},
        {"group": {"group": {"group": {}}}},
    ],
)
async def test_texts_that_mislead(
    devices: ListReader[str, Device],
    oddity: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What looks like the end of a row within one is not taken for it."""
    for changes in ({}, {"status": "offline"}, {"disabled": True}, {}):
        rows = fleet(3, **oddity, **changes)
        read = await devices.async_read(orjson.dumps(rows))
        assert read.keys() == {"0", "1", "2"}
        assert read["0"].status == changes.get("status", "online")
        assert read["0"].disabled is changes.get("disabled", False)
        assert devices.left_out == 0
    assert not caplog.records


@pytest.mark.parametrize(
    "write",
    [
        lambda rows: orjson.dumps(rows, option=orjson.OPT_INDENT_2),
        lambda rows: orjson.dumps(rows).replace(b"},{", b"} , {"),
        lambda rows: b" \t" + orjson.dumps(rows) + b"\r\n",
    ],
    ids=["indented", "spaces between", "spaces around"],
)
async def test_spaces(
    devices: ListReader[str, Device], write: Callable[[Rows], bytes]
) -> None:
    """However it is written, what did not change is the same object."""
    before = await devices.async_read(orjson.dumps(fleet(3)))
    assert await devices.async_read(write(fleet(3))) is before
    after = await devices.async_read(write(fleet(3, status="offline")))
    assert after["0"].status == "offline"
    assert after["1"] is before["1"]


async def test_a_tracker_listed_twice_and_once_again(
    devices: ListReader[str, Device],
) -> None:
    """Of two with one key the newest counts, as long as there are two."""
    one = fleet(2)
    newer = row(one[0], name="Newer", lastUpdate="2026-11-21T07:00:00.000+0000")
    for rows, name in (
        (one, "Red bike"),
        ([*one, newer], "Newer"),
        (one, "Red bike"),
        ([newer, one[1]], "Newer"),
        ([one[1]], None),
        ([*one, {**one[0], "attributes": {}}], "Red bike"),
        ([one[1], {**one[0], "attributes": {}}], "Red bike"),
    ):
        read = await devices.async_read(orjson.dumps(rows))
        assert (read["0"].name if name else read.get("0")) == name
        assert "1" in read


async def test_left_out_rows_are_counted_while_they_are_there(
    devices: ListReader[str, Device],
) -> None:
    """The number follows the answer."""
    nobody = {"name": "no key"}
    answers: list[Rows] = [[], [{}], [{}, nobody], [nobody], [{}, {}], []]
    for bad in answers:
        await devices.async_read(orjson.dumps([*fleet(2), *bad]))
        assert devices.left_out == len(bad)


@pytest.mark.parametrize("indented", [False, True])
async def test_many_megabytes(devices: ListReader[str, Device], indented: bool) -> None:
    """They are read like any list, and the others have their turn meanwhile."""
    option = orjson.OPT_INDENT_2 if indented else None
    rows = fleet(MANY, remarks=PADDING)
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    read = await devices.async_read(orjson.dumps(rows, option=option))
    task.cancel()

    assert len(read) == MANY
    assert turns > 30


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: body[:-1],
        lambda body: body + b"]",
        lambda body: body[:-1] + b",]",
        lambda body: body.replace(b"},", b"}", 1),
        lambda body: b"{}" + body,
        lambda body: body.replace(b"Red", b"\xff", 1),
    ],
    ids=["open", "closed twice", "a comma too many", "one too few", "two", "no text"],
)
async def test_many_megabytes_of_no_list(
    devices: ListReader[str, Device], spoil: Callable[[bytes], bytes]
) -> None:
    """It is an error, and what was known stays."""
    good = orjson.dumps(fleet(3))
    before = await devices.async_read(good)
    body = orjson.dumps(fleet(MANY), option=orjson.OPT_INDENT_2)

    with pytest.raises(InvalidResponseError) as caught:
        await devices.async_read(spoil(body))

    assert caught.value.__context__ is None
    assert await devices.async_read(good) is before
