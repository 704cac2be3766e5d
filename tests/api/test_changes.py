"""Following what changes, without looking at everything."""

from contextlib import suppress
from typing import Any

from hypothesis import given, strategies as st
import orjson

from custom_components.bike_tracker.api import Device
from custom_components.bike_tracker.api.errors import InvalidResponseError
from custom_components.bike_tracker.api.lists import ListReader
from tests.long import examples

A, B, C = {"a": 1}, {"a": 2, "b": 2}, {"b": 2}

rows = st.fixed_dictionaries(
    {
        "uniqueId": st.sampled_from("abc"),
        "name": st.sampled_from("xy"),
        "attributes": st.integers(min_value=0, max_value=1),
    }
)
lists = st.lists(rows, max_size=4, unique_by=lambda row: (row["uniqueId"], row["name"]))
answers = st.binary(max_size=2) | lists.map(orjson.dumps)


@examples(30)
@given(polls=st.lists(st.tuples(answers, st.booleans()), max_size=8))
def test_follower(polls: list[tuple[bytes, bool]]) -> None:
    """Who follows the changes has the same picture as who looks at everything.

    However many answers are no lists, and however many lists it does not look at.
    """
    reader = ListReader[str, Device](Device)
    known: Any = {}
    picture: dict[str, Device] = {}
    for body, looks in [*polls, (b"[]", False), (b'[{"uniqueId":"a"}]', True)]:
        changes = None
        with suppress(InvalidResponseError):
            changes = reader.read(body)
        if changes is None:
            continue
        assert (changes.after is changes.before) is (changes.after == changes.before)
        if not looks:
            continue
        for key in changes.changed_since(known):
            if key in changes.after:
                picture[key] = changes.after[key]
            else:
                del picture[key]
        assert picture == changes.after
        assert all(picture[key] is device for key, device in changes.after.items())
        known = changes.after
