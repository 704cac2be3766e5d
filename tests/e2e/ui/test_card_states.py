"""Tests of the cards with all kinds of bikes and rides. A stub replaces Home Assistant."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
import re

from playwright.async_api import Browser, expect
import pytest
import pytest_asyncio

from tests.e2e.browser import DESKTOP, new_context
from tests.tools.demo.furnish import encode
from tests.tools.simulator.streets import HOME, WERDERPLATZ

from .stub import House, Stub, bike, house, ride

pytestmark = pytest.mark.asyncio(loop_scope="session")

_NOON = datetime.now(UTC).replace(hour=11, minute=0, second=0, microsecond=0)
_YESTERDAY = _NOON - timedelta(days=1)
_TIME = _YESTERDAY.isoformat()
_MIDNIGHT = _YESTERDAY.replace(hour=22, minute=45)
_GONE = dict.fromkeys(("tracker", "online", "battery", "ride"), "unavailable")
_NOT_SET_UP = {"tracker": {"state": "unavailable", "attributes": {"restored": True}}}
_MARKUP = '<img src=x onerror="window.isHacked=1"><b>bike</b>'
_MILES = {"time_zone": "UTC", "unit_system": {"length": "mi"}}
_COME_BACK = "map => { map.dispatchEvent(new Event('wheel')); map.fitted = []; const card = map.getRootNode().host; card.parentNode.append(card); return new Promise(done => setTimeout(() => done(map.fitted.length), 99)); }"
_BEGINS_AT_THE_LEFT = "({ firstChild: text }) => { const range = new Range(); range.selectNode(text); const { x } = range.getBoundingClientRect(); range.setEnd(text, 1); return x === range.getBoundingClientRect().x; }"
_ALL_FIT = "all => all.filter((it) => it.scrollWidth > Math.min(it.clientWidth, it.parentElement.clientWidth) || it.clientHeight > 10 * parseFloat(getComputedStyle(it).fontSize)).map((it) => it.textContent)"
_GROW = "size => { document.body.style.fontSize = `${size}px`; }"
_LABELS_FIT = "all => all.every((it, i) => it.parentElement.ariaLabel.includes(it.textContent) && parseFloat(getComputedStyle(it).fontSize) >= 12 && it.getBoundingClientRect().right <= (all[i + 1]?.getBoundingClientRect().x ?? innerWidth))"
_COUNT_MOVED = "alarm => { window.moved = 0; const count = (all) => all.forEach((it) => (moved += it.addedNodes.length)); new MutationObserver(count).observe(alarm.parentElement, { childList: true }); }"
_COUNT_CREATED = "() => { window.created = 0; const create = document.createElement; document.createElement = (...all) => (created++, create.apply(document, all)); }"
_COUNT_IN_ORDER = "all => all.map((it) => it.firstChild.dataset.ride.split(' ')[1]).filter((at, i, all) => !i || at < all[i - 1]).length"
_RING = "it => { const { backgroundColor, outlineColor, outlineStyle } = getComputedStyle(it); return [outlineStyle, backgroundColor !== outlineColor]; }"
_AWAY: House = {
    "tracker": {"state": "not_home", "attributes": {"latitude": 49.4}},
    "address": "Am Bach 3",
}


def _stolen(**attributes: object) -> House:
    return {"state": "triggered", "attributes": {"since": _TIME, **attributes}}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def page_with_cards(browser: Browser) -> AsyncIterator[Stub]:
    """Yield a page that has loaded the cards. All tests of this file share it."""
    async with await new_context(browser, DESKTOP) as context:
        yield await Stub.create(context)


def _since(time: datetime, state: str) -> House:
    return {"state": state, "attributes": {}, "last_changed": time.isoformat()}


def _history(*places: tuple[float, ...]) -> House:
    """Return the recorded history of the tracker of Bike 1: a state for each place. An empty place is an outage."""
    keys = ("latitude", "longitude")
    states = [{"a": dict(zip(keys, it, strict=False)), "lu": 1e9} for it in places]
    return {"tracker.bike1": states}


@pytest_asyncio.fixture(loop_scope="session")
async def stub(page_with_cards: Stub) -> AsyncIterator[Stub]:
    """Yield the shared page without cards. During the test, the page must not raise an error."""
    await page_with_cards.clear()
    yield page_with_cards
    assert page_with_cards.errors == []


_STATES = {
    "no bikes": (house(), "No bikes found.", "No bikes found.", "No bikes found."),
    "one bike": (house(bike(1)), "Bike 1 Home 74 % Guard", "No rides yet.", "0.0 km"),
    "the service is down": (
        house(bike(1, **_GONE), rides=[ride(_YESTERDAY)]),
        "Bike 1 No contact Guard",
        "10.0 km · 30 min · max. 32 km/h",
        "10.0 km",
    ),
    "the account is not loaded": (
        house(bike(1, **_GONE | _NOT_SET_UP, guard="unavailable"), error="Called"),
        "No contact",
        "No contact",
        "No contact",
    ),
    "another bike is not permitted": (
        house(bike(1), bike(2, tracker=None), rides=[ride(_YESTERDAY), ride(_NOON, 2)]),
        "Bike 1 Home",
        "Bike 1",
        "This week · 10.0 km",
    ),
    "a ride across midnight": (
        house(bike(1), rides=[ride(_MIDNIGHT)]),
        "Bike 1",
        f"11:45\u202fPM – {_NOON:%A, %B %-d}, 12:15\u202fAM",
        "10.0 km",
    ),
    "miles": (
        house(bike(1), rides=[ride(_YESTERDAY)], config=_MILES),
        "Bike 1",
        "6.2 mi · 30 min · max. 20 mph",
        f"{_NOON - timedelta(7):%-d/%-m} Bike 1 6.2 mi",
    ),
    "an alarm": (
        house(bike(1, guard=_stolen(cause="alarm"))),
        "Bike 1: Alarm Since",
        "No rides yet.",
        "0.0 km",
    ),
}
"""By name: a house, and the texts that the cards *Bikes*, *Rides* and *Distance* show for it."""


async def test_long_names(stub: Stub) -> None:
    """On a phone, an alarm, the distance card and the list of rides show even a long name of a bike in full, once the account is loaded."""
    await stub.page.set_viewport_size({"width": 320, "height": 844})
    await stub.show(house(bike(1, **_NOT_SET_UP), bike(2, **_NOT_SET_UP)))
    long = bike(1, guard=_stolen()) | {"name": "Henrietta's Reiseliegerad"}
    await stub.show(house(long, bike(2), rides=[ride(_YESTERDAY)]))
    await expect(stub.distance.get_by_text("Henrietta's")).to_be_visible()
    # With larger text, too, all names are shown, and no text covers another.
    for size in (16, 32, 40):
        await stub.page.evaluate(_GROW, size)
        texts = stub.page.locator(".name, h2, p, .day h3, .head > *, .legend")
        assert await texts.evaluate_all(_ALL_FIT) == []
        assert await stub.distance.locator(".label:visible").evaluate_all(_LABELS_FIT)
    # In high contrast, only bikes keep their colors, and pressed buttons have a border.
    await stub.page.emulate_media(forced_colors="active")
    for mark in await stub.distance.locator(".dot, .bar > span").all():
        await expect(mark).to_have_css("background-color", "rgb(60, 128, 160)")
    pressed = stub.page.locator("[aria-pressed=true]").first
    await expect(pressed).to_have_css("border-top-width", "1px")
    await stub.page.emulate_media(forced_colors="none")


async def test_add_dashboard_at_once(stub: Stub) -> None:
    """Until the user's texts are loaded, *Add dashboard* lists the dashboard in English, without a description."""
    await stub.page.reload()
    await stub.page.wait_for_function("() => window.customStrategies")
    read = "() => customStrategies.map(({name, description}) => [name, description])"
    assert await stub.page.evaluate(read) == [["Bikes", ""]]
    texts = {**house()["texts"], "dashboard": "Fahrräder"}
    await stub.show(house(texts=texts))
    await stub.page.wait_for_function("() => window.customCards?.length")
    shown = ["Fahrräder", texts["dashboard_description"]]
    assert await stub.page.evaluate(read) == [shown]


@pytest.mark.parametrize("name", _STATES)
async def test_states(stub: Stub, name: str) -> None:
    """For each house in `_STATES`, each card shows its text, and no card shows *Bike 2*, which the user may not see."""
    state, *texts = _STATES[name]
    await stub.show(state)
    for card, words in zip((stub.bikes, stub.rides, stub.distance), texts, strict=True):
        pattern = re.escape(words).replace(r"\ ", r"\s*").replace("\u202f", r"\s")
        await expect(card).to_contain_text(re.compile(pattern))
        await expect(card.get_by_text("Bike 2")).to_have_count(0)


_STARTED = {"event_type": "started", "started_at": _TIME}
_RIDING: House = {"ride": {"state": _TIME, "attributes": _STARTED}, "rides": "on"}
_PLACES: dict[str, tuple[House, str]] = {
    "it stands": (_AWAY, r"Bike 1\s*Am Bach 3\s*74 %"),
    "the address is that of the start": (_AWAY | _RIDING, r"Away\s*74 %"),
    "a restored ride is over": (_AWAY | _RIDING | {"rides": "off"}, "Am Bach 3"),
    "it went offline minutes after the shown report": (
        {
            "online": _since(_YESTERDAY + timedelta(minutes=7), "off"),
            "last_update": _since(_YESTERDAY, _TIME),
        },
        r"Home · Offline since .+:07",
    ),
    "the service does not know whether it is online": (
        {"online": "unknown", "last_update": _TIME},
        r"Home · [A-Z]\w+, .+ PM\s*74 %",
    ),
    "it is online, but its last report is old": (
        {"last_update": (_YESTERDAY - timedelta(days=1)).isoformat()},
        r"Home · [A-Z]\w+, .+ PM\s*74 %",
    ),
}


async def test_the_next_year(stub: Stub) -> None:
    """A year later, without a new state, a time has a date with a year, and *This week* is the new week."""
    await stub.show(house(bike(1, **_AWAY, online="off"), rides=[ride(_YESTERDAY)]))
    await expect(stub.distance).to_contain_text("This week · 10.0 km")
    await stub.page.evaluate("() => later(600_000)")
    since = re.compile(r"Am Bach 3 · Offline since \w+ \d+, 20\d\d, \d")
    await expect(stub.bikes).to_contain_text(since)
    await expect(stub.distance).to_contain_text("This week · 0.0 km")


@pytest.mark.parametrize(("states", "pattern"), _PLACES.values(), ids=_PLACES)
async def test_place(stub: Stub, states: House, pattern: str) -> None:
    """The bikes card shows where a bike is. It adds a time unless the bike is online and its last report is new."""
    await stub.show(house(bike(1, **states)))
    await expect(stub.bikes).to_contain_text(re.compile(pattern))


async def test_where_a_stolen_bike_is(stub: Stub) -> None:
    """An alarm shows the last place and its time, also in an outage and without the map. Until then, it shows *Away*. No line crosses an outage."""
    await stub.page.reload()
    await stub.page.evaluate("() => { window.isOffline = true; }")
    stolen = {"guard": _stolen(), **_RIDING}
    way, time = _history(HOME, WERDERPLATZ), _TIME
    await stub.show(house(bike(1, **_AWAY, **stolen)))
    await expect(stub.bikes).to_contain_text(re.compile(r"Since .+ PMAway\s*It's me"))
    seen = {"text": _MARKUP, "address": _MARKUP, "position_time": time}
    # After an outage, the tracker first shows the old place. The first new place begins a line.
    gap = _history(HOME, WERDERPLATZ, (), WERDERPLATZ, (49.42, 8.69))
    moved = house(bike(1, **_AWAY, **stolen), where=seen, history=gap)
    await stub.show(moved)
    await expect(stub.bikes.locator("bdi")).to_have_text([re.compile("PM"), _MARKUP])
    await stub.page.evaluate("() => { isOffline = false; }")
    await stub.show(moved)
    assert [len(points) for points in await stub.paths(stub.bikes)] == [3, 2]
    there = {"text": "", "latitude": 49.4, "longitude": 8.7, "position_time": time}
    gone = {**stolen, "tracker": "unavailable"}
    await stub.show(house(bike(1, **gone), where=there, history=way))
    line = re.compile(r"Last seen: .+ PM · 49\.4000, 8\.7000 · No contactIt's me")
    await expect(stub.bikes).to_contain_text(line)
    assert await stub.paths(stub.bikes) == [[[*HOME], [*WERDERPLATZ]]]


async def test_markup_is_text(stub: Stub) -> None:
    """Markup in names, addresses, zones, alarms and errors is shown as text. Errors are translated."""
    place = {"latitude": 49.4, "longitude": 8.7, "zone": None, "address": _MARKUP}
    names = {"name": _MARKUP, "color": f"red;{_MARKUP}"}
    bikes = [
        bike(1, tracker="not_home", address=_MARKUP, battery=_MARKUP) | names,
        bike(2, tracker=_MARKUP, guard=_stolen(address=_MARKUP)) | names,
    ]
    rides = [ride(_YESTERDAY, start=place, end={**place, "zone": _MARKUP})]
    await stub.show(house(*bikes, rides=rides))
    await expect(stub.rides.get_by_text(f"{_MARKUP} – {_MARKUP}")).to_be_visible()
    await expect(stub.bikes).to_contain_text(f"PM{_MARKUP}It's me")
    await expect(stub.distance.get_by_text(_MARKUP)).to_be_visible()
    await stub.show(house(bike(3), error=_MARKUP))
    await expect(stub.rides).to_contain_text(f"from the database ({_MARKUP}). Try")
    assert not await stub.page.evaluate("() => window.isHacked")
    assert await stub.page.locator("img, b").count() == 0


async def test_date_line(stub: Stub) -> None:
    """A route that crosses the date line is drawn across this line, without a detour around the earth, and fitted after each change of the view."""
    route = encode([(-17.0, 179.99), (-17.001, -179.99), (-17.002, 179.98)])
    # The cards cache routes by the ride's start, so no other test may use this start.
    start = _YESTERDAY - timedelta(hours=1)
    await stub.show(house(bike(1), rides=[ride(start, route=route)]))
    await expect(stub.rides.locator("ha-map")).to_be_attached()
    [line] = await stub.paths(stub.rides)
    assert [longitude for _, longitude in line] == [179.99, 180.01, 179.98]
    assert await stub.rides.locator("ha-map").evaluate(_COME_BACK) == 3


async def test_ride_under_way(stub: Stub) -> None:
    """The list shows a ride under way, and the ride's line on the map grows with each report, of which screen readers are silent."""
    distance = {"state": "2.5", "attributes": {"unit_of_measurement": "mi"}}
    duration = {"state": "0.2", "attributes": {"unit_of_measurement": "h"}}
    riding = bike(1, **_RIDING, ride_distance=distance, ride_duration=duration)
    places = [HOME, WERDERPLATZ, (49.42, 8.69), (49.43, 8.69)]
    # The ride has `number` places, and the map was last fitted to `fits` places. In the
    # minute after a touch, the map is not fitted again.
    for number, fits in ((1, 1), (2, 2), (3, 2), (4, 4)):
        await stub.show(house(riding, history=_history(*places[:number])))
        await expect(stub.rides).to_contain_text("– under way4.0 km · 12 min")
        await expect(stub.rides.locator("[aria-live=off]")).to_contain_text("km · 12")
        shown = stub.rides.locator("ha-map")
        await expect(shown).to_be_attached()
        await stub.page.wait_for_timeout(50)
        assert [len(points) for points in await stub.paths(stub.rides)] == [number]
        assert await shown.evaluate("map => map.fitted.length") == fits
        if number == 2:
            await shown.dispatch_event("pointerdown")
        if number == 3:
            await stub.page.evaluate("() => later(1)")
    # During an outage, the page still shows the last known kilometers of the ride. A
    # page that is opened during the outage shows no kilometers.
    gone = dict.fromkeys(("ride_distance", "ride_duration"), "unavailable")
    outage = house(bike(1, **_RIDING, **gone))
    await stub.show(outage)
    await expect(stub.rides).to_contain_text(re.compile(r"– under way4\.0 km"))
    await stub.page.evaluate("() => clear()")
    await stub.show(outage)
    await expect(stub.rides).to_contain_text("under way")
    await expect(stub.rides).not_to_contain_text("km")
    await expect(stub.rides.get_by_role("button", name="Download")).to_have_count(0)


async def test_gpx_without_route(stub: Stub) -> None:
    """Without a route, *Download as GPX* asks the service first, and saves no file. A route that fails to load is not unknown."""
    times = (_NOON - timedelta(3), _NOON - timedelta(4))
    home = house(bike(1), rides=[ride(time, route=None) for time in times])
    await stub.show(home)
    await expect(stub.rides).to_contain_text("OfficeThe route of this ride is unknown.")
    await stub.show(home | {"error": "The service has no reports"})
    await stub.rides.get_by_role("button", name="Download as GPX").click()
    [call] = await stub.calls("bike_tracker.get_track")
    assert call["notify"] and call["end_date_time"] == home["rides"][0]["ended_at"]
    assert await stub.calls("auth/sign_path") == []
    await stub.rides.get_by_role("button", name="Previous ride").click()
    await stub.page.wait_for_timeout(50)
    await expect(stub.rides).not_to_contain_text("unknown")


async def test_ride_under_way_at_set_up(stub: Stub) -> None:
    """If the database contains the first part of a ride under way, the list shows both parts as one ride, below the rides of newer days."""
    rides = [ride(_YESTERDAY), ride(datetime.now(UTC), 2)]
    await stub.show(house(bike(1, **_RIDING), bike(2), rides=rides))
    await expect(stub.days.get_by_role("button")).to_have_count(2)
    await expect(stub.days).to_contain_text(["Bike 2", "under way"])


async def test_time_zone(stub: Stub) -> None:
    """Days and times are in the time zone of the house, also after the house gets another time zone."""
    rides = [ride(_YESTERDAY.replace(hour=2))]
    for zone, day, time in (
        ("Europe/Berlin", _YESTERDAY, "3:00"),
        ("America/New_York", _YESTERDAY - timedelta(1), "9:00"),
    ):
        config = {"time_zone": zone, "unit_system": {"length": "km"}}
        await stub.show(house(bike(1), rides=rides, config=config))
        await expect(stub.days).to_contain_text([f"{day:%A, %B} {day.day}"])
        await expect(stub.days).to_contain_text([re.compile(rf"km{time}")])


@pytest.mark.parametrize("number", [5, 11, 12, 50])
async def test_many_bikes(stub: Stub, number: int) -> None:
    """From 12 bikes on, the bikes card is a table, in which triggered, offline and low-battery bikes come first."""
    kinds: dict[int, House] = {2: {"online": None}, 3: {"battery": "8"}}
    kinds |= {4: {"online": "off"}, 5: {"guard": _stolen()}}
    bikes = [bike(it, **kinds.get(it, {})) for it in range(1, number + 1)]
    await stub.show(house(*bikes))
    is_table = number >= 12
    rows = stub.bikes.locator("tbody tr" if is_table else ".strip li")
    await expect(rows).to_have_count(number)
    first = [5, 4, 3, 1, 2] if is_table else [1, 2, 3, 4, 5]
    shown = await rows.locator(".name").all_inner_texts()
    assert [int(text[5]) for text in shown[:5]] == first
    await expect(stub.bikes.locator(".alarm")).to_have_count(1)
    # If the row of a bike moves, its button keeps the focus, whose ring is visible.
    await rows.last.get_by_role("button").last.press("Shift")
    await stub.show(house(*bikes[:-1], bike(number, guard="armed_away", battery="1")))
    guard = stub.bikes.get_by_role("button", name=f"Guarded: Bike {number}")
    await expect(guard).to_be_focused()
    assert await guard.evaluate(_RING) == ["solid", True]


async def test_three_years(stub: Stub) -> None:
    """The rides card loads 5,000 rides in parts, at first about a week, and lists the newest first. A part does not contain more than a month, and creates elements only for its own rides, so that a long list does not block the page. On a phone, too, the list scrolls."""
    await stub.page.set_viewport_size({"width": 390, "height": 844})
    rides = [ride(_YESTERDAY - it * timedelta(0.22), it % 3 + 1) for it in range(5_000)]
    await stub.show(house(bike(1), bike(2), bike(3), rides=rides))
    await expect(stub.days.first).to_be_visible()
    await stub.page.evaluate(_COUNT_CREATED)
    # Find elements by class: in a list this long, a search by role would last seconds.
    more, listed = stub.rides.locator(".more"), stub.rides.locator(".day li")
    scroll = "it => { it.scrollIntoView(); it.scrollTop = it.scrollHeight; return it.clientHeight / innerHeight; }"
    while await more.count():
        assert await stub.rides.locator(".list").evaluate(scroll) < 0.6
        await stub.page.wait_for_timeout(50)
    assert await stub.page.evaluate("() => created") < 10 * len(rides)
    first, *months = await stub.calls("bike_tracker.get_rides")
    start = datetime.fromisoformat(first["start_date_time"])
    assert timedelta(6) < datetime.now(UTC) - start < timedelta(9)
    assert len(months) > 36
    assert await listed.evaluate_all(_COUNT_IN_ORDER) == 5_000


async def test_elements_stay(stub: Stub) -> None:
    """If a state changes between the press and the release of a button, the tap works, and the focus stays."""
    home = house(bike(1), bike(2), rides=[ride(_YESTERDAY)])
    await stub.show(home)
    guard = stub.bikes.get_by_role("button", name="Guard: Bike 2")
    await guard.focus()
    await guard.hover()
    await stub.page.mouse.down()
    home["bikes"][0]["has"]["battery"] = "12"
    home["bikes"][1]["has"]["battery"] = "11"
    await stub.show(home)
    await expect(stub.bikes).to_contain_text("11")
    await stub.page.mouse.up()
    [call] = await stub.calls("alarm_control_panel.alarm_arm_away")
    assert call["entity_id"] == "guard.bike2"
    await expect(guard).to_be_focused()


async def test_other_alarm_stays(stub: Stub) -> None:
    """If the first of two alarms ends, the section of the other alarm is not inserted again, so that its map stays.

    The buttons in this section have moved, so a tap has no effect in the next second, and after a new alarm.
    """
    home = house(*(bike(number, guard=_stolen()) for number in (1, 2)))
    await stub.show(home)
    alarms = stub.bikes.locator("section.alarm")
    await expect(alarms).to_have_count(2)
    await alarms.first.evaluate(_COUNT_MOVED)
    its_me = alarms.first.get_by_role("button", name="It's me")
    await its_me.click(trial=True)
    home["bikes"][0]["has"]["guard"] = "disarmed"
    await stub.show(home)
    await expect(alarms).to_have_count(1)
    assert await stub.page.evaluate("() => window.moved") == 0
    box = await its_me.bounding_box()
    assert box
    await stub.page.mouse.click(box["x"] + 5, box["y"] + 5)
    assert await stub.calls("alarm_control_panel.alarm_disarm") == []
    await its_me.click()
    home["bikes"][0]["has"]["guard"] = _stolen()
    await stub.show(home)
    await expect(alarms).to_have_count(2)
    await stub.page.mouse.click(box["x"] + 5, box["y"] + 5)
    [call] = await stub.calls("alarm_control_panel.alarm_disarm")
    assert call["entity_id"] == "guard.bike2"


async def test_rides_of_a_bar(stub: Stub) -> None:
    """A tap on a bar lists its rides below the bars. Another tap on the same bar closes the list."""
    rides = [ride(_NOON - timedelta(days=days)) for days in (1, 8, 9, 40)]
    await stub.show(house(bike(1), rides=rides))
    bars = stub.distance.locator(".bars").get_by_role("button")
    listed = stub.distance.locator("li[data-key], .day li")
    await bars.nth(6).click()
    await expect(listed).to_have_count(2)
    await bars.nth(2).click()
    await expect(listed).to_have_count(1)
    await bars.nth(5).click()
    await expect(stub.distance.get_by_role("status")).to_have_text("Rides: 0")
    await bars.nth(5).click()
    await expect(stub.distance.locator("bike-tracker-rides-card")).to_have_count(0)


async def test_right_to_left(stub: Stub) -> None:
    """In right-to-left languages, Latin names begin at the left, batteries are left of addresses, and arrows are mirrored."""
    away = bike(1, tracker="not_home", address="Roonstraße 5, 69120 Heidelberg")
    await stub.show(house(away | {"name": "<b>"}, rides=[ride(_YESTERDAY)]))
    await stub.page.evaluate("() => { document.dir = 'rtl'; }")
    assert await stub.bikes.locator(".name").evaluate(_BEGINS_AT_THE_LEFT)
    order = "({ children: [place, battery] }) => battery.getBoundingClientRect().right < place.getBoundingClientRect().left"
    assert await stub.bikes.locator(".open .note").evaluate(order)
    arrow = stub.rides.get_by_role("button", name="Previous").locator("ha-icon")
    style = "icon => [getComputedStyle(icon).transform, getComputedStyle(icon).display]"
    assert await arrow.evaluate(style) == ["matrix(-1, 0, 0, 1, 0, 0)", "inline-block"]


async def test_a_narrow_phone(stub: Stub) -> None:
    """On a narrow phone, the times of the chosen ride are on their own line, names of buttons have spaces, and a table has room for names. The page's header does not cover the map. In a low card, nothing covers the chosen ride."""
    await stub.show(house(bike(1), rides=[ride(_YESTERDAY)]))
    hidden = "card => { card.style.height = '450px'; const [info, list] = ['.info', '.list'].map((it) => card.shadowRoot.querySelector(it).getBoundingClientRect()); return info.bottom - (list.x > info.x ? card.getBoundingClientRect().bottom : list.top); }"
    for width in (1200, 390):
        await stub.page.set_viewport_size({"width": width, "height": 700})
        assert await stub.rides.evaluate(hidden) <= 0
    button = stub.bikes.get_by_role("button", name="Bike 1 Home 74 %", exact=True)
    await expect(button).to_be_visible()
    box = await stub.rides.locator(".info p").first.bounding_box()
    assert box and box["width"] > 340
    margin = "map => parseFloat(getComputedStyle(map).scrollMarginTop)"
    assert await stub.rides.locator("bike-tracker-map").evaluate(margin) >= 56
    await stub.show(house(*map(bike, range(12))))
    name = await stub.bikes.locator("tbody th").first.bounding_box()
    assert name and name["width"] > 220
