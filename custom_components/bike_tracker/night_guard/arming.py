"""Compare the guards of an account with what they should be."""

from collections import defaultdict
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any, Final

from homeassistant.config_entries import (
    SIGNAL_CONFIG_ENTRY_CHANGED,
    ConfigEntry,
    ConfigEntryChange,
)
from homeassistant.const import ATTR_ENTITY_ID, Platform
from homeassistant.core import Context, CoreState, Event, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect as connect
from homeassistant.helpers.event import (
    async_call_later,
    async_track_state_change_event,
    async_track_time_change,
)
from homeassistant.util import dt as dt_util

from ..const import DOMAIN
from ..coordinator import SIGNAL_OCCURRED, SIGNAL_UPDATED, BikeTrackerCoordinator
from ..database import Evaluation
from ..responses.bikes import Bike
from ..tracking.account import log_errors
from ..tracking.occurrences import Occurrence
from . import alerts
from .follow import Messenger
from .messages import EVENT_BUTTON, async_call
from .schedule import Decision, NightGuard, Situation, decide, state_of

SUBENTRY_TYPE: Final = "night_guard"
_ACTIONS: Final[dict[Decision, str]] = {
    "arm": "alarm_arm_away",
    "disarm": "alarm_disarm",
}


class NightGuards:
    """The night guards of one account."""

    def __init__(self, coordinator: BikeTrackerCoordinator) -> None:
        """Compare all guards with the first update."""
        self._coordinator = coordinator
        self._hass = coordinator.hass
        self._entry = coordinator.config_entry
        self._messenger = Messenger(coordinator)
        self._unsubscribe: list[Callable[[], None]] = []
        self._cancel_timer: Callable[[], None] | None = None
        # A night that began while Home Assistant was off begins with the first update.
        self._started_at = coordinator.evaluated.at
        self._compared_at: dict[str, datetime] = {}
        self._is_due = True
        self._news: list[tuple[str, Occurrence]] = []
        self._mine: set[str] = set()
        """Bikes whose rider tapped *It's me*, until they stand or a night begins."""
        self._again: set[str] = set()
        """Bikes that are armed again once they stand."""

    @callback
    def async_start(self) -> None:
        """Listen to the account, its settings and the buttons of messages."""
        hass, on_unload = self._hass, self._entry.async_on_unload
        on_unload(connect(hass, SIGNAL_OCCURRED, self._async_occurred))
        on_unload(connect(hass, SIGNAL_UPDATED, self._async_updated))
        on_unload(connect(hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._async_changed))
        on_unload(self._coordinator.async_add_listener(self._async_polled))
        on_unload(hass.bus.async_listen(EVENT_BUTTON, self._async_press))
        on_unload(self._async_stop)
        self._async_load()

    @callback
    def _async_stop(self) -> None:
        self._async_stop_timer()
        while self._unsubscribe:
            self._unsubscribe.pop()()

    @callback
    def _async_load(self) -> None:
        """Read the settings, and listen for begins, ends and riders."""
        self._async_stop()
        stored = self._entry.get_subentries_of_type(SUBENTRY_TYPE)
        guards = [NightGuard.from_data(it.subentry_id, it.data) for it in stored]
        self._messenger.guards = guards
        compare = self._async_compare_all
        riders = {rider for guard in guards for rider in guard.riders}
        stop = async_track_state_change_event(self._hass, riders, compare)
        self._unsubscribe.append(stop)
        for time in {time for guard in guards for time in guard.night or ()}:
            at = {"hour": time.hour, "minute": time.minute, "second": time.second}
            stop = async_track_time_change(self._hass, compare, **at)
            self._unsubscribe.append(stop)

    @callback
    def _async_changed(self, change: ConfigEntryChange, entry: ConfigEntry) -> None:
        if entry is not self._entry or change is not ConfigEntryChange.UPDATED:
            return
        before = self._messenger.guards
        self._async_load()
        if self._messenger.guards != before:
            self._async_compare_all(leaving=before)

    # The account

    @callback
    def _async_polled(self) -> None:
        """Note an outage, which is told about if it lasts."""
        if not (self._coordinator.last_update_success or self._cancel_timer):
            self._is_due = True
            over = self._coordinator.asked_at + alerts.NO_CONTACT_AFTER
            seconds = max((over - dt_util.utcnow()).total_seconds(), 0)
            timer = async_call_later(self._hass, seconds, self._async_no_contact)
            self._cancel_timer = timer

    @callback
    def _async_no_contact(self, _now: datetime | None = None) -> None:
        over = self._coordinator.asked_at + alerts.NO_CONTACT_AFTER
        if not self._coordinator.last_update_success and over <= dt_util.utcnow():
            self._messenger.tell_outage()

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
        """Send messages and compare guards, after triggers ran."""
        if coordinator is not self._coordinator:
            return
        self._async_stop_timer()
        messenger, trackers = self._messenger, coordinator.data.trackers
        news, self._news = self._news, []
        is_due, self._is_due = self._is_due, False
        # Buttons of other messages also work without a night guard.
        if not (messenger.guards or self._mine or self._again):
            return
        for unique_id, occurrence in news:
            with log_errors(self._entry.title, "sending a message"):
                messenger.tell(unique_id, occurrence, now.at)
        stands = {key for key, it in news if it.type == "ride_ended"}
        self._mine -= stands
        self._act("arm", self._again & stands)
        self._compare(trackers.keys() if is_due else stands)
        messenger.tell_contact()
        for unique_id, tracker in trackers.items() if messenger.guards else ():
            with log_errors(self._entry.title, "sending a message"):
                messenger.look(unique_id, tracker, now.at)

    # Arming

    @callback
    def _async_compare_all(
        self, _event: object = None, *, leaving: Collection[NightGuard] = ()
    ) -> None:
        if self._hass.state is CoreState.running:
            self._compare(self._coordinator.data.trackers, leaving)
            self._async_no_contact()

    def _compare(
        self, unique_ids: Collection[str], leaving: Collection[NightGuard] = ()
    ) -> None:
        """Arm and disarm guards that are not as they should be."""
        now, is_up = dt_util.now(), self._coordinator.last_update_success
        decided, reasons = defaultdict[Decision, set[str]](set), dict[str, str]()
        for unique_id in unique_ids:
            with log_errors(self._entry.title, "guarding a bike"):
                if (bike := self._messenger.bike(unique_id)) is None:
                    continue
                guards, device_id = (
                    self._messenger.guards_of(bike),
                    bike.entity.device_id,
                )
                if not (guards or any(it.is_for(device_id) for it in leaving)):
                    continue
                begins = self._night_begins(bike, guards, now)
                reason = self._reason(bike)
                is_night = any(it.is_night(now) for it in guards)
                if begins and is_up and reason and is_night:
                    reasons[unique_id] = reason
                if reason in (None, "triggered"):
                    decision = self._decision(bike, guards, now, begins=begins)
                    if decision:
                        decided[decision].add(unique_id)
                if is_up:
                    self._compared_at[unique_id] = now
        self._messenger.tell_reasons(reasons)
        for decision, keys in decided.items():
            self._act(decision, keys)

    def _night_begins(
        self, bike: Bike, guards: Collection[NightGuard], now: datetime
    ) -> bool:
        """Return whether a night began since the guard was compared or armed last."""
        last = self._compared_at.get(bike.entity.unique_id, self._started_at)
        state = self._coordinator.data.trackers[bike.entity.unique_id].state
        if state.guard and state.changed_by:
            last = max(last, state.guard.armed_at)
        nights = [night.last_began(now) for night in guards]
        begins = any(began > last for began in nights if began)
        if begins:
            self._mine.discard(bike.entity.unique_id)
        return begins

    def _decision(
        self, bike: Bike, guards: Collection[NightGuard], now: datetime, *, begins: bool
    ) -> Decision | None:
        tracker = self._coordinator.data.trackers[bike.entity.unique_id]
        wanted = any(self._messenger.is_wanted(it, bike, now) for it in guards)
        situation = Situation(
            state_of(tracker.state.guard),
            bool(tracker.state.changed_by) or bike.entity.unique_id in self._mine,
            on_ride=tracker.is_under_way,
            in_outage=not self._coordinator.last_update_success,
        )
        return decide(situation, is_wanted=wanted, night_begins=begins)

    def _reason(self, bike: Bike) -> str | None:
        """Return the reason for which a bike cannot be guarded now."""
        unique_id = bike.entity.unique_id
        tracker = self._coordinator.data.trackers[unique_id]
        device = self._coordinator.devices.get(unique_id)
        panel, guard = self._panel(unique_id), tracker.state.guard
        if panel is None or not tracker.has_fix:
            return "no_place"
        if panel.disabled or tracker.device.disabled or (device and device.disabled):
            return "disabled"
        is_gone = guard and guard.triggered and tracker.is_under_way
        return "triggered" if is_gone else None

    def _panel(self, unique_id: str) -> er.RegistryEntry | None:
        kind = (Platform.ALARM_CONTROL_PANEL, DOMAIN, f"{unique_id}_guard")
        registry = er.async_get(self._hass)
        return registry.async_get(registry.async_get_entity_id(*kind) or "")

    def _act(self, decision: Decision, unique_ids: Collection[str]) -> None:
        """Arm or disarm guards in the name of the night guard."""
        self._again -= {*unique_ids}
        panels = [panel.entity_id for it in unique_ids if (panel := self._panel(it))]
        if panels:
            action, data = _ACTIONS[decision], {ATTR_ENTITY_ID: panels}
            call = (Platform.ALARM_CONTROL_PANEL, action, data)
            self._messenger.run(async_call(self._hass, Context(), call))

    # Buttons

    @callback
    def _async_press(self, event: Event[dict[str, Any]]) -> None:
        """Do what a button says, in the name of the night guard."""
        action, _, device_id = str(event.data.get("action")).rpartition("_")
        bikes = filter(None, map(self._messenger.bike, self._coordinator.data.trackers))
        for bike in bikes:
            if bike.entity.device_id == device_id:
                self._do(bike, action.removeprefix(alerts.NIGHT))

    def _do(self, bike: Bike, action: str) -> None:
        unique_id, tracker = bike.entity.unique_id, bike.tracker
        guard = tracker and tracker.state.guard
        is_gone = tracker and tracker.is_under_way and guard and guard.triggered
        if action == "disarm":
            self._mine.add(unique_id)
            self._act("disarm", [unique_id])
        elif action == "arm" and is_gone:
            self._again.add(unique_id)
            for night in self._messenger.guards_of(bike):
                self._messenger.send(night, alerts.still_moving(self._hass, bike))
        elif action == "arm":
            self._act("arm", [unique_id])
        elif action == "report":
            self._messenger.run(self._messenger.async_report(bike))
