"""A theft report for police and insurance: one HTML page to print, and a GPX file."""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
import hmac
from html import escape
from http import HTTPStatus
from itertools import chain, pairwise
from operator import itemgetter
from pathlib import Path
from string import Template
from typing import Any, Final, NamedTuple

from aiohttp import web
from homeassistant.components.http import KEY_HASS, HomeAssistantView
from homeassistant.const import ATTR_DEVICE_ID
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError, Unauthorized
from homeassistant.helpers.network import NoURLAvailableError, get_url
from homeassistant.util import dt as dt_util
from yarl import URL

from ..api.address import host_of
from ..const import DOMAIN
from ..tracking.distance import NOWHERE, Fix, fix_of, may_be_one_place
from ..tracking.guard import Guard, Triggered
from ..tracking.state import Tracker, TrackerState
from . import Bike, bike_of, service_error, validation_error, with_stored_state
from .drawing import route_as_svg
from .texts import RIGHT_TO_LEFT, cause_text, error_text, panel_text, text
from .track import GPX_TYPE, MAX_TRACK, Track, TrackPoint, async_best_track, gpx

DETAILS: Final = ("owner", "frame_number", "color", "insurance")
_MAX_ROWS: Final = 24
START: Final = "start_date_time"
"""Name of the start time: a field of actions, and a parameter of the link to a report."""
_LINK_WORKS_FOR: Final = timedelta(days=1)
_UNTIL: Final = "until"
_SIGNATURE: Final = "signature"
_REPORT: Final = "selector.report.options"
_FIELDS: Final = "services.theft_report.fields"
_RIDE: Final = "entity.event.ride.name"
_COORDINATES: Final = itemgetter("latitude", "longitude")

_PAGE: Final = Template(Path(__file__).with_suffix(".html").read_text(encoding="utf-8"))


type _Event = tuple[datetime, str, tuple[str | None, ...]]
"""The right time, the escaped label, and the lines below the time."""
type ArmedBy = tuple[Guard, str | None]
"""A guard and the name of the user who armed it; None if no user did."""


class ReportView(HomeAssistantView):
    """View that creates the page of a theft report each time a browser opens a signed link to it."""

    url = f"/api/{DOMAIN}/theft_report/{{device_id}}"
    name = f"api:{DOMAIN}:theft_report"
    # The view checks its own signature: signatures of Home Assistant end with a restart.
    requires_auth = False

    async def get(self, request: web.Request, device_id: str) -> web.Response:
        """Return the page that the action `theft_report` creates, or an error if the link is wrong or expired."""
        hass, query = request.app[KEY_HASS], request.query
        start, until, signature = (
            query.get(it, "") for it in (START, _UNTIL, _SIGNATURE)
        )
        bike = bike_of(hass, device_id)
        right = bike and _signature(with_stored_state(hass, bike), start, until)
        if not right or not hmac.compare_digest(right.encode(), signature.encode()):
            raise Unauthorized
        if int(until) < dt_util.utcnow().timestamp():
            # Home Assistant counts each 401 as a failed sign-in, and may ban the address.
            expired = text(hass, f"{_REPORT}.link_expired")
            return web.Response(text=expired, status=HTTPStatus.GONE)
        try:
            report: Any = await hass.services.async_call(
                DOMAIN,
                "theft_report",
                {ATTR_DEVICE_ID: device_id, **({START: start} if start else {})},
                blocking=True,
                return_response=True,
            )
        except HomeAssistantError as err:
            error = error_text(hass, err)
            return web.Response(text=error, status=HTTPStatus.NOT_FOUND)
        return web.Response(text=report["html"], content_type="text/html")


def _signature(bike: Bike, start: str, until: str) -> str | None:
    """Return the signature of a link to the report of a bike; None if the account of the bike was never set up."""
    if bike.coordinator is None:
        return None
    signed = f"{bike.device_id}\n{start}\n{until}"
    secret = bike.coordinator.database.async_link_secret()
    return hmac.new(secret.encode(), signed.encode(), "sha256").hexdigest()


@callback
def async_link_to_report(
    hass: HomeAssistant, bike: Bike, since: datetime | None = None
) -> str | None:
    """Return an address that opens the report in a browser for a day, without sign-in; None without a URL.

    With `since`, the report begins at this time, even after the guard was disarmed.

    The address contains a host: otherwise, the phone's app would open it itself and add
    a parameter to it.
    """
    end = dt_util.utcnow() + _LINK_WORKS_FOR
    # While the link works, the report must not become longer than the maximum.
    start = max(since, end - MAX_TRACK).isoformat() if since else ""
    until = f"{end.timestamp():.0f}"
    signature = _signature(bike, start, until) or ""
    try:
        host = get_url(hass, prefer_external=True)
    except NoURLAvailableError:
        return None
    url = URL(host + ReportView.url.format(device_id=bike.device_id))
    return str(url.with_query({START: start, _UNTIL: until, _SIGNATURE: signature}))


class TheftReport(NamedTuple):
    """The data from which the page and the GPX file are made."""

    bike: Bike
    tracker: Tracker
    host: str
    track: Track
    fixes: list[Fix]
    """Places in order of time."""
    guards: list[ArmedBy]
    """The guard of the last theft, if it was in use in the time range, and the current guard."""
    details: Mapping[str, str]
    """Values that the user entered for the report, by the name of the action's field."""

    @property
    def segments(self) -> list[list[TrackPoint]]:
        """Return the lines of the track; without a track, a line through the known places. Times are right."""
        lines = self.track.segments() or [[_point(fix) for fix in self.fixes]]
        for point in chain.from_iterable(lines):
            if time := point.get("time"):
                right = datetime.fromisoformat(time) + self.tracker.state.clock_error
                point["time"] = right.isoformat()
        return lines

    def time(self, time: datetime) -> str:
        """Return a time of the tracker's clock as the right local time."""
        return _time(time + self.tracker.state.clock_error)


async def async_theft_report(
    hass: HomeAssistant,
    bike: Bike,
    start: datetime,
    end: datetime,
    details: Mapping[str, str],
) -> dict[str, Any]:
    """Return the page, the GPX file and the number of positions. Raise an error if no place is known."""
    if bike.coordinator is None or bike.tracker is None:
        raise service_error("not_available", name=bike.name)
    error = bike.tracker.state.clock_error
    try:
        track = await async_best_track(hass, bike, start - error, end - error)
    except HomeAssistantError as err:
        # If the service does not answer, a report with the last known places is better
        # than no report.
        track = Track([], [], error_text(hass, err))
    guards = list(_guards(bike.tracker.state, start, end))
    if not (fixes := _fixes(bike.tracker, track, guards)):
        raise validation_error("no_reports")
    host = host_of(bike.coordinator.config_entry.data["url"])
    report = TheftReport(bike, bike.tracker, host, track, fixes, guards, details)
    run = hass.async_add_executor_job
    why = track.description(hass)
    gpx_file = await run(lambda: gpx(bike.name, report.segments, why))
    html = await run(_page, hass, report, gpx_file)
    return {"html": html, "gpx": gpx_file, "positions": len(fixes)}


def _guards(state: TrackerState, start: datetime, end: datetime) -> Iterator[ArmedBy]:
    if theft := state.last_theft:
        armed_at = theft.guard.armed_at
        # If the tracker's clock is behind, the end may seem to be before the arming.
        if armed_at <= end and start <= max(armed_at, theft.ended_at):
            yield theft.guard, theft.changed_by
    if state.guard:
        yield state.guard, state.changed_by


def _fixes(tracker: Tracker, track: Track, guards: list[ArmedBy]) -> list[Fix]:
    """Return the reported places; without them, the known places of guards and rides, and of the last report."""
    if reported := [fix_of(report, report.fix_time) for report in track.reports]:
        return [*filter(None, reported)]
    position, known = tracker.state.position, list[Fix | None]()
    for ride in track.rides:
        known.append(ride.start and ride.start._replace(time=ride.started_at))
        known.append(ride.end and ride.end._replace(time=ride.moved_at))
    # After the rides: a ride may begin, where the bike stood, at the time of the report
    # that triggered the guard.
    for guard, _ in guards:
        known += [guard.place, guard.triggered and guard.triggered.fix]
    known.append(position and fix_of(position, position.fix_time))
    by_time = {fix.time: fix for fix in known if fix and fix.time != NOWHERE.time}
    return [by_time[time] for time in sorted(by_time)]


def _point(fix: Fix) -> TrackPoint:
    time = fix.time.isoformat()
    return {"time": time, "latitude": fix.latitude, "longitude": fix.longitude}


def _page(hass: HomeAssistant, report: TheftReport, gpx_file: str) -> str:
    """Return the page as HTML. All texts in it are escaped."""
    title = _label(hass, "title", name=report.bike.name)
    columns = ("time", "coordinates", "accuracy", "address")
    now = _time(dt_util.utcnow())
    shown = _thinned(report.fixes)
    # As in the drawing: a ring at the start and a dot at the end.
    marks = {0: "○", len(shown) - 1: "●"}
    return _PAGE.substitute(
        language=escape(hass.config.language),
        direction="rtl" if hass.config.language in RIGHT_TO_LEFT else "ltr",
        title=title,
        bike=_facts(_bike(hass, report)),
        what_happened=_label(hass, "what_happened"),
        events=_facts(_events(hass, report)),
        route=_label(hass, "route"),
        drawing=route_as_svg([list(map(_COORDINATES, it)) for it in report.segments]),
        positions=_label(hass, "positions"),
        header="<td></td>" + "".join(f"<th>{_label(hass, it)}</th>" for it in columns),
        rows="".join(
            _row(report, fix, marks.get(row, "")) for row, fix in enumerate(shown)
        ),
        notes=_notes(hass, report, len(shown), gpx_file),
        created=_label(hass, "created", time=now, zone=hass.config.time_zone),
    )


def _label(hass: HomeAssistant, key: str, **placeholders: str) -> str:
    return escape(text(hass, f"{_REPORT}.{key}", **placeholders))


def _bike(hass: HomeAssistant, report: TheftReport) -> Iterable[tuple[str, str]]:
    """Yield escaped labels and values about the bike and its tracker."""
    for key in DETAILS:
        if value := report.details.get(key):
            label = escape(text(hass, f"{_FIELDS}.{key}.name"))
            yield label, _lines(*value.splitlines())
    device = report.tracker.device
    tracker = " · ".join(filter(None, (device.model, device.unique_id)))
    yield _label(hass, "tracker"), _lines(tracker)
    yield _label(hass, "service"), _lines(report.host)


def _events(hass: HomeAssistant, report: TheftReport) -> Iterable[tuple[str, str]]:
    """Yield escaped labels and values: the guards and the theft in order of time, then the last position."""
    state, ride = report.tracker.state, report.tracker.state.ride
    guarded = escape(panel_text(hass, "armed_away"))
    events = list[_Event]()
    if not report.guards:
        yield guarded, escape(panel_text(hass, "disarmed"))
    for guard, by in report.guards:
        events.append((guard.armed_at, guarded, (_place(guard.place), by)))
        if triggered := guard.triggered:
            events.append(_triggered(hass, report, triggered))
    is_triggered = any(guard.triggered for guard, _ in report.guards)
    if not is_triggered and ride and ride.moved_at >= report.fixes[0].time:
        # The bike was not guarded, so the ride may be the thief's.
        more = _place(ride.start), report.time(ride.moved_at), _place(ride.end)
        label = escape(text(hass, _RIDE))
        events.append((ride.started_at + state.clock_error, label, more))
    for time, label, lines in sorted(events, key=itemgetter(0)):
        yield label, _lines(_time(time), *lines)
    if last := state.position and fix_of(state.position, state.seen_at):
        value = _lines(_time(last.time), _place(last))
        yield _label(hass, "last_seen"), value


def _triggered(
    hass: HomeAssistant, report: TheftReport, triggered: Triggered
) -> _Event:
    attributes = {**triggered.described(), "alarm": triggered.alarm}
    cause, place = cause_text(hass, attributes), _place(triggered.fix)
    key = "guard_alarm" if triggered.cause == "alarm" else "guard_moved"
    label = escape(panel_text(hass, "triggered", key))
    return triggered.since + report.tracker.state.clock_error, label, (cause, place)


def _facts(facts: Iterable[tuple[str, str]]) -> str:
    return "".join(
        f"<tr><th>{label}</th><td>{value}</td></tr>" for label, value in facts
    )


def _lines(*parts: str | None) -> str:
    return "<br>".join(f"<bdi>{escape(part)}</bdi>" for part in parts if part)


def _place(fix: Fix | None) -> str:
    """Return the address, the coordinates and the accuracy of a place; an empty text without a place."""
    accuracy = f", ± {fix.accuracy:.0f} m" if fix and fix.accuracy else ""
    # Isolate the numbers. Otherwise, after an address in Arabic or Hebrew, the
    # longitude would be shown to the left of the latitude.
    parts = (fix.address, f"\u2066{_coordinates(fix)}{accuracy}\u2069") if fix else ()
    return ", ".join(filter(None, parts))


def _coordinates(fix: Fix) -> str:
    return f"{fix.latitude:.6f}, {fix.longitude:.6f}"


def _time(time: datetime) -> str:
    return f"{dt_util.as_local(time):%Y-%m-%d %H:%M:%S}"


def _thinned(fixes: list[Fix]) -> list[Fix]:
    """Return at most 24 fixes: the first, the last, and fixes evenly spread between them.

    If there are more, list only the first and the last fix of a place where the bike stood.
    """
    if len(fixes) <= _MAX_ROWS:
        return fixes
    kept = fixes[:1]
    for fix, following in pairwise(fixes[1:]):
        if not all(may_be_one_place(kept[-1], it) for it in (fix, following)):
            kept.append(fix)
    kept += fixes[-1:]
    step = max((len(kept) - 1) / (_MAX_ROWS - 1), 1)
    return [kept[round(row * step)] for row in range(min(len(kept), _MAX_ROWS))]


def _row(report: TheftReport, fix: Fix, mark: str) -> str:
    accuracy = f"{fix.accuracy:.0f} m" if fix.accuracy else "–"
    numbers = (report.time(fix.time), _coordinates(fix), accuracy)
    cells = "".join(f'<td class="number">{_lines(it)}</td>' for it in numbers)
    return f"<tr><td>{mark}</td>{cells}<td>{_lines(fix.address or '–')}</td></tr>"


def _notes(hass: HomeAssistant, report: TheftReport, shown: int, gpx_file: str) -> str:
    notes = [escape(report.track.description(hass))]
    count = sum(map(len, report.segments))
    if shown < count:
        label = _label(hass, "shown", shown=f"{shown}", count=f"{count}")
        notes.append(_download(report.bike.name, gpx_file, label))
    return "".join(f'<p class="note">{note}</p>' for note in notes if note)


def _download(name: str, gpx_file: str, label: str) -> str:
    """Return a link with this escaped label that saves the GPX file, which is part of the page."""
    href = f"data:{GPX_TYPE};base64,{b64encode(gpx_file.encode()).decode()}"
    return f'<a download="{escape(f"{name}.gpx")}" href="{href}">{label}</a>'
