"""Send each message of an account's night guards once, to its recipients."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Final, NamedTuple

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
from ..database.file import OfNight, Sent
from ..responses import Bike, known_bike
from ..responses.texts import error_text, with_commas
from ..responses.theft_report import async_link_to_report
from ..tracking.guard import Guard
from ..tracking.occurrences import Occurrence
from ..tracking.state import Tracker, TrackerState
from . import GuardState, NightGuard, alerts, state_of
from .messages import CRITICAL, URGENT, Message, async_deliver, phones_of

_PLACE: Final = (ATTR_LATITUDE, ATTR_LONGITUDE)
# A silence shows for this time how long a tracker may sleep.
_SLEEP_KNOWN_FOR: Final = timedelta(days=7)
# A tracker that reported for this time at rest, without a silence that would be in a
# message, does not sleep.
_SEEN_AWAKE_FOR: Final = timedelta(hours=1)


class _Silence(NamedTuple):
    """The silence of a guarded bike's tracker."""

    bike: Bike
    is_moved: bool
    since: datetime
    stands_since: datetime
    """The time of the arming or, if the bike was moved, of its arrival."""
    is_due: bool
    """Whether it may cause a message. Otherwise, only a message about another bike names it."""

    def is_new(self, shown: dict[str, datetime]) -> bool:
        """Return whether no message named the silence after the bike was armed or arrived."""
        told = shown.get(self.bike.unique_id)
        return told is None or told < self.stands_since <= self.since


def is_armed_by_arrival(guard: Guard | None, occurrence: Occurrence) -> bool:
    """Return whether the end of a ride armed the guard, because *Guard again* was tapped during that ride."""
    return guard is not None and guard.armed_at == occurrence.noticed_at


class Messenger:
    """Sends the messages of an account's night guards."""

    def __init__(self, coordinator: BikeTrackerCoordinator) -> None:
        self._coordinator = coordinator
        self._hass: HomeAssistant = coordinator.hass
        self.load()
        self._started_at = dt_util.utcnow()
        self._followed_at: dict[str, datetime] = {}
        self._awake: dict[str, tuple[datetime, datetime]] = {}
        """Start and end of the time in which a bike stood and its tracker was never silent."""

    @property
    def sent(self) -> Sent:
        """Return what the night guards remember. It is stored, because messages outlive a restart."""
        return self._coordinator.database.content.sent

    def remember(self, **changes: Any) -> None:
        """Replace values of `sent`."""
        self._coordinator.database.async_set_sent(self.sent._replace(**changes))

    def of(self, night: NightGuard) -> OfNight:
        """Return what a night guard remembers."""
        return self.sent.nights.get(night.id, OfNight())

    def remember_of(self, night: NightGuard, **changes: Any) -> None:
        """Replace values that a night guard remembers."""
        nights = {night.id: self.of(night)._replace(**changes)}
        self.remember(nights=self.sent.nights | nights)

    def load(self) -> None:
        """Read the night guards, and forget the messages of deleted night guards. Without a night guard, forget all."""
        self.guards = NightGuard.all_of(self._coordinator.config_entry)
        nights = {it.id: self.of(it) for it in self.guards}
        kept = self.sent if self.guards else Sent()
        self._coordinator.database.async_set_sent(kept._replace(nights=nights))

    # Bikes and riders

    def guards_of(self, bike: Bike) -> list[NightGuard]:
        """Return the night guards of a bike."""
        return [it for it in self.guards if it.is_for(bike.device_id)]

    def _bikes_of(
        self, night: NightGuard, unique_ids: Iterable[str]
    ) -> dict[str, Bike]:
        """Return those of these bikes that a night guard is for, by `uniqueId`."""
        bikes = {key: known_bike(self._coordinator, key) for key in unique_ids}
        return {
            key: it for key, it in bikes.items() if it and night.is_for(it.device_id)
        }

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

    def is_held(self, unique_id: str) -> bool:
        """Return whether a person or an automation, not the night guard, armed or disarmed a bike last."""
        state = self._coordinator.data.states[unique_id]
        return state.changed_by is not None or unique_id in self.sent.mine

    def is_wanted(self, night: NightGuard, state: TrackerState, now: datetime) -> bool:
        """Return whether a night guard requires that a bike is guarded; False if the place of the bike is unknown."""
        place = state.ride_state.newest_fix
        riders = (rider.place for rider in self.riders(night))
        return place is not None and night.wants(place.point, riders, now)

    # Messages

    def send(
        self,
        nights: Iterable[NightGuard],
        message: Message,
        level: Mapping[str, Any] = {},
    ) -> None:
        """Send a message once to each recipient of these night guards.

        A critical message is only urgent if no night guard of a recipient allows more.
        """
        hass, told = self._hass, set[str]()
        for night in sorted(nights, key=attrgetter("critical"), reverse=True):
            shown = URGENT if level is CRITICAL and not night.critical else level
            phones = phones_of(hass, (it for it in night.phones if it not in told))
            others = [it for it in night.others if it not in told]
            told.update(night.phones, others)
            addressed = message._replace(level=shown, phones=phones, others=others)
            # An unload of the account does not cancel this task.
            hass.async_create_task(async_deliver(hass, Context(), addressed))

    def tell(self, unique_id: str, occurrence: Occurrence, now: datetime) -> None:
        """Send a message about a guard that was just triggered, or about the arrival of a moved bike."""
        bike, kind = known_bike(self._coordinator, unique_id), occurrence.type
        guard = bike and bike.state.guard
        if not (bike and guard):
            return
        if kind == "guard_triggered" and guard.triggered:
            self._followed_at[unique_id] = now
            rider = self._rider_with(bike, guard, now)
            message = alerts.triggered(self._hass, bike, occurrence, rider)
            self.send(self.guards_of(bike), message, URGENT if rider else CRITICAL)
        # The first report after the arming may show the end of the owner's ride.
        was_moved = guard.is_done and occurrence.since > guard.place.time
        was_moved = was_moved or is_armed_by_arrival(guard, occurrence)
        if kind == "ride_ended" and occurrence.attributes["distance"] and was_moved:
            stolen = bike.state.stolen_guard or guard
            self._tell_place(bike, stolen, now, arrived_at=occurrence.since)

    def _rider_with(self, bike: Bike, guard: Guard, at: datetime) -> str | None:
        """Return the names of the riders who move with a bike at the time `at`, or None."""
        newest = bike.state.ride_state.newest_fix
        places = guard.place.point, (newest or guard.place).point
        riders = (
            alerts.companions(*places, self.riders(night), night.away_distance, at)
            for night in self.guards_of(bike)
        )
        names = next(filter(None, riders), None)
        return with_commas(self._hass, names) if names else None

    def follow(self, unique_id: str, tracker: Tracker, now: datetime) -> None:
        """While a bike with a triggered guard moves, send its place every ten minutes, if a newer place is known."""
        guard, seen_at = tracker.state.guard, tracker.state.seen_at
        if not (guard and guard.triggered and seen_at and tracker.state.is_under_way):
            return
        # After a start of Home Assistant, the ten minutes begin with the start. If the
        # clock was set back, this time may be in the future: use the current time.
        last = min(self._followed_at.get(unique_id, self._started_at), now)
        self._followed_at[unique_id] = last
        if now - last >= alerts.FOLLOW_EVERY and seen_at > last:
            if bike := known_bike(self._coordinator, unique_id):
                self._tell_place(bike, guard, now)

    def tell_silent(self, now: datetime) -> None:
        """Send messages about guarded bikes with silent or unlisted trackers.

        Each moved bike has its own message, which is sent once for each silence. All
        other bikes of a night guard are in one message. Send it only if it names a new
        silence, or one that began after the bike was armed again. If a tracker has
        contact again, or a person disarmed its bike, send the message without it. If no
        bike is left, remove the message.
        """
        cut_off, back = self.sent.cut_off.keys(), self._contacts(now)
        for unique_id in cut_off & back:
            self._tell_contact(unique_id, now)
        silent = [*self._silences(now)]
        for it in silent:
            if it.is_moved and it.is_due and it.is_new(self.sent.cut_off):
                self._tell_cut_off(it.bike, it.since)
        for night in self.guards:
            of_night = [
                it
                for it in silent
                if not it.is_moved and night.is_for(it.bike.device_id)
            ]
            self._tell_silent_of(night, of_night, back)

    def _tell_silent_of(
        self, night: NightGuard, silent: list[_Silence], back: set[str]
    ) -> None:
        """Send the message of a night guard about these silences, if it has to change."""
        before = self.of(night)
        told = {key: it for key, it in before.silent.items() if key not in back}
        shown = self._still_silent(night, back)
        new = any(it.is_due and it.is_new(told) for it in silent)
        if new or shown != before.without_contact:
            named = {
                it.bike.unique_id: it
                for it in silent
                if new or shown.get(it.bike.unique_id) == "armed"
            }
            told |= {key: it.since for key, it in named.items()}
            left = {key: it for key, it in shown.items() if it == "disarmed"}
            shown = left | dict.fromkeys(named, "armed")
            found = self._bikes_of(night, shown)
            bikes = [(bike, told[key]) for key, bike in found.items()]
            message = alerts.trackers_silent(self._hass, night, bikes, named)
            self.send([night], message, URGENT if new else {})
        self.remember_of(night, silent=told, without_contact=shown)

    def _still_silent(self, night: NightGuard, back: set[str]) -> dict[str, str]:
        """Return the bikes that the message about silences may still name, with the states of their guards in it.

        A bike that the night guard disarmed is named until it has contact again: the
        silence may hide a theft of that night.
        """
        states, shown = self._coordinator.data.states, self.of(night).without_contact
        return {
            key: shown[key] if states[key].guard else "disarmed"
            for key in self._bikes_of(night, shown.keys() & states.keys() - back)
            if states[key].guard or not self.is_held(key)
        }

    def _contacts(self, now: datetime) -> set[str]:
        """Note which trackers left the account, and which have contact again. Return the latter, and deleted trackers."""
        account, sent = self._coordinator.data, self.sent
        left = account.states.keys() - account.trackers.keys()
        shown = [sent.cut_off, *(night.silent for night in sent.nights.values())]
        told = {key: since for each in shown for key, since in each.items()}
        back = sent.left.keys() - left
        back |= {
            unique_id
            for unique_id, since in told.items()
            if (tracker := account.trackers.get(unique_id))
            and (tracker.device.last_update or since) > since
        }
        ended = sent.ended | {key: (told[key], now) for key in back & told.keys()}
        self.remember(
            cut_off={key: it for key, it in sent.cut_off.items() if key not in back},
            # If the clock was set back, the end may be in the future: forget it.
            ended={
                key: (start, end)
                for key, (start, end) in ended.items()
                if key in account.states
                and end <= now < end + _SLEEP_KNOWN_FOR
                and not self._is_sleepless(key, end)
            },
            left={key: sent.left.get(key, now) for key in left},
        )
        return back

    def _is_sleepless(self, unique_id: str, ended_at: datetime) -> bool:
        """Note when a tracker reports. Return whether it does so all the time at rest, and its bike was armed after a silence."""
        account = self._coordinator.data
        tracker = account.trackers.get(unique_id)
        if tracker is None or (last := tracker.device.last_update) is None:
            return False
        since, before = self._awake.get(unique_id, (last, last))
        is_silent = not timedelta() <= last - before < alerts.NO_CONTACT_AFTER
        if is_silent or tracker.state.is_under_way:
            since = last
        self._awake[unique_id] = since, last
        guard = tracker.state.guard
        is_before = guard is None or ended_at < alerts.stands_since(
            guard, tracker.state
        )
        return is_before and last - since >= _SEEN_AWAKE_FOR

    def _silences(self, now: datetime) -> Iterator[_Silence]:
        """Yield the silence of each guarded or moved bike that a message may name now. Skip moved bikes under way."""
        account, soon = self._coordinator.data, now + alerts.TOGETHER_WITHIN
        for unique_id, state in account.states.items():
            guard, tracker = state.guard, account.trackers.get(unique_id)
            if guard is None or (guard.is_done and tracker and state.is_under_way):
                continue
            stands_since = alerts.stands_since(guard, state)
            known = (
                alerts.silences(tracker, stands_since)
                if tracker
                else [(self.sent.left[unique_id], alerts.NO_CONTACT_AFTER)]
            )
            # A tracker whose silence ended may sleep while the bike stands, so its next
            # silence must be twice as long, also after the next arming.
            start, end = self.sent.ended.get(unique_id, (now, now))
            slept = end - (max(start, stands_since) if guard.is_done else start)
            pause = 2 * slept if tracker else timedelta()
            due = [(since, since + max(wait, pause)) for since, wait in known]
            began = next((since for since, at in due if at <= soon), None)
            if began and (bike := known_bike(self._coordinator, unique_id)):
                is_due = any(at <= now for _, at in due)
                yield _Silence(bike, guard.is_done, began, stands_since, is_due)

    def _tell_cut_off(
        self, bike: Bike, since: datetime, level: Mapping[str, Any] = URGENT
    ) -> None:
        """Send a message about a moved bike that stands, and whose tracker is silent or unlisted."""
        if nights := self.guards_of(bike):
            self.remember(cut_off=self.sent.cut_off | {bike.unique_id: since})
            title = alerts.silence(self._hass, bike, since)
            # The stored state of an unlisted tracker may show a ride under way.
            tracker = self._coordinator.data.known(bike.unique_id)
            state = tracker.state._replace(is_silent=True)
            bike = bike._replace(tracker=tracker._replace(state=state))
            message = alerts.whereabouts(self._hass, bike, title, is_silent=True)
            self.send(nights, message, level)

    def _tell_contact(self, unique_id: str, now: datetime) -> None:
        """Replace the message about the silence of a moved bike, unless this update has already sent its place."""
        bike = known_bike(self._coordinator, unique_id)
        guard = bike and bike.state.guard
        is_sent = self._followed_at.get(unique_id) == now
        if bike and guard and guard.is_done:
            nights = (it for it in self.guards_of(bike) if not (it.follow and is_sent))
            self.send(nights, alerts.moved(self._hass, bike))

    def _tell_place(
        self,
        bike: Bike,
        guard: Guard,
        now: datetime,
        arrived_at: datetime | None = None,
    ) -> None:
        tracker = self._coordinator.data.trackers[bike.unique_id]
        self._followed_at[bike.unique_id] = now
        # After the arrival, the rider may leave the bike, or the phone may rest.
        rider = self._rider_with(bike, guard, arrived_at or now)
        level = URGENT if rider else CRITICAL
        if arrived_at and tracker.state.is_silent:
            since = tracker.device.last_update or now
            self._tell_cut_off(bike, since, level)
            return
        key = "stopped" if arrived_at else "with_rider" if rider else "moved"
        title = alerts.words(self._hass, key, name=bike.name, rider=rider)
        message = alerts.whereabouts(self._hass, bike, title, is_silent=False)
        nights = (it for it in self.guards_of(bike) if it.follow)
        self.send(nights, message, level)

    async def async_report(self, bike: Bike) -> None:
        """Write a theft report into the media folder, and send the name of the file, or the error."""
        # No `_`: a chat that reads messages as Markdown may refuse it.
        name = slugify(bike.name, separator="-")
        filename = f"{name}-{dt_util.now():%Y-%m-%d-%H%M%S}.html"
        data = {ATTR_DEVICE_ID: bike.device_id, CONF_FILENAME: filename}
        stolen = self._coordinator.data.known(bike.unique_id).state.stolen_guard
        url = async_link_to_report(self._hass, bike, stolen and stolen.armed_at)
        try:
            call = self._hass.services.async_call
            await call(DOMAIN, "theft_report", data, blocking=True)
            said = alerts.words(self._hass, "report_written", filename=filename)
        except HomeAssistantError as err:
            said = error_text(self._hass, err)
        self.send(self.guards_of(bike), alerts.report(self._hass, bike, said, url))

    def tell_reasons(self, reasons: dict[str, str]) -> None:
        """If a reason why a bike cannot be guarded tonight is new, send all reasons that apply.

        If a reason in the message no longer applies, send the message without it. If none
        is left, or after the night, remove the message.
        """
        for night in self.guards:
            told, is_night = self.of(night), night.is_night(dt_util.now())
            known = told.reasons | (reasons if is_night else {})
            bikes = self._bikes_of(night, known)
            known = {key: known[key] for key in bikes}
            new = bool(known.items() - told.reasons.items())
            shown = known if is_night and (new or told.not_guarded) else {}
            if new or {*shown} != {*told.not_guarded}:
                lines = [(bikes[key].name, reason) for key, reason in shown.items()]
                message = alerts.not_guarded(self._hass, night, lines)
                self.send([night], message, URGENT if new else {})
            self.remember_of(night, reasons=known, not_guarded=tuple(sorted(shown)))

    def tell_outage(self, since: datetime) -> None:
        """If an outage has lasted 15 minutes, let each night guard warn that a theft would not be noticed.

        If the bikes in the message or their states change, replace it; without bikes,
        remove it. Only a message with a new bike or state is urgent.
        """
        if dt_util.utcnow() - since < alerts.NO_CONTACT_AFTER:
            return
        for night in self.guards:
            told, bikes = self.of(night).outage, self._in_outage(night, since)
            states = {bike.unique_id: state for bike, state in bikes}
            if states != told:
                self.remember_of(night, outage=states)
                message = alerts.no_contact(self._hass, night, bikes, since)
                new = states.items() - told.items()
                self.send([night], message, URGENT if new else {})

    def tell_contact(self) -> None:
        """Let each night guard that sent a message about an outage send a message about its end."""
        for night in self.guards:
            told = self.of(night).outage
            self.remember_of(night, outage={})
            if told:
                bikes = self._in_outage(night, dt_util.utcnow())
                self.send([night], alerts.contact_again(self._hass, night, bikes))

    def _in_outage(
        self, night: NightGuard, since: datetime
    ) -> list[tuple[Bike, GuardState]]:
        """Return each bike that an outage since then affects, with the state of its guard.

        "armed": a theft would go unnoticed; "moved": another theft would go unnoticed;
        "disarmed": the bike would be guarded without the outage.
        """
        states = self._coordinator.data.states
        bikes = self._bikes_of(night, states.keys() - self.sent.left)
        guards = [(bike, state_of(states[key].guard)) for key, bike in bikes.items()]
        return [
            (bike, "armed" if state == "shaken" else state)
            for bike, state in guards
            if state != "disarmed" or self._is_missed(night, bike.unique_id, since)
        ]

    def _is_missed(self, night: NightGuard, unique_id: str, since: datetime) -> bool:
        """Return whether a bike is unguarded only because of the outage that began at `since`."""
        state, now = self._coordinator.data.states[unique_id], dt_util.now()
        began = night.last_began(now)
        panel = self.panel(unique_id)
        # A person's choice holds until the next night begins. If another reason against
        # guarding the bike is known, the outage is not the only cause.
        since = max(since, state.changed_at or since)
        if self.is_held(unique_id) and not (began and began > since):
            return False
        if unique_id in self.of(night).reasons or not panel or panel.disabled:
            return False
        return self.is_wanted(night, state, now)
