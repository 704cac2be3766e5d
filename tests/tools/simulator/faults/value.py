"""Faults of single values: fields, times, numbers, names and duplicates."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone
import json

from aiohttp import web

from tests.tools.simulator.render import DEVICE_FIELDS, timestamp
from tests.tools.simulator.world import Json

from .fault import Call, Fault, Item, Respond, as_json

TIME_FIELDS = ("lastUpdate", "fixTime", "deviceTime", "serverTime")
NUMBER_FIELDS = (
    "id",
    "positionId",
    "groupId",
    "latitude",
    "longitude",
    "altitude",
    "speed",
    "course",
    "accuracy",
)

WRONG_TYPES: Mapping[str, Json] = {
    "id": "1001",
    "name": 42,
    "uniqueId": 860000000000001,
    "status": True,
    "lastUpdate": 1_795_000_000,
    "positionId": [500_001],
    "groupId": "none",
    "disabled": "false",
}

_INDIA = timezone(timedelta(hours=5, minutes=30))

TIMES: Mapping[str, Callable[[datetime], Json]] = {
    "colon": lambda moment: timestamp(moment, "+00:00"),
    "z": lambda moment: timestamp(moment, "Z"),
    "no-millis": lambda moment: f"{moment:%Y-%m-%dT%H:%M:%S}Z",
    "micros": lambda moment: f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z",
    "space": lambda moment: f"{moment:%Y-%m-%d %H:%M:%S}+0000",
    "other-offset": lambda moment: f"{moment.astimezone(_INDIA):%Y-%m-%dT%H:%M:%S%z}",
    "no-offset": lambda moment: f"{moment:%Y-%m-%dT%H:%M:%S}",
    "epoch": lambda moment: int(moment.timestamp()),
    "1970": lambda _: "1970-01-01T00:00:00.000+0000",
    "future": lambda _: "2999-12-31T23:59:59.999+0000",
    "nonsense": lambda _: "yesterday",
}

NUMBERS: Mapping[str, str] = {
    "64-bit": "18446744073709551616",
    "400-digits": "9" * 400,
    "infinite": "1e400",
    "fraction": "1.5",
}

NAMES: Mapping[str, str] = {
    "control": "a\x00b\x07c\x1b[31md\r\ne\x7f\u0085",
    "surrogate": "half \ud83d of a pair",
    "empty": "",
    "blank": " \t\u00a0\n",
}


def _json(items: list[Item]) -> web.StreamResponse:
    return as_json(json.dumps(items))


def _without(name: str) -> Respond:
    return lambda call: _json(
        [{key: item[key] for key in item if key != name} for item in call.items]
    )


def _with(fields: Item) -> Respond:
    return lambda call: _json([item | fields for item in call.items])


def _times(write: Callable[[datetime], Json]) -> Respond:
    def changed(item: Item) -> Item:
        return item | {
            name: write(datetime.fromisoformat(str(item[name])).astimezone(UTC))
            for name in TIME_FIELDS
            if name in item
        }

    return lambda call: _json([changed(item) for item in call.items])


def _numbers(literal: str) -> Respond:
    """Return a function that writes this text in place of each number, without quotes, even if it is not valid JSON."""

    def changed(item: Item) -> Item:
        return item | {name: "@" for name in NUMBER_FIELDS if name in item}

    return lambda call: as_json(
        json.dumps([changed(item) for item in call.items]).replace('"@"', literal)
    )


def _twice(call: Call) -> web.StreamResponse:
    """List each tracker twice. Alternately, the older entry comes before the newer entry, or after it."""
    items: list[Item] = []
    for number, item in enumerate(call.items):
        old: Item = item | {
            "id": -1 - number,
            "name": "Older",
            "lastUpdate": "2001-01-01T00:00:00.000+0000",
        }
        items += [item, old] if number % 2 else [old, item]
    return _json(items)


def _same_id(call: Call) -> web.StreamResponse:
    return _json([item | {"id": call.items[0]["id"]} for item in call.items])


def _fields() -> list[Fault]:
    faults = []
    for name in DEVICE_FIELDS:
        ways: dict[str, tuple[str, Respond]] = {
            "missing": ("is missing", _without(name)),
            "null": ("is null", _with({name: None})),
            "type": ("has another type", _with({name: WRONG_TYPES[name]})),
        }
        faults += [
            Fault(
                f"field-{name}-{way}",
                f"`{name}` {what} in each device",
                respond,
                endpoints=("devices",),
            )
            for way, (what, respond) in ways.items()
        ]
    return faults


SAMPLE = datetime(2026, 11, 20, 6, 30, 15, 250_000, UTC)

VALUE_FAULTS = (
    *_fields(),
    Fault(
        "fields-unknown",
        "fields that nobody has heard of",
        _with({"": 1, "future": {"deep": [None]}, "__class__": "x", "Name": "y"}),
    ),
    Fault(
        "duplicate-unique-id",
        "each tracker is listed twice, once with an older lastUpdate",
        _twice,
        endpoints=("devices",),
    ),
    Fault(
        "duplicate-id",
        "all trackers have the same id",
        _same_id,
        endpoints=("devices",),
    ),
    Fault(
        "duplicate-all",
        "everything is listed twice",
        lambda call: _json(call.items * 2),
    ),
    *(
        Fault(f"time-{name}", f"timestamps such as {write(SAMPLE)!a}", _times(write))
        for name, write in TIMES.items()
    ),
    *(
        Fault(f"number-{name}", f"numbers such as {literal[:24]}", _numbers(literal))
        for name, literal in NUMBERS.items()
    ),
    *(
        Fault(
            f"name-{name}",
            f"names such as {value[:24]!a}",
            _with({"name": value}),
            endpoints=("devices",),
        )
        for name, value in NAMES.items()
    ),
)
