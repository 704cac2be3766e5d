"""Send each message of an account's night guards once, to its recipients."""

import asyncio
from collections.abc import Coroutine, Iterable, Iterator
from datetime import datetime
from operator import attrgetter
from typing import Any, Final, NamedTuple

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import (
    ATTR_DEVICE_ID,
    ATTR_LATITUDE,
    ATTR_LONGITUDE,
    CONF_FILENAME,
    Platform,
)
from homeassistant.core import Context, CoreState, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.singleton import singleton
from homeassistant.util import dt as dt_util, slugify

from ..api.models import Position
from ..const import DOMAIN
from ..coordinator import BikeTrackerCoordinator
from ..devices import async_create_issue, async_delete_issue, name_of
from ..responses.bikes import Bike, known_bike, listed_bike, stored_bike
from ..responses.texts import with_commas
from ..responses.theft_report import async_link_to_report
from ..tracking.guard import Guard
from ..tracking.occurrences import Occurrence
from ..tracking.state import Tracker, TrackerState
from . import alerts
from .messages import (
    CRITICAL,
    GUARD_TAG,
    URGENT,
    Message,
    Recipients,
    action_of,
    async_deliver,
    phones_of,
)
from .schedule import NightGuard, state_of

_RECIPIENT_GONE: Final = "recipient_gone"
_PLACE: Final = (ATTR_LATITUDE, ATTR_LONGITUDE)


class _Sent(NamedTuple):
    """The messages of an account's night guards that Home Assistant has to remember during a reload."""

    outages: dict[str, NightGuard]
    """The night guards that sent a message about the current outage, by ID."""
    reasons: dict[tuple[str, str], str]
    """Why a bike cannot be guarded, by ID of the night guard and `uniqueId`. The reason was sent and still applies."""
    not_guarded: dict[str, set[str]]
    """The bikes in the shown message about unguarded bikes, by ID of the night guard."""
    silent: dict[str, dict[str, datetime]]
    """The start of each silence that was in a message and goes on, by ID of the night guard and `uniqueId`."""


class _Silence(NamedTuple):
    """The silence of a guarded bike's tracker."""

    bike: Bike
    since: datetime
    armed_at: datetime
    is_due: bool
    """Whether it may cause a message. Otherwise, only a message about another bike names it."""

    @property
    def unique_id(self) -> str:
        """Return the `uniqueId` of the tracker."""
        return self.bike.entity.unique_id

    def is_new(self, shown: dict[str, datetime]) -> bool:
        """Return whether no message named the silence after the bike was armed."""
        told = shown.get(self.unique_id)
        return told is None or told < self.armed_at <= self.since


@singleton(f"{DOMAIN}_sent")
def _sent_in(_: HomeAssistant) -> dict[str, _Sent]:
    """Return the remembered messages by config entry ID."""
    return {}


async def async_remove_messages(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Remove the messages of all night guards of an account that is being removed."""
    registry, removals = dr.async_get(hass), list[Coroutine[Any, Any, None]]()
    devices = dr.async_entries_for_config_entry(registry, entry.entry_id)
    for guard in NightGuard.all_of(entry):
        ids = [it.id for it in devices if guard.is_for(it.id)]
        of_bikes = [tag + it for tag in (GUARD_TAG, alerts.REPORT_TAG) for it in ids]
        recipients = Recipients(phones_of(hass, guard.phones))
        removals += [
            async_deliver(hass, Context(), Message(tag), recipients)
            for tag in (*alerts.tags_of(guard.id), *of_bikes)
        ]
    await asyncio.gather(*removals)


def is_armed_by_arrival(guard: Guard | None, occurrence: Occurrence) -> bool:
    """Return whether the end of a ride armed the guard, because *Guard again* was tapped during that ride."""
    return guard is not None and guard.armed_at >= occurrence.noticed_at


class Messenger:
    """Sends the messages of an account's night guards."""

    def __init__(self, coordinator: BikeTrackerCoordinator) -> None:
        """Read the night guards of the account."""
        self._coordinator = coordinator
        self._hass: HomeAssistant = coordinator.hass
        self.guards = NightGuard.all_of(coordinator.config_entry)
        self._started_at = dt_util.utcnow()
        self._followed_at: dict[str, datetime] = {}
        self._ended: dict[str, tuple[datetime, datetime]] = {}
        """Start and end of the last silence that was in a message and ended, by `uniqueId`."""
        self._left: dict[str, datetime] = {}
        """When each unlisted tracker was noticed to be unlisted, by `uniqueId`."""
        entry_id = coordinator.config_entry.entry_id
        sent = _sent_in(self._hass).setdefault(entry_id, _Sent({}, {}, {}, {}))
        self._outages, self.reasons, self._not_guarded, self._silent = sent
        self.mine: set[str] = set()
        """Bikes whose rider tapped *It's me*. A bike stays in this set until it stands or a night begins."""

    def load(self) -> None:
        """Read the night guards, and remove the messages of deleted night guards."""
        before = {it.id: it for it in (*self.guards, *self._outages.values())}
        self.guards = NightGuard.all_of(self._coordinator.config_entry)
        for deleted in before.keys() - {it.id for it in self.guards}:
            self._outages.pop(deleted, None)
            for tag in alerts.tags_of(deleted):
                self.send(before[deleted], Message(tag))
        self.check_recipients()

    def check_recipients(self) -> None:
        """Create a repair issue that names the night guards with a recipient that is gone, or delete the issue."""
        hass, entry = self._hass, self._coordinator.config_entry
        # While Home Assistant starts, entities may not have been added yet.
        if hass.state is not CoreState.running:
            return
        names, chat_of = list[str](), hass.states.get
        for night in self.guards:
            phones = (action_of(hass, phone) for phone in night.phones)
            if not all((*phones, *map(chat_of, night.others))):
                names.append(entry.subentries[night.id].title)
        if names:
            named = with_commas(hass, names)
            async_create_issue(hass, entry, _RECIPIENT_GONE, names=named)
        else:
            async_delete_issue(hass, entry, _RECIPIENT_GONE)

    # Bikes and riders

    def guards_of(self, bike: Bike) -> list[NightGuard]:
        """Return the night guards of a bike."""
        return [it for it in self.guards if it.is_for(bike.entity.device_id)]

    def panel(self, unique_id: str) -> er.RegistryEntry | None:
        """Return the entity *Guard* of a tracker, or None if it has none."""
        kind = (Platform.ALARM_CONTROL_PANEL, DOMAIN, f"{unique_id}_guard")
        registry = er.async_get(self._hass)
        return registry.async_get(registry.async_get_entity_id(*kind) or "")

    def riders(self, guard: NightGuard) -> Iterator[alerts.Rider]:
        """Yield the riders of a night guard, with their places. Skip riders without a state."""
        for state in filter(None, map(self._hass.states.get, guard.riders)):
            place: Any = tuple(map(state.attributes.get, _PLACE))
            known = None if None in place else place
            yield alerts.Rider(state.name, known, state.last_updated)

    def is_wanted(
        self, night: NightGuard, position: Position | None, now: datetime
    ) -> bool:
        """Return whether a night guard requires that a bike at this place is guarded; False if the place is unknown."""
        place: Any = position and (position.latitude, position.longitude)
        riders = (rider.place for rider in self.riders(night))
        return bool(place) and None not in place and night.wants(place, riders, now)

    # Messages

    def send(self, guard: NightGuard, message: Message) -> None:
        """Send a message to the recipients of a night guard."""
        recipients = Recipients(phones_of(self._hass, guard.phones), guard.others)
        self.run(async_deliver(self._hass, Context(), message, recipients))

    def send_once(
        self,
        nights: Iterable[NightGuard],
        message: Message,
        *,
        is_critical: bool = False,
    ) -> None:
        """Send a message once to each recipient of several night guards.

        A critical message is critical for all recipients of a night guard that allows it.
        """
        told = set[str]()
        for night in sorted(nights, key=attrgetter("critical"), reverse=True):
            level = CRITICAL if is_critical and night.critical else message.level
            phones = tuple(it for it in night.phones if it not in told)
            others = tuple(it for it in night.others if it not in told)
            told.update(phones, others)
            left = night._replace(phones=phones, others=others)
            self.send(left, message._replace(level=level))

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine in a task that an unload of the account does not cancel."""
        self._hass.async_create_task(work)

    def tell(self, unique_id: str, occurrence: Occurrence, now: datetime) -> None:
        """Send a message about a guard that was just triggered, or about the arrival of a moved bike."""
        bike, kind = listed_bike(self._coordinator, unique_id), occurrence.type
        guard = bike and bike.tracker and bike.tracker.state.guard
        if not (bike and guard):
            return
        if kind == "guard_triggered" and guard.triggered:
            self._tell_triggered(bike, guard, occurrence, now)
        # The first report after the arming may show the end of the owner's ride.
        was_moved = guard.is_done and occurrence.since > guard.place.time
        was_moved = was_moved or is_armed_by_arrival(guard, occurrence)
        if kind == "ride_ended" and occurrence.attributes["distance"] and was_moved:
            self._tell_place(bike, guard, now, arrived_at=occurrence.since)

    def _tell_triggered(
        self, bike: Bike, guard: Guard, occurrence: Occurrence, now: datetime
    ) -> None:
        self._followed_at[bike.entity.unique_id] = now
        rider = self._rider_with(bike, guard, now)
        message = alerts.triggered(self._hass, bike, occurrence, rider)
        self.send_once(self.guards_of(bike), message, is_critical=not rider)

    def _rider_with(self, bike: Bike, guard: Guard, at: datetime) -> str | None:
        """Return the name of the rider who moves with a bike at the time `at`, or None."""
        newest = bike.tracker and bike.tracker.state.ride_state.newest_fix
        armed, seen = guard.place, newest or guard.place
        places = (armed.latitude, armed.longitude), (seen.latitude, seen.longitude)
        riders = (
            alerts.companion(*places, self.riders(night), night.away_distance, at)
            for night in self.guards_of(bike)
        )
        return next(filter(None, riders), None)

    def follow(self, unique_id: str, tracker: Tracker, now: datetime) -> None:
        """While a bike with a triggered guard moves, send its place every ten minutes, if a newer place is known."""
        guard, seen_at = tracker.state.guard, tracker.seen_at
        if not (guard and guard.triggered and seen_at and tracker.is_under_way):
            return
        # After a start of Home Assistant, the ten minutes begin with the start. If the
        # clock was set back, this time may be in the future: use the current time.
        last = min(self._followed_at.get(unique_id, self._started_at), now)
        self._followed_at[unique_id] = last
        if now - last >= alerts.FOLLOW_EVERY and seen_at > last:
            if bike := listed_bike(self._coordinator, unique_id):
                self._tell_place(bike, guard, now)

    def tell_silent(self, now: datetime) -> None:
        """For each night guard, send one message about its guarded bikes with silent or unlisted trackers.

        Send the message only if it names a new silence, or one that began after the bike
        was armed again. If a tracker has contact again, send the message without it. If
        no bike is left, remove the message.
        """
        account, before = self._coordinator.data, self._left
        left = account.states.keys() - account.trackers.keys()
        self._left = {key: before.get(key, now) for key in left}
        told = {key: it for shown in self._silent.values() for key, it in shown.items()}
        back = before.keys() - left
        back |= {
            unique_id
            for unique_id, since in told.items()
            if (tracker := account.trackers.get(unique_id))
            and (tracker.device.last_update or since) > since
        }
        self._ended |= {key: (told[key], now) for key in back & told.keys()}
        silent = [*self._silences(now)]
        for night in self.guards:
            shown = self._silent.setdefault(night.id, {})
            is_left_out = [shown.pop(key, None) for key in back]
            of_night = [it for it in silent if night.is_for(it.bike.entity.device_id)]
            new = any(it.is_due and it.is_new(shown) for it in of_night)
            if new or any(is_left_out):
                named = [it for it in of_night if new or it.unique_id in shown]
                shown |= {it.unique_id: it.since for it in named}
                bikes = [(it.bike, it.since) for it in named]
                message = alerts.trackers_silent(self._hass, night, bikes)
                self.send(night, message._replace(level=URGENT if new else {}))

    def _silences(self, now: datetime) -> Iterator[_Silence]:
        """Yield the silence of each guarded bike that a message may name now. Skip moved bikes."""
        account, soon = self._coordinator.data, now + alerts.TOGETHER_WITHIN
        for unique_id, state in account.states.items():
            guard, tracker = state.guard, account.trackers.get(unique_id)
            if guard is None or guard.is_done:
                continue
            known = (
                alerts.silences(tracker, guard.armed_at)
                if tracker
                else [(self._left[unique_id], alerts.NO_CONTACT_AFTER)]
            )
            # A tracker whose silence ended may sleep while the bike stands, so its next
            # silence must be twice as long.
            start, end = self._ended.get(unique_id, (now, now))
            pause = 2 * (end - max(start, guard.armed_at))
            due = [(since, since + max(wait, pause)) for since, wait in known]
            began = next((since for since, at in due if at <= soon), None)
            if began and (bike := known_bike(self._coordinator, unique_id)):
                is_due = any(at <= now for _, at in due)
                yield _Silence(bike, began, guard.armed_at, is_due)

    def _tell_place(
        self,
        bike: Bike,
        guard: Guard,
        now: datetime,
        arrived_at: datetime | None = None,
    ) -> None:
        self._followed_at[bike.entity.unique_id] = now
        # After the arrival, the rider may leave the bike, or the phone may rest.
        rider = self._rider_with(bike, guard, arrived_at or now)
        has_arrived = arrived_at is not None
        message = alerts.whereabouts(self._hass, bike, rider, has_arrived=has_arrived)
        nights = (it for it in self.guards_of(bike) if it.follow)
        self.send_once(nights, message, is_critical=not rider)

    async def async_report(self, bike: Bike) -> None:
        """Write a theft report into the media folder, and send the name of the file, or the error."""
        device_id = bike.entity.device_id or ""
        filename = f"{slugify(bike.name)}-{dt_util.now():%Y-%m-%d-%H%M%S}.html"
        data = {ATTR_DEVICE_ID: device_id, CONF_FILENAME: filename}
        url = self._link_to_report(bike)
        try:
            call = self._hass.services.async_call
            await call(DOMAIN, "theft_report", data, blocking=True)
            said = alerts.words(self._hass, "report_written", filename=filename)
        except HomeAssistantError as err:
            said = str(err)
        self.send_once(self.guards_of(bike), alerts.report(self._hass, bike, said, url))

    def _link_to_report(self, bike: Bike) -> str | None:
        guard = bike.tracker and bike.tracker.state.guard
        since = guard.armed_at if guard and guard.triggered else None
        return async_link_to_report(self._hass, bike.entity.device_id or "", since)

    def tell_reasons(self, reasons: dict[str, str]) -> None:
        """Send the reasons why bikes cannot be guarded tonight. Leave out a reason that was sent before and still applies.

        If a reason in the message no longer applies, send the message without it. If none
        is left, or after the night, remove the message.
        """
        now, sent, shown = dt_util.now(), self.reasons, self._not_guarded
        for night in self.guards:
            before = shown.get(night.id, set())
            bikes = {
                unique_id: bike
                for unique_id in reasons.keys() | before
                if night.is_night(now)
                if (bike := known_bike(self._coordinator, unique_id))
                and night.is_for(bike.entity.device_id)
            }
            known = {it: sent.get((night.id, it)) for it in bikes}
            new = {it for it in bikes if reasons.get(it, known[it]) != known[it]}
            sent |= {(night.id, it): reasons[it] for it in new}
            left = {it for it in before & bikes.keys() if known[it]}
            if new or left != before:
                shown[night.id] = new or left
                lines = [(bikes[it].name, sent[night.id, it]) for it in new or left]
                message = alerts.not_guarded(self._hass, night, lines)
                self.send(night, message._replace(level=URGENT if new else {}))

    def tell_outage(self, since: datetime) -> None:
        """If an outage has lasted 15 minutes, let each night guard warn once that a theft would not be noticed."""
        if dt_util.utcnow() - since < alerts.NO_CONTACT_AFTER:
            return
        for night in [it for it in self.guards if it.id not in self._outages]:
            names, moved = self._guarded_by(night), self._moved_of(night)
            missed = self._missed_by(night, since)
            if names or missed or moved:
                self._outages[night.id] = night
                bikes = names, missed, moved
                self.send(night, alerts.no_contact(self._hass, night, *bikes, since))

    def tell_contact(self) -> None:
        """Let each night guard that sent a message about an outage send a message about its end."""
        for night in [it for it in self.guards if it.id in self._outages]:
            del self._outages[night.id]
            names = self._guarded_by(night)
            self.send(night, alerts.contact_again(self._hass, night, names))

    def _guarded_by(self, night: NightGuard) -> list[str]:
        """Return the names of bikes that are guarded, without moved bikes."""
        return sorted(
            name_of(device)
            for _, device, state in self._states_of(night)
            if state_of(state.guard) in ("armed", "shaken")
        )

    def _missed_by(self, night: NightGuard, since: datetime) -> list[str]:
        """Return the names of bikes that would be guarded without the outage that began at `since`."""
        return sorted(
            name_of(device)
            for unique_id, device, state in self._states_of(night)
            if not state.guard and self._is_missed(night, unique_id, since)
        )

    def _moved_of(self, night: NightGuard) -> list[alerts.Moved]:
        """Return the moved bikes of a night guard, sorted by name. Their guards notice no further theft."""
        moved = list[alerts.Moved]()
        for unique_id, device, state in self._states_of(night):
            if state_of(state.guard) == "moved":
                bike = stored_bike(self._coordinator, unique_id)
                url = self._link_to_report(bike) if bike else None
                moved.append(alerts.Moved(name_of(device), bike, url))
        return sorted(moved, key=attrgetter("name"))

    def _states_of(
        self, night: NightGuard
    ) -> Iterator[tuple[str, dr.DeviceEntry, TrackerState]]:
        """Yield the `uniqueId`, the device and the state of each bike of a night guard."""
        for unique_id, tracker in self._coordinator.data.known_trackers.items():
            device = self._coordinator.devices.get(unique_id)
            if device and night.is_for(device.id):
                yield unique_id, device, tracker.state

    def _is_missed(self, night: NightGuard, unique_id: str, since: datetime) -> bool:
        """Return whether a bike is unguarded only because of the outage that began at `since`."""
        state, now = self._coordinator.data.states[unique_id], dt_util.now()
        began = night.last_began(now)
        is_held = state.changed_by is not None or unique_id in self.mine
        panel = self.panel(unique_id)
        # A person's choice holds until the next night begins. If another reason against
        # guarding the bike is known, the outage is not the only cause.
        if is_held and not (began and began > since):
            return False
        if (night.id, unique_id) in self.reasons or not panel or panel.disabled:
            return False
        return self.is_wanted(night, state.position, now)
