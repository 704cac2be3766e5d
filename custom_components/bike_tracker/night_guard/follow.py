"""Send the messages of an account's night guards: each once, to whom it concerns."""

from collections.abc import Coroutine, Iterator
from datetime import datetime
from typing import Any

from homeassistant.const import (
    ATTR_DEVICE_ID,
    ATTR_LATITUDE,
    ATTR_LONGITUDE,
    CONF_FILENAME,
    Platform,
)
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util, slugify

from ..const import DOMAIN
from ..coordinator import BikeTrackerCoordinator
from ..devices import name_of
from ..responses.bikes import Bike
from ..tracking.occurrences import Occurrence
from ..tracking.state import Tracker
from . import alerts
from .messages import Message, Recipients, async_deliver, phones_of
from .schedule import NightGuard, Place


def place_of(tracker: Tracker | None) -> Place | None:
    """Return the last known place of a bike."""
    position = tracker and tracker.position
    if position is None or position.latitude is None or position.longitude is None:
        return None
    return position.latitude, position.longitude


class Messenger:
    """What the night guards of one account know and tell."""

    def __init__(self, coordinator: BikeTrackerCoordinator) -> None:
        """Know no night guard yet."""
        self._coordinator = coordinator
        self._hass: HomeAssistant = coordinator.hass
        self.guards: list[NightGuard] = []
        self._reasons: dict[str, str] = {}
        """Why bikes were not guarded, as told last."""
        self._followed_at: dict[str, datetime] = {}
        self._silent: dict[str, datetime] = {}
        """When the guards were armed of trackers that are offline or silent."""
        self._blind: set[str] = set()
        """Night guards that told about an outage."""

    # Bikes and riders

    def bike(self, unique_id: str) -> Bike | None:
        """Return a listed tracker as a bike."""
        registry, coordinator = er.async_get(self._hass), self._coordinator
        kind = (Platform.DEVICE_TRACKER, DOMAIN, unique_id)
        entity = registry.async_get(registry.async_get_entity_id(*kind) or "")
        device = coordinator.devices.get(unique_id)
        tracker = coordinator.data.trackers.get(unique_id)
        if entity is None or device is None or tracker is None:
            return None
        return Bike(entity, [name_of(device)], coordinator, tracker)

    def guards_of(self, bike: Bike) -> list[NightGuard]:
        """Return the night guards of a bike."""
        return [it for it in self.guards if it.is_for(bike.entity.device_id)]

    def riders(self, guard: NightGuard) -> Iterator[alerts.Rider]:
        """Yield the riders of a night guard, with their places."""
        for state in filter(None, map(self._hass.states.get, guard.riders)):
            latitude = state.attributes.get(ATTR_LATITUDE)
            longitude = state.attributes.get(ATTR_LONGITUDE)
            is_known = latitude is not None and longitude is not None
            place: Any = (latitude, longitude) if is_known else None
            yield alerts.Rider(state.name, place, state.last_updated)

    def is_wanted(self, guard: NightGuard, bike: Bike, now: datetime) -> bool:
        """Return whether a night guard wants a bike to be guarded."""
        place, riders = place_of(bike.tracker), self.riders(guard)
        return place is not None and guard.wants(
            place, (it.place for it in riders), now
        )

    # Messages

    def send(self, guard: NightGuard, message: Message) -> None:
        """Send a message to everybody whom a night guard tells."""
        recipients = Recipients(phones_of(self._hass, guard.phones), guard.others)
        self.run(async_deliver(self._hass, Context(), message, recipients))

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something that must not be cut short by an unload."""
        self._hass.async_create_task(work)

    def tell(self, unique_id: str, occurrence: Occurrence, now: datetime) -> None:
        """Tell that a guard was triggered, or that a moved bike has arrived."""
        bike, kind = self.bike(unique_id), occurrence.type
        guard = bike and bike.tracker and bike.tracker.state.guard
        has_arrived = kind == "ride_ended" and occurrence.attributes["distance"]
        is_news = kind == "guard_triggered" or has_arrived
        if not (bike and guard and guard.triggered and is_news):
            return
        armed, seen = guard.place, guard.triggered.fix or guard.place
        places = (armed.latitude, armed.longitude), (seen.latitude, seen.longitude)
        self._followed_at[unique_id] = now
        for night in self.guards_of(bike):
            if has_arrived:
                self._tell_place(night, bike, has_arrived=True)
                continue
            riders = self.riders(night)
            rider = alerts.companion(*places, riders, night.away_distance, now)
            level = alerts.level_of(night, rider)
            message = alerts.moved(self._hass, bike, occurrence, rider)
            self.send(night, message._replace(level=level))

    def look(self, unique_id: str, tracker: Tracker, now: datetime) -> None:
        """Tell where a bike is on its way, or that its tracker is silent."""
        if (guard := tracker.state.guard) is None:
            return
        position = tracker.position
        if guard.triggered and position and tracker.is_under_way:
            last = self._followed_at.get(unique_id, guard.triggered.since)
            seen_at = position.fix_time or last
            if now - last < alerts.FOLLOW_EVERY or seen_at <= last:
                return
            self._followed_at[unique_id] = now
            if bike := self.bike(unique_id):
                for night in self.guards_of(bike):
                    self._tell_place(night, bike, has_arrived=False)
            return
        since = None
        if self._silent.get(unique_id) != guard.armed_at and not guard.triggered:
            since = alerts.silent_since(tracker, guard.armed_at, now)
        if since and (bike := self.bike(unique_id)):
            self._silent[unique_id] = guard.armed_at
            for night in self.guards_of(bike):
                self.send(night, alerts.tracker_silent(self._hass, bike, since))

    def _tell_place(self, night: NightGuard, bike: Bike, *, has_arrived: bool) -> None:
        if night.follow:
            message = alerts.on_its_way(self._hass, bike, has_arrived=has_arrived)
            self.send(night, message._replace(level=alerts.level_of(night)))

    async def async_report(self, bike: Bike) -> None:
        """Write a theft report into the media folder, and tell its name."""
        filename = f"{slugify(bike.name)}-{dt_util.now():%Y-%m-%d-%H%M}.html"
        data = {ATTR_DEVICE_ID: bike.entity.device_id, CONF_FILENAME: filename}
        try:
            call = self._hass.services.async_call
            await call(DOMAIN, "theft_report", data, blocking=True)
            said = alerts.words(self._hass, "report_written", filename=filename)
        except HomeAssistantError as err:
            said = str(err)
        for night in self.guards_of(bike):
            self.send(night, alerts.report(self._hass, bike, said))

    def tell_reasons(self, reasons: dict[str, str]) -> None:
        """Tell why bikes are not guarded tonight; a reason that stays is told once."""
        told, self._reasons = self._reasons, self._reasons | reasons
        bikes = [
            (bike, reason)
            for unique_id, reason in reasons.items()
            if reason == "triggered" or told.get(unique_id) != reason
            if (bike := self.bike(unique_id))
        ]
        for night in self.guards:
            of_night = [it for it in bikes if night.is_for(it[0].entity.device_id)]
            if lines := [(bike.name, reason) for bike, reason in of_night]:
                self.send(night, alerts.not_guarded(self._hass, night, lines))

    def tell_outage(self) -> None:
        """Tell, once in an outage, that nothing would be noticed about guarded bikes."""
        for night in self.guards:
            names = self._guarded_by(night)
            if names and night.id not in self._blind:
                self._blind.add(night.id)
                since = self._coordinator.asked_at
                self.send(night, alerts.no_contact(self._hass, night, names, since))

    def tell_contact(self) -> None:
        """Tell the end of an outage to everybody who knows about the outage."""
        told, self._blind = self._blind, set()
        for night in self.guards:
            if night.id in told:
                names = self._guarded_by(night)
                self.send(night, alerts.contact_again(self._hass, night, names))

    def _guarded_by(self, night: NightGuard) -> list[str]:
        """Return the names of bikes that are guarded, or should be."""
        now, trackers = dt_util.now(), self._coordinator.data.trackers
        bikes = [
            bike
            for unique_id, tracker in trackers.items()
            if (bike := self.bike(unique_id)) and night.is_for(bike.entity.device_id)
            if tracker.state.guard or self.is_wanted(night, bike, now)
        ]
        return sorted(bike.name for bike in bikes)
