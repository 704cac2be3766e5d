"""Whatever trackers report, in whatever order: rides are told once, kilometres only grow."""

from datetime import timedelta

from hypothesis import given, settings, strategies as st

from custom_components.bike_tracker.account import Track
from custom_components.bike_tracker.account.rides import (
    NEW_TRACK,
    RideNews,
    ended,
    heard,
    silent_at,
)
from custom_components.bike_tracker.api import Position

from .conftest import NOW, a_position

every = settings(deadline=None, derandomize=True, max_examples=300)

# Minutes between reports: under way, at a stop, asleep.
_gaps = st.sampled_from([0.2, 1, 1, 1, 4, 5, 10, 31, 600])
_metres = st.sampled_from([0, 0, 10, 60, 250, 250, 2_000, 90_000])
_says = st.fixed_dictionaries(
    {
        "motion": st.none() | st.booleans(),
        "speed": st.none() | st.sampled_from([0.0, 2.0, 15.0, 100.0]),
        "accuracy": st.sampled_from([0.0, 5.0, 50.0]),
        "total_distance": st.none() | st.floats(0, 10_000),
        "is_fix": st.sampled_from([True, True, True, False]),
    }
)


@st.composite
def _reports(draw: st.DrawFn) -> list[Position]:
    """Draw what a tracker reports, in the order of its clock."""
    time, metres = NOW, 0
    reports = []
    for number, (gap, step, says) in enumerate(
        draw(st.lists(st.tuples(_gaps, _metres, _says), min_size=1, max_size=30)), 1
    ):
        time += timedelta(minutes=gap)
        metres += step
        reports.append(
            a_position(
                number,
                fix_time=time,
                device_time=time,
                latitude=47.9 + metres / 111_195,
                **says,
            )
        )
    return reports


def _story(reports: list[Position]) -> tuple[list[Track], list[RideNews]]:
    """Return how far it came after each, heard of at its time, and what happened."""
    track, told = NEW_TRACK, list[RideNews]()
    tracks = []
    for report in reports:
        assert report.device_time is not None
        at = silent_at(track)
        if at and at <= report.device_time:
            track, news = ended(track)
            tracks.append(track)
            told += news
        track, news = heard(track, report, report.device_time)
        tracks.append(track)
        told += news
    return tracks, told


@every
@given(_reports())
def test_told_once(reports: list[Position]) -> None:
    """Each ride starts and ends, one after the other, and the total grows by their way."""
    tracks, told = _story(reports)
    kinds = [kind for kind, _ in told]
    assert kinds == ["started", "ended"] * (len(kinds) // 2) + ["started"] * (
        len(kinds) % 2
    )
    for (_, start), (_, end) in zip(told[::2], told[1::2], strict=False):
        assert start.started_at == end.started_at <= end.moved_at
    for (_, end), (_, start) in zip(told[1::2], told[2::2], strict=False):
        assert end.moved_at < start.started_at
    totals = [track.total or 0 for track in tracks]
    assert totals == sorted(totals)


@every
@given(_reports(), st.randoms(use_true_random=False))
def test_heard_again(reports: list[Position], random: object) -> None:
    """What comes twice, or late, changes nothing."""
    track = NEW_TRACK
    for number, report in enumerate(reports):
        track, _ = heard(track, report, report.device_time or NOW)
        for again in reports[max(0, number - 3) : number + 1]:
            assert heard(track, again, report.device_time or NOW) == (track, [])
