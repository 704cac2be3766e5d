"""Compare the guards of an account with what they should be, and tell about them."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from typing import Any, Final

from homeassistant.config_entries import (
    SIGNAL_CONFIG_ENTRY_CHANGED,
    ConfigEntry,
    ConfigEntryChange,
)
from homeassistant.const import ATTR_ENTITY_ID, ATTR_LATITUDE, ATTR_LONGITUDE, Platform
from homeassistant.core import Context, CoreState, Event, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.event import (
    async_call_later,
    async_track_state_change_event,
    async_track_time_change,
)
from homeassistant.util import dt as dt_util

from ..const import DOMAIN
from ..coordinator import SIGNAL_OCCURRED, SIGNAL_UPDATED, BikeTrackerCoordinator
from ..registry.devices import name_of
from ..registry.storage import Evaluation
from ..responses.bikes import Bike
from ..tracking.account import log_errors
from ..tracking.occurrences import Occurrence
from ..tracking.state import Tracker
from . import alerts
from .messages import (
    EVENT_BUTTON,
    Message,
    Recipients,
    async_call,
    async_deliver,
    phones_of,
)
from .schedule import Decision, GuardState, NightGuard, Place, Situation, decide

SUBENTRY_TYPE: Final = "night_guard"
_ACTIONS: Final[dict[Decision, str]] = {
    "arm": "alarm_arm_away",
    "disarm": "alarm_disarm",
}


class NightGuards:
    """The night guards of one account."""

    def __init__(self, coordinator: BikeTrackerCoordinator) -> None:
        """Set up nothing yet."""
        self._coordinator = coordinator
        self._hass: HomeAssistant = coordinator.hass
        self._entry = coordinator.config_entry
        self._guards: list[NightGuard] = []
        self._unsubscribe: list[Callable[[], None]] = []
        # A night that began while Home Assistant was off begins with the first comparison.
        self._started_at = coordinator.evaluated.at
        self._compared_at: dict[str, datetime] = {}
        self._is_due = True
        self._news: list[tuple[str, Occurrence]] = []
        self._mine: set[str] = set()
        """Bikes whose rider tapped *It's me*, until they stand or the night begins."""
        self._again: set[str] = set()
        """Bikes that are armed again once they stand."""
        self._reasons: dict[str, str] = {}
        self._followed_at: dict[str, datetime] = {}
        self._lost: dict[str, datetime] = {}
        """When each guard was armed whose tracker is offline or silent."""
        self._cancel_timer: Callable[[], None] | None = None
        self._blind: set[str] = set()
        """Night guards that told about an outage."""

    @callback
    def async_start(self) -> None:
        """Listen to the account, its settings and the buttons of messages."""
        hass, on_unload = self._hass, self._entry.async_on_unload
        connect = async_dispatcher_connect
        on_unload(connect(hass, SIGNAL_OCCURRED, self._async_occurred))
        on_unload(connect(hass, SIGNAL_UPDATED, self._async_updated))
        changed = connect(hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._async_entry_changed)
        on_unload(changed)
        on_unload(self._coordinator.async_add_listener(self._async_polled))
        on_unload(hass.bus.async_listen(EVENT_BUTTON, self._async_press))
        on_unload(self._async_stop)
        self._async_load()

    @callback
    def _async_stop(self) -> None:
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._unsubscribe.clear()
        self._async_stop_timer()

    @callback
    def _async_load(self) -> None:
        """Read the settings, and listen for begins, ends and riders."""
        self._async_stop()
        subentries = self._entry.get_subentries_of_type(SUBENTRY_TYPE)
        self._guards = [
            NightGuard.from_data(it.subentry_id, it.data) for it in subentries
        ]
        riders = {rider for guard in self._guards for rider in guard.riders}
        track = async_track_state_change_event
        self._unsubscribe.append(track(self._hass, riders, self._async_compare_all))
        for time in {time for guard in self._guards for time in guard.night or ()}:
            parts = {"hour": time.hour, "minute": time.minute, "second": time.second}
            stop = async_track_time_change(self._hass, self._async_compare_all, **parts)
            self._unsubscribe.append(stop)

    @callback
    def _async_entry_changed(
        self, change: ConfigEntryChange, entry: ConfigEntry
    ) -> None:
        if entry is not self._entry or change is not ConfigEntryChange.UPDATED:
            return
        before = self._guards
        self._async_load()
        if self._guards != before:
            self._async_compare_all(leaving=before)

    # What happens to trackers

    @callback
    def _async_polled(self) -> None:
        """Note an outage, which is told about if it lasts."""
        if self._coordinator.last_update_success or self._cancel_timer:
            return
        self._is_due = True
        ends = self._coordinator.asked_at + alerts.NO_CONTACT_AFTER
        seconds = max((ends - dt_util.utcnow()).total_seconds(), 0)
        timer = async_call_later(self._hass, seconds, self._async_no_contact)
        self._cancel_timer = timer

    @callback
    def _async_stop_timer(self) -> None:
        if self._cancel_timer:
            self._cancel_timer()
            self._cancel_timer = None

    @callback
    def _async_occurred(
        self, coordinator: BikeTrackerCoordinator, tracker: str, occurrence: Occurrence
    ) -> None:
        if coordinator is self._coordinator:
            self._news.append((tracker, occurrence))

    @callback
    def _async_updated(
        self,
        coordinator: BikeTrackerCoordinator,
        _keys: Collection[str],
        _last: Evaluation,
        now: Evaluation,
    ) -> None:
        """Compare and tell, after triggers ran."""
        if coordinator is not self._coordinator:
            return
        news, self._news = self._news, []
        self._async_stop_timer()
        self._tell_contact_again()
        for unique_id, occurrence in news:
            with log_errors(self._entry.title, "sending a message"):
                self._tell(unique_id, occurrence, now.at)
        stands = {key for key, it in news if it.type == "ride_ended"}
        self._mine -= stands
        self._async_act("arm", self._again & stands)
        if self._is_due:
            self._is_due = False
            stands = {*coordinator.data.trackers}
        self._compare(stands)
        for unique_id in coordinator.data.trackers:
            with log_errors(self._entry.title, "sending a message"):
                self._look(unique_id, now.at)

    # Arming

    @callback
    def _async_compare_all(
        self, _event: object = None, *, leaving: Collection[NightGuard] = ()
    ) -> None:
        """Compare all guards, once Home Assistant runs."""
        if self._hass.state is CoreState.running:
            self._compare(self._coordinator.data.trackers, leaving)
            if self._blind:
                self._async_no_contact()

    def _compare(
        self, unique_ids: Collection[str], leaving: Collection[NightGuard] = ()
    ) -> None:
        """Arm and disarm guards that are not as they should be."""
        now, panels = dt_util.now(), defaultdict[Decision, set[str]](set)
        reasons = dict[str, str]()
        for unique_id in unique_ids:
            with log_errors(self._entry.title, "guarding a bike"):
                bike = self._bike(unique_id)
                guards = self._guards_of(bike)
                is_left = any(it.is_for(_device(bike)) for it in leaving)
                if bike is None or not (guards or is_left):
                    continue
                begins = self._night_begins(unique_id, guards, now)
                reason = self._reason(bike)
                panel = _panel(self._hass, unique_id)
                if begins and self._coordinator.last_update_success:
                    self._mine.discard(unique_id)
                    if reason and any(night.is_night(now) for night in guards):
                        reasons[unique_id] = reason
                if panel and reason in (None, "triggered"):
                    decision = self._decision(bike, guards, now, begins=begins)
                    if decision:
                        panels[decision].add(unique_id)
                if self._coordinator.last_update_success:
                    self._compared_at[unique_id] = now
        self._tell_reasons(reasons)
        for decision, decided in panels.items():
            self._async_act(decision, decided)

    @callback
    def _async_act(self, decision: Decision, unique_ids: Collection[str]) -> None:
        """Arm or disarm guards in the name of the night guard."""
        self._again -= {*unique_ids}
        panels = [it for key in unique_ids if (it := _panel(self._hass, key))]
        if panels:
            action, data = _ACTIONS[decision], {ATTR_ENTITY_ID: panels}
            call = (Platform.ALARM_CONTROL_PANEL, action, data)
            self._run(async_call(self._hass, Context(), call))

    def _night_begins(
        self, unique_id: str, guards: Collection[NightGuard], now: datetime
    ) -> bool:
        """Return whether a night began since a bike was compared last."""
        last = self._compared_at.get(unique_id, self._started_at)
        state = self._coordinator.data.trackers[unique_id].state
        if state.guard and state.changed_by:
            last = max(last, state.guard.armed_at)
        nights = [night.last_began(now) for night in guards]
        return any(began > last for began in nights if began)

    def _decision(
        self,
        bike: Bike,
        guards: Collection[NightGuard],
        now: datetime,
        *,
        begins: bool,
    ) -> Decision | None:
        tracker = bike.tracker
        if tracker is None or (place := _place(bike)) is None:
            return None
        wanted = any(it.wants(place, self._places(it), now) for it in guards)
        held = tracker.state.changed_by is not None
        situation = Situation(
            guard_state(tracker),
            held or bike.entity.unique_id in self._mine,
            on_ride=tracker.ride_under_way is not None,
            in_outage=not self._coordinator.last_update_success,
        )
        return decide(situation, is_wanted=wanted, night_begins=begins)

    def _reason(self, bike: Bike) -> str | None:
        """Return the reason for which a bike cannot be guarded."""
        tracker, unique_id = bike.tracker, bike.entity.unique_id
        device = self._coordinator.registry.devices.get(unique_id)
        panel = _panel(self._hass, unique_id)
        entry = er.async_get(self._hass).async_get(panel or "")
        if tracker is None or tracker.device.disabled or device is None:
            return "disabled"
        if device.disabled or (entry and entry.disabled):
            return "disabled"
        if panel is None or _place(bike) is None:
            return "no_place"
        guard = tracker.state.guard
        is_gone = guard and guard.triggered and tracker.ride_under_way
        return "triggered" if is_gone else None

    # Riders and bikes

    def _riders(self, guard: NightGuard) -> Iterator[alerts.Rider]:
        for state in map(self._hass.states.get, guard.riders):
            if state:
                latitude = state.attributes.get(ATTR_LATITUDE)
                longitude = state.attributes.get(ATTR_LONGITUDE)
                place = None
                if latitude is not None and longitude is not None:
                    place = latitude, longitude
                yield alerts.Rider(state.name, place, state.last_updated)

    def _places(self, guard: NightGuard) -> list[Place | None]:
        return [rider.place for rider in self._riders(guard)]

    def _bike(self, unique_id: str) -> Bike | None:
        registry, coordinator = er.async_get(self._hass), self._coordinator
        kind = (Platform.DEVICE_TRACKER, DOMAIN, unique_id)
        entity = registry.async_get(registry.async_get_entity_id(*kind) or "")
        device = coordinator.registry.devices.get(unique_id)
        if entity is None or device is None:
            return None
        tracker = coordinator.data.trackers.get(unique_id)
        return Bike(entity, [name_of(device)], coordinator, tracker)

    def _guards_of(self, bike: Bike | None) -> list[NightGuard]:
        return [guard for guard in self._guards if guard.is_for(_device(bike))]

    # Messages

    def _tell(self, unique_id: str, occurrence: Occurrence, now: datetime) -> None:
        """Tell that a guard was triggered, or that a bike has arrived."""
        bike = self._bike(unique_id)
        guard = bike and bike.tracker and bike.tracker.state.guard
        if not (bike and guard and guard.triggered):
            return
        armed, seen = guard.place, guard.triggered.fix or guard.place
        places = (armed.latitude, armed.longitude), (seen.latitude, seen.longitude)
        has_ridden = occurrence.attributes.get("distance")
        has_arrived = occurrence.type == "ride_ended" and has_ridden
        for night in self._guards_of(bike):
            if occurrence.type == "guard_triggered":
                riders = list(self._riders(night))
                rider = alerts.companion(*places, riders, night.away_distance, now)
                message = alerts.moved(self._hass, bike, occurrence, rider)
                level = alerts.level_of(night, rider)
            elif has_arrived and night.follow:
                message = alerts.on_its_way(self._hass, bike, has_arrived=True)
                level = alerts.level_of(night)
            else:
                continue
            self._followed_at[unique_id] = now
            self._send(night, message._replace(level=level))

    def _look(self, unique_id: str, now: datetime) -> None:
        """Tell where a bike is on its way, and that its tracker is lost."""
        tracker = self._coordinator.data.trackers[unique_id]
        if (guard := tracker.state.guard) is None:
            return
        if not guard.triggered:
            self._look_for_silence(unique_id, guard.armed_at, now)
            return
        position, last = tracker.position, self._followed_at.get(unique_id)
        seen_at = position and position.fix_time
        is_due = last is None or now - last >= alerts.FOLLOW_EVERY
        if (
            tracker.ride_under_way
            and is_due
            and seen_at
            and (not last or seen_at > last)
        ):
            self._followed_at[unique_id] = now
            if bike := self._bike(unique_id):
                message = alerts.on_its_way(self._hass, bike, has_arrived=False)
                for night in self._guards_of(bike):
                    if night.follow:
                        level = alerts.level_of(night)
                        self._send(night, message._replace(level=level))

    def _look_for_silence(
        self, unique_id: str, armed_at: datetime, now: datetime
    ) -> None:
        tracker = self._coordinator.data.trackers[unique_id]
        since = alerts.lost_since(tracker, armed_at, now)
        was_told = self._lost.get(unique_id) == armed_at
        if since and not was_told and (bike := self._bike(unique_id)):
            self._lost[unique_id] = armed_at
            for night in self._guards_of(bike):
                self._send(night, alerts.tracker_lost(self._hass, bike, since))

    def _tell_reasons(self, reasons: dict[str, str]) -> None:
        """Tell why bikes are not guarded tonight; lasting reasons once."""
        told, self._reasons = self._reasons, self._reasons | reasons
        for guard in self._guards:
            lines = [
                (bike.name, reason)
                for unique_id, reason in reasons.items()
                if (bike := self._bike(unique_id)) and guard.is_for(_device(bike))
                if reason == "triggered" or told.get(unique_id) != reason
            ]
            if lines:
                self._send(guard, alerts.not_guarded(self._hass, guard, lines))

    @callback
    def _async_no_contact(self, _now: datetime | None = None) -> None:
        """Tell that nothing would be noticed while bikes are guarded."""
        now = dt_util.now()
        for guard in self._guards:
            names = [bike.name for bike in self._guarded(guard, now)]
            if names and guard.id not in self._blind:
                self._blind.add(guard.id)
                since = self._coordinator.asked_at
                message = alerts.no_contact(self._hass, guard, names, since)
                self._send(guard, message)

    def _tell_contact_again(self) -> None:
        told, self._blind = self._blind, set()
        for guard in self._guards:
            if guard.id in told:
                names = [it.name for it in self._guarded(guard, dt_util.now())]
                message = alerts.contact_again(self._hass, guard, names)
                self._send(guard, message)

    def _guarded(self, guard: NightGuard, now: datetime) -> Iterator[Bike]:
        """Yield the bikes of a night guard that are guarded or should be."""
        places = self._places(guard)
        for bike in filter(None, map(self._bike, self._coordinator.data.trackers)):
            place, tracker = _place(bike), bike.tracker
            if tracker and place and guard.is_for(_device(bike)):
                if tracker.state.guard or guard.wants(place, places, now):
                    yield bike

    def _send(self, guard: NightGuard, message: Message) -> None:
        phones = phones_of(self._hass, guard.phones)
        recipients = Recipients(phones, guard.others)
        self._run(async_deliver(self._hass, Context(), message, recipients))

    def _run(self, work: Any) -> None:
        self._hass.async_create_task(work)

    # Buttons

    @callback
    def _async_press(self, event: Event[dict[str, Any]]) -> None:
        """Do what a button says, in the name of the night guard."""
        action, _, device_id = str(event.data.get("action")).rpartition("_")
        for unique_id in self._coordinator.data.trackers:
            bike = self._bike(unique_id)
            if bike and _device(bike) == device_id:
                self._async_do(bike, action.removeprefix(alerts.NIGHT))

    @callback
    def _async_do(self, bike: Bike, action: str) -> None:
        unique_id, tracker = bike.entity.unique_id, bike.tracker
        if action == "disarm":
            self._mine.add(unique_id)
            self._async_act("disarm", [unique_id])
        elif action == "arm" and tracker and tracker.ride_under_way:
            self._again.add(unique_id)
            for night in self._guards_of(bike):
                self._send(night, alerts.still_moving(self._hass, bike))
        elif action == "arm":
            self._async_act("arm", [unique_id])


def guard_state(tracker: Tracker) -> GuardState:
    """Return the state of a guard."""
    if (guard := tracker.state.guard) is None:
        return "disarmed"
    return "triggered" if guard.triggered else "armed"


def _panel(hass: HomeAssistant, unique_id: str) -> str | None:
    """Return the entity ID of a bike's guard."""
    kind = (Platform.ALARM_CONTROL_PANEL, DOMAIN, f"{unique_id}_guard")
    return er.async_get(hass).async_get_entity_id(*kind)


def _device(bike: Bike | None) -> str:
    return (bike and bike.entity.device_id) or ""


def _place(bike: Bike) -> Place | None:
    position = bike.tracker and bike.tracker.position
    if position is None or position.latitude is None or position.longitude is None:
        return None
    return position.latitude, position.longitude
