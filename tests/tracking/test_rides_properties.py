"""Whatever trackers report, in whatever order: rides are fired once, kilometres only grow."""

from datetime import timedelta
from typing import NamedTuple

from hypothesis import given, strategies as st
import pytest

from custom_components.bike_tracker.api.models import Position
from custom_components.bike_tracker.tracking.ride_detection import (
    apply_report,
    end_ride,
    silent_at,
)
from custom_components.bike_tracker.tracking.ride_state import (
    Ride,
    RideEvent,
    RideState,
)

from ..long import examples
from .conftest import NOW, a_position

every = examples(60)

# Minutes between reports: under way, at a stop, asleep.
_gaps = st.sampled_from([0.2, 1, 1, 1, 4, 5, 10, 31, 600, 1_500])
_metres = st.sampled_from([0, 0, 10, -60, 60, 250, -250, 250, 2_000, 90_000])
_says = st.fixed_dictionaries(
    {
        "motion": st.none() | st.booleans(),
        "speed": st.none() | st.sampled_from([0.0, 0.0, 2.0, 15.0, 100.0]),
        "accuracy": st.sampled_from([0.0, 5.0, 50.0]),
        "total_distance": st.none() | st.floats(0, 10_000),
        "is_fix": st.sampled_from([True, True, True, False]),
    }
)
# Hours that a tracker's clock is ahead.
_aheads = st.sampled_from([0, 0, 0, -2, 2])


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


@st.composite
def _received(draw: st.DrawFn) -> list[Position]:
    """Draw what is received them: some late, some again, by whatever clock."""
    reports = draw(_reports())
    numbers = st.integers(0, len(reports) - 1)
    for number, other in draw(st.lists(st.tuples(numbers, numbers), max_size=4)):
        reports[number], reports[other] = reports[other], reports[number]
    for number in sorted(draw(st.lists(numbers, max_size=4)), reverse=True):
        reports.insert(number, reports[number])
    ahead = timedelta(hours=draw(_aheads))
    return [
        report._replace(fix_time=report.fix_time + ahead, device_time=time + ahead)
        for report in reports
        if report.fix_time and (time := report.device_time)
    ]


class _Story(NamedTuple):
    """What is known after each step, and what was told by then."""

    tracks: list[RideState]
    fired: list[RideEvent]

    def add(self, step: tuple[RideState, list[RideEvent]]) -> None:
        """Go on with what is known now, and with what happened."""
        track, news = step
        self.tracks.append(track)
        self.fired.extend(news)


def _story(reports: list[Position]) -> _Story:
    """Return what becomes of reports that are received half a minute apart, or at their time."""
    story, now = _Story([RideState()], []), NOW
    for report in reports:
        assert report.device_time is not None
        now = max(now + timedelta(seconds=30), report.device_time)
        at = silent_at(story.tracks[-1])
        if at and at <= now:
            story.add(end_ride(story.tracks[-1]))
        story.add(apply_report(story.tracks[-1], report, now))
    return story


@every
@given(_received())
def test_fires_once(reports: list[Position]) -> None:
    """Each ride starts, and ends once and after that, before the next one starts."""
    fired = _story(reports).fired
    kinds = [kind for kind, _ in fired]
    assert kinds == ["started", "ended"] * (len(kinds) // 2) + ["started"] * (
        len(kinds) % 2
    )
    for (_, start), (_, end) in zip(fired[::2], fired[1::2], strict=False):
        assert start.started_at == end.started_at <= end.moved_at
    for (_, end), (_, start) in zip(fired[1::2], fired[2::2], strict=False):
        assert end.moved_at < start.started_at


@every
@given(_received())
def test_total(reports: list[Position]) -> None:
    """It never falls, and what adds to it belongs to a ride."""
    tracks = _story(reports).tracks
    totals = [track.total or 0 for track in tracks]
    begin = next(
        (number for number, track in enumerate(tracks) if track.newest_fix),
        len(totals) - 1,
    )
    assert totals[begin:] == sorted(totals[begin:])
    rides: dict[object, Ride] = {}
    for track in tracks:
        known = (track.ended, track.last, track.ride)
        rides |= {ride.started_at: ride for ride in known if ride}
    went = sum(ride.distance for ride in rides.values())
    assert totals[-1] - totals[begin] == pytest.approx(went, abs=1e-6)


@every
@given(_reports())
def test_received_again(reports: list[Position]) -> None:
    """What comes twice, or late, changes nothing."""
    track = RideState()
    for number, report in enumerate(reports):
        track, _ = apply_report(track, report, report.device_time or NOW)
        for again in reports[max(0, number - 3) : number + 1]:
            assert apply_report(track, again, report.device_time or NOW) == (track, [])


@every
@given(_reports())
def test_received_again_of_a_clock_that_is_ahead(reports: list[Position]) -> None:
    """Nor does it go anywhere if its times are not those of the clock."""
    track = RideState()
    for report in reports:
        now = report.device_time or NOW
        ahead = now + timedelta(hours=2)
        report = report._replace(fix_time=ahead, device_time=ahead)
        track, _ = apply_report(track, report, now)
        again, news = apply_report(track, report, now + timedelta(seconds=5))
        assert (again.anchor, again.last_fix) == (track.anchor, track.last_fix)
        assert (again.total, again.ride, news) == (track.total, track.ride, [])
