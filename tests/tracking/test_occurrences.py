"""Each occurrence is fired once, in order, whatever comes in between."""

from hypothesis import given, strategies as st

from custom_components.bike_tracker.tracking.occurrences import MAX_WAITING, kept
from custom_components.bike_tracker.tracking.state import TrackerState

from ..long import examples
from .conftest import NOW, Listener

happens = st.sampled_from(["alarm_raised", "ride_started", "went_offline"])
steps = st.lists(happens | st.sampled_from(["fire", "write", "kill"]), max_size=40)


@examples(100)
@given(steps=steps)
def test_once_and_in_order(steps: list[str]) -> None:
    """A kill fires again what was fired since the last write, and loses what was new."""
    story, listener, fired = TrackerState(), Listener(), list[int]()
    written = (story.occurrences, 0, 0)
    for step in steps:
        if step == "fire":
            fired += [item.seq for item in listener.fired(story)]
        elif step == "write":
            occurrences = kept(story.occurrences, listener.last_fired)
            written = (occurrences, listener.last_fired, len(fired))
        elif step == "kill":
            story = story._replace(occurrences=written[0])
            listener, fired = Listener(written[1]), fired[: written[2]]
        else:
            story = story.with_occurrence(step, NOW, NOW)  # type: ignore[arg-type]
    fired += [item.seq for item in listener.fired(story)]
    assert fired == list(range(1, len(fired) + 1))


def test_storm() -> None:
    """The oldest alarms go; what else happened stays."""
    story = TrackerState().with_occurrence("ride_started", NOW, NOW)
    for _ in range(MAX_WAITING + 20):
        story = story.with_occurrence("alarm_raised", NOW, NOW)
    occurrences = story.occurrences
    assert len(occurrences) == MAX_WAITING + 1
    assert occurrences[0].type == "ride_started"
    assert occurrences[-1].seq == MAX_WAITING + 21


def test_kept() -> None:
    """The newest event of each type stays, and so do those still to be fired."""
    story = TrackerState()
    for step in ("alarm_raised", "alarm_raised", "ride_started", "ride_ended"):
        story = story.with_occurrence(step, NOW, NOW)
    for _ in range(2):
        story = story.with_occurrence("went_offline", NOW, NOW)
    assert [it.seq for it in kept(story.occurrences, 6)] == [2, 3, 4, 6]
    assert [it.seq for it in kept(story.occurrences, 4)] == [2, 3, 4, 5, 6]
