"""Random answers lead to a valid result or to an expected error."""

from contextlib import suppress
from datetime import datetime
import json
from typing import Any

from hypothesis import HealthCheck, given, strategies as st

from custom_components.bike_tracker.api.errors import InvalidResponseError
from custom_components.bike_tracker.api.models import DeviceReader, read_positions

from .long import examples

any_text = st.text(st.characters(codec="utf-8"))
_floats = st.floats(allow_nan=False, allow_infinity=False)
_booleans = st.booleans()
any_json = st.recursive(
    st.none() | _booleans | st.integers(-(10**300), 10**300) | _floats | any_text,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4)
    ),
    max_leaves=12,
)
_timestamps = st.builds(
    lambda moment, offset: moment.isoformat(timespec="milliseconds") + offset,
    st.datetimes(datetime(1969, 1, 1), datetime(2100, 1, 1)),
    st.sampled_from(["+0000", "+00:00", "Z", "+0530", "-1200", "", "+9999"]),
)
_ids = st.integers(-2, 3)
_names = any_text | st.sampled_from(["Red bike", " Red\tbike\n", "\u202e", "x" * 200])
_coordinates = st.sampled_from([0, 0.0, -0.0, 47.9, -90, 90.5, 180, -180.5])
_measures = _floats | st.integers(-2_000, 30_000)
_attributes: dict[str, st.SearchStrategy[Any]] = {
    "batteryLevel": _measures | any_json,
    "motion": _booleans | any_json,
    "bluetoothKey": any_text,
}


def _lists(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Return a strategy for lists of rows. Most of their fields are right, some have random values, some are missing."""
    fields = {name: good | good | good | any_json for name, good in values.items()}
    rows = st.fixed_dictionaries(fields) | st.fixed_dictionaries({}, optional=fields)
    return st.lists(rows | rows | rows | any_json, max_size=6)


devices = _lists(
    **dict.fromkeys(("id", "positionId", "groupId"), _ids),
    name=_names,
    uniqueId=st.sampled_from(["1", "2", "860000000000011", "ü", ""]),
    status=st.sampled_from(["online", "offline", "unknown", "Online"]),
    lastUpdate=_timestamps,
    disabled=_booleans,
)
positions = _lists(
    **dict.fromkeys(("id", "deviceId"), _ids),
    **dict.fromkeys(("fixTime", "deviceTime"), _timestamps),
    **dict.fromkeys(("latitude", "longitude"), _coordinates),
    **dict.fromkeys(("accuracy", "altitude", "speed", "course"), _measures),
    valid=_booleans,
    address=_names,
    attributes=st.fixed_dictionaries({}, optional=_attributes),
)


@examples(60, suppress=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    answer=(devices | positions | any_json).map(json.dumps).map(str.encode)
    | st.binary()
)
def test_any_answer(answer: bytes) -> None:
    """With any answer, the readers of devices and positions return a result or raise the client's own error."""
    for read in (DeviceReader().read, read_positions):
        with suppress(InvalidResponseError):
            read(answer)
