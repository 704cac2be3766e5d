"""Bikes ride along the streets of a town."""

from datetime import timedelta
from itertools import combinations, pairwise
from math import cos, radians
from typing import Any

import pytest

from tests.tools.simulator import Fleet, SimPosition, World
from tests.tools.simulator.streets import (
    HOME,
    JUNCTIONS,
    METRES_PER_DEGREE,
    STREETS,
    WERDERPLATZ,
    Point,
    Route,
    course,
    metres,
)

HOUR = 3600


def world_after(seconds: float, *, trackers: int = 5, seed: int = 1) -> World:
    """Let a new fleet ride for a while."""
    world = World()
    Fleet(world, trackers=trackers, seed=seed).advance(seconds)
    return world


def places(world: World) -> list[tuple[str, float, float, str, bool]]:
    """Return all that a fleet changes."""
    return [
        (d.unique_id, d.position.latitude, d.position.longitude, d.status, d.disabled)
        for d in world.devices.values()
        if d.position
    ]


def off_the_street(point: Point) -> float:
    """Return the metres to the nearest street."""
    legs = [
        leg
        for stretches in STREETS.values()
        for stretch in stretches
        for leg in pairwise(stretch)
    ]
    return min(_distance(point, *leg) for leg in legs)


def _distance(point: Point, start: Point, end: Point) -> float:
    scale = METRES_PER_DEGREE * cos(radians(start[0]))
    along = complex(end[0] - start[0], 0) * METRES_PER_DEGREE + complex(
        0, (end[1] - start[1]) * scale
    )
    away = complex((point[0] - start[0]) * METRES_PER_DEGREE, 0) + complex(
        0, (point[1] - start[1]) * scale
    )
    share = (away * along.conjugate()).real / abs(along) ** 2
    return abs(away - along * min(1.0, max(0.0, share)))


def test_the_same_seed_gives_the_same_rides() -> None:
    """However the time is cut, and whatever the size of the fleet."""
    assert places(world_after(HOUR)) == places(world_after(HOUR))
    assert places(world_after(HOUR)) != places(world_after(HOUR, seed=2))
    assert places(world_after(HOUR, trackers=9))[:5] == places(world_after(HOUR))
    world = World()
    fleet = Fleet(world, trackers=5, seed=1)
    for _ in range(HOUR * 2):
        fleet.advance(0.5)
    assert places(world) == places(world_after(HOUR))


def test_bikes_stay_on_the_streets() -> None:
    """Every reported place is on one, and bikes get around."""
    world = World()
    fleet = Fleet(world, trackers=8, seed=1)
    seen = set()
    for _ in range(360):
        fleet.advance(10)
        seen |= {(place[1], place[2]) for place in places(world)}
    assert len(seen) > 200
    assert max(off_the_street(point) for point in seen) < 1


def test_a_ride_reads_like_one() -> None:
    """Speed in knots fits the distance, and stands still in the end."""
    world = World()
    fleet = Fleet(world, trackers=1, seed=1)
    reports: list[SimPosition] = []
    for _ in range(60):
        fleet.advance(10)
        [device] = world.devices.values()
        assert device.position is not None
        reports.append(device.position)
    rides = [
        (before, after)
        for before, after in pairwise(reports)
        if before.speed and after.speed and after.id != before.id
    ]
    assert rides
    for before, after in rides:
        assert after.attributes["motion"] is True
        assert 0 <= after.course < 360
        way = metres(
            (before.latitude, before.longitude), (after.latitude, after.longitude)
        )
        # As the crow flies it is a little less around a corner.
        assert way <= after.speed * 0.514444 * 10 + 1
    stops = [report for report in reports if report.attributes["motion"] is False]
    assert {report.speed for report in stops} == {0}


def test_every_other_bike_tells_of_itself() -> None:
    """It is locked and charged while it rests, and says so when it is shaken."""
    world = World()
    fleet = Fleet(world, trackers=2, seed=1)
    city_bike, gravel_bike = world.devices.values()
    seen: dict[int, SimPosition] = {}
    for _ in range(360):
        fleet.advance(10)
        assert city_bike.position
        assert gravel_bike.position
        assert not {"lock", "charge", "alarm"} & gravel_bike.position.attributes.keys()
        seen[city_bike.position.id] = city_bike.position
    assert (city_bike.model, gravel_bike.model) == ("BT-200", None)
    told: list[dict[str, Any]] = [dict(report.attributes) for report in seen.values()]
    for attributes in told:
        assert attributes["lock"] is attributes["charge"] is not attributes["motion"]
        assert 3.4 <= attributes["battery"] <= 4.2
    shaken = [attributes for attributes in told if "alarm" in attributes]
    assert 0 < len(shaken) < 10
    assert {attributes["alarm"] for attributes in shaken} == {"vibration"}
    assert {attributes["motion"] for attributes in shaken} == {False}
    ways = [attributes["totalDistance"] for attributes in told]
    assert ways == sorted(ways)
    assert ways[-1] > 1_000


def test_the_first_bike_starts_at_home_and_leaves() -> None:
    """Whoever looks at the demo sees something happen within a minute."""
    world = World()
    fleet = Fleet(world, trackers=1, seed=1)
    [device] = world.devices.values()
    assert device.position is not None
    assert (device.position.latitude, device.position.longitude) == HOME
    fleet.advance(60)
    assert metres(HOME, (device.position.latitude, device.position.longitude)) > 100


def test_bikes_come_and_go() -> None:
    """Within a day trackers are online and offline, enabled and disabled, and reports use battery."""
    world = World()
    fleet = Fleet(world, trackers=20, seed=1)
    statuses, flags, batteries = set(), set(), set()
    for _ in range(240):
        fleet.advance(360)
        statuses |= {device.status for device in world.devices.values()}
        flags |= {device.disabled for device in world.devices.values()}
        batteries |= {
            device.position.attributes["batteryLevel"]
            for device in world.devices.values()
            if device.position
        }
    assert statuses == {"online", "offline"}
    assert flags == {True, False}
    assert len(batteries) > 20


def test_trackers_look_like_trackers() -> None:
    """Fifteen digits each, friendly names, none twice."""
    world = world_after(0, trackers=100)
    assert len({device.name for device in world.devices.values()}) == 100
    assert {len(unique_id) for unique_id in world.devices} == {15}


def test_initials_differ() -> None:
    """On the map each bike is seen by its initials."""
    names = [device.name for device in world_after(0, trackers=8).devices.values()]
    assert len({tuple(word[0] for word in name.split()) for name in names}) == 8


def test_a_deleted_bike_rides_no_more() -> None:
    """The rest of the fleet goes on."""
    world = World()
    fleet = Fleet(world, trackers=2, seed=1)
    world.delete_device(next(iter(world.devices)))
    fleet.advance(HOUR)
    assert len(world.devices) == 1


@pytest.mark.parametrize(("start", "end"), combinations(JUNCTIONS, 2))
def test_there_is_a_way_from_everywhere_to_everywhere(start: Point, end: Point) -> None:
    """And the same way back."""
    route = Route(start, end)
    assert route.length == pytest.approx(Route(end, start).length)
    assert metres(start, end) - 0.001 <= route.length < 2000


def test_a_route_starts_and_ends_where_it_says() -> None:
    """In the end it stays at the end."""
    route = Route(HOME, WERDERPLATZ)
    assert route.at(0).point == HOME
    assert route.at(route.length).point == WERDERPLATZ
    assert route.at(route.length + 1000).point == WERDERPLATZ


@pytest.mark.parametrize(
    ("end", "expected"),
    [((50.0, 8.0), 0), ((49.0, 9.0), 90), ((48.0, 8.0), 180), ((49.0, 7.0), 270)],
)
def test_course(end: Point, expected: float) -> None:
    """Degrees clockwise from north."""
    assert course((49.0, 8.0), end) == pytest.approx(expected)


def test_ride_that_nobody_saw() -> None:
    """It leads there and back, in the last half hour; only that the bike is back is told."""
    world = World()
    fleet = Fleet(world, trackers=2, seed=1)
    fleet.advance(400)
    bike = fleet.unique_ids[1]
    seen = len(world.reports[bike])
    fleet.ride_unseen(bike)
    *ride, last = list(world.reports[bike])[seen:]
    assert world.devices[bike].position == last
    legs = [
        metres((start.latitude, start.longitude), (end.latitude, end.longitude))
        for start, end in pairwise(ride)
    ]
    assert 20 < min(legs) < max(legs) < 61
    assert (last.latitude, last.longitude) == (ride[-1].latitude, ride[-1].longitude)
    times = [report.fix_time for report in ride]
    assert times == sorted(times)
    assert last.fix_time - times[0] < timedelta(minutes=30)
    assert last.fix_time - times[-1] > timedelta(minutes=5)
