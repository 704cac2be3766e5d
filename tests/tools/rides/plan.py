"""When a person rides: to work and back, at weekends, not in winter; and what goes wrong."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from random import Random

from tests.tools.simulator.streets import HOME

from .home import Span
from .trips import Journey, Trip

BEGIN = date(2026, 3, 1)
# A town through which it takes half an hour.
_TOWN = 6
_LONGEST_OUTAGE = 180


def a_journey(seed: int, days: int) -> Journey:
    """Return so many days of a person who rides."""
    random = Random(f"journey-{seed}")  # noqa: S311 - no secret
    place, trips = HOME, list[Trip]()
    for number in range(days):
        for starts_at in _rides_of(random, BEGIN + timedelta(days=number)):
            if trips and starts_at < trips[-1].ends_at + timedelta(minutes=40):
                continue
            trips.append(Trip(random, starts_at, place, random.randint(1, 3), _TOWN))
            place = trips[-1].end
    return Journey(trips)


def _rides_of(random: Random, day: date) -> Iterator[datetime]:
    """Yield when rides of a day start; in winter the bike is in the cellar."""
    if (day.month, day.day) >= (12, 15) or (day.month, day.day) < (2, 15):
        return
    begin = datetime.combine(day, time(), UTC)
    if day.weekday() < 5:
        hours = [random.gauss(7.5, 0.3), random.gauss(17, 0.7)]
    elif random.random() < 0.6:
        hours = [random.uniform(9, 12), random.uniform(13, 16), random.uniform(17, 20)]
    else:
        hours = []
    for hour in hours:
        if random.random() < 0.9:
            yield begin + timedelta(hours=hour)


def outages(journey: Journey, seed: int, end: datetime) -> list[Span]:
    """Return when the service is out of reach, twice a week, for minutes or hours.

    Of two rides in one outage nobody could tell the first.
    """
    random = Random(f"outages-{seed}")  # noqa: S311 - no secret
    spans = list[Span]()
    now = datetime.combine(BEGIN, time(1), UTC)
    while (now := now + timedelta(hours=random.uniform(12, 156))) < end:
        span = Span(now, now + timedelta(minutes=random.uniform(3, _LONGEST_OUTAGE)))
        if (
            sum(overlaps(trip, span, timedelta(minutes=40)) for trip in journey.trips)
            < 2
        ):
            spans.append(span)
        now = span.end
    return spans


def overlaps(trip: Trip, span: Span, margin: timedelta) -> bool:
    """Return whether a trip is in a span of time, or near to it."""
    return trip.starts_at - margin < span.end and span.begin < trip.ends_at + margin


def restarts(seed: int, end: datetime) -> list[datetime]:
    """Return when Home Assistant is restarted, about once a week."""
    random = Random(f"restarts-{seed}")  # noqa: S311 - no secret
    now, times = datetime.combine(BEGIN, time(1), UTC), list[datetime]()
    while (now := now + timedelta(hours=random.uniform(24, 300))) < end:
        times.append(now)
    return times
