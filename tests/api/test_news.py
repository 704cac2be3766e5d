"""Following what changes, without looking at everything."""

from contextlib import suppress
from typing import Any

from hypothesis import given, strategies as st
import orjson

from custom_components.bike_tracker.api import Device, InvalidResponseError, News
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


def test_nothing_changed() -> None:
    """Whoever saw what is there now has nothing to look at."""
    assert not News(A, A, frozenset()).since(A)
    assert not News(A, B, {"a", "b"}).since(B)


def test_what_changed() -> None:
    """Whoever saw what was there before looks at what is news."""
    changed = {"a", "b"}
    assert News(A, B, changed).since(A) == changed


def test_something_missed() -> None:
    """Whoever saw anything else looks at all there is, and at all that was."""
    assert News(B, C, {"a"}).since(A) == {"a", "b"}
    assert News(B, C, {"a"}).since({}) == {"b"}


def test_equal_is_not_enough() -> None:
    """An equal mapping may be of another time, after which something changed twice."""
    assert News(A, B, {"b"}).since(dict(A)) == {"a", "b"}


@examples(30)
@given(polls=st.lists(st.tuples(answers, st.booleans()), max_size=8))
def test_follower(polls: list[tuple[bytes, bool]]) -> None:
    """Who follows the news has the same picture as who looks at everything.

    However many answers are no lists, and however many lists it does not look at.
    """
    reader = ListReader[str, Device](Device)
    known: Any = {}
    picture: dict[str, Device] = {}
    for body, looks in [*polls, (b"[]", False), (b'[{"uniqueId":"a"}]', True)]:
        news = None
        with suppress(InvalidResponseError):
            news = reader.read(body)
        if news is None:
            continue
        assert (news.now is news.before) is (news.now == news.before)
        if not looks:
            continue
        for key in news.since(known):
            if key in news.now:
                picture[key] = news.now[key]
            else:
                del picture[key]
        assert picture == news.now
        assert all(picture[key] is device for key, device in news.now.items())
        known = news.now
