"""Arm and disarm the bikes of an account as its night guards require."""

from collections.abc import Callable, Collection, Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from homeassistant.config_entries import (
    SIGNAL_CONFIG_ENTRY_CHANGED,
    ConfigEntry,
    ConfigEntryChange,
)
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import Context, CoreState, Event, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect as connect
from homeassistant.helpers.event import (
    async_track_state_change_event,
    async_track_time_change,
)
from homeassistant.util import dt as dt_util

from ..coordinator import BikeTrackerCoordinator
from ..devices import async_create_issue, async_delete_issue
from ..dispatch import SIGNAL_UPDATED, Update
from ..responses import Bike, known_bike
from ..responses.texts import with_commas
from ..tracking import log_errors
from ..tracking.occurrences import Occurrence
from ..tracking.state import Changes, Trackers, TrackerState
from . import NightGuard, alerts, decide, state_of
from .follow import Messenger, is_armed_by_arrival
from .messages import EVENT_BUTTON, action_of, async_remove_guard_message, pressed

# By day, the phone of a rider who sets off on a bike may report this long before the bike.
_SETS_OFF_WITHIN: Final = timedelta(minutes=3)
# A report may come this much later than its tracker's interval.
_REPORTS_WITHIN: Final = timedelta(minutes=1)
# Trackers that report less often at rest sleep, and wake up if the bike moves.
_SLEEPS_FROM: Final = timedelta(minutes=11)
_RECIPIENT_GONE: Final = "recipient_gone"


@callback
def async_note_outage(coordinator: BikeTrackerCoordinator) -> None:
    """Send a message about an outage that continues while Home Assistant retries the set-up."""
    last = coordinator.database.content.evaluation
    if last and coordinator.hass.state is CoreState.running:
        Messenger(coordinator).tell_outage(last.asked_at)


class NightGuards:
    """The night guards of an account: they arm and disarm bikes, and pass occurrences to the messenger."""

    def __init__(self, coordinator: BikeTrackerCoordinator) -> None:
        """Initialize. The first update of the account arms or disarms all bikes as required."""
        self._coordinator = coordinator
        self._hass = coordinator.hass
        self._entry = coordinator.config_entry
        self._messenger = Messenger(coordinator)
        self._unsubscribe: list[Callable[[], None]] = []
        # The last evaluation of triggers was shortly before Home Assistant stopped. If
        # a night began later, the first update must arm the bikes for this night.
        evaluation, now = coordinator.database.content.evaluation, dt_util.utcnow()
        self._started_at = min(evaluation.at, now) if evaluation else now
        self._compared_at: dict[str, datetime] = {}
        self._away_since: dict[str, datetime] = {}
        """When a comparison first showed that a bike should be guarded, as all later ones did."""
        self._nights: list[tuple[datetime | None, datetime | None]] = []
        """Start and end of the newest night of each night guard, at the last check."""
        self._blocked: set[str] = set()
        """Bikes that could not be guarded yet when they were compared, except moved bikes."""
        self._before: Trackers = {}
        """The trackers at the last update."""

    @callback
    def async_end_nights(self) -> None:
        """Disarm the bikes whose night ended while Home Assistant was stopped, before a poll shows later rides."""
        account = self._coordinator.data
        for unique_id in [*account.states]:
            with log_errors(self._entry.title, "guarding a bike"):
                if end := self._night_ended(unique_id):
                    disarmed = account.disarm(unique_id, end, until=end)
                    self._coordinator.async_set_changes(disarmed)

    def _night_ended(self, unique_id: str) -> datetime | None:
        """Return when the night of a guarded bike ended, if Home Assistant was stopped then; otherwise None.

        If a night guard has riders, return None: the bike may still need its guard.
        """
        bike = known_bike(self._coordinator, unique_id)
        nights = self._messenger.guards_of(bike) if bike else []
        guard = self._coordinator.data.states[unique_id].guard
        is_held = self._messenger.is_held(unique_id)
        if guard is None or guard.is_done or is_held or any(it.riders for it in nights):
            return None
        # *Guard again* may have armed the bike in an outage after the night.
        began = max(self._started_at, guard.armed_at)
        day_later = dt_util.as_local(began) + timedelta(days=1)
        ends = sorted(filter(None, (it.last_ended(day_later) for it in nights)))
        for end in ends:
            if end <= dt_util.now() and not any(it.is_night(end) for it in nights):
                return dt_util.as_utc(end)
        return None

    @callback
    def async_start(self) -> None:
        """Listen to the account, its settings and the buttons of messages."""
        hass, on_unload = self._hass, self._entry.async_on_unload
        on_unload(connect(hass, SIGNAL_UPDATED, self._async_updated))
        on_unload(connect(hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._async_changed))
        on_unload(hass.bus.async_listen(EVENT_BUTTON, self._async_press))
        # When Home Assistant stops, it does not cancel `async_track_time_change`.
        on_stop = hass.bus.async_listen(EVENT_HOMEASSISTANT_STOP, self._async_stop)
        on_unload(on_stop)
        on_unload(self._async_stop)
        self._async_load()

    @callback
    def _async_stop(self, _event: object = None) -> None:
        while self._unsubscribe:
            self._unsubscribe.pop()()

    @callback
    def _async_load(self) -> None:
        """Read the settings. With a night guard, check each full minute, and when a rider moves."""
        self._async_stop()
        self._messenger.load()
        self._check_chosen()
        guards, compare = self._messenger.guards, self._async_compare_all
        riders = {rider for guard in guards for rider in guard.riders}
        if guards:
            self._unsubscribe += [
                async_track_state_change_event(self._hass, riders, compare),
                async_track_time_change(self._hass, self._async_check, second=0),
            ]

    @callback
    def _async_changed(self, _: ConfigEntryChange, entry: ConfigEntry) -> None:
        if entry is not self._entry:
            return
        before = self._messenger.guards
        self._async_load()
        if self._messenger.guards != before:
            self._async_compare_all(leaving=before)

    # The account

    @callback
    def _async_check(self, _now: datetime) -> None:
        """Arm and disarm bikes if a night began or ended. Check riders, recipients and the contact.

        Timers for the times of the nights would be late after a jump of the clock, and
        skip a time that does not exist when the clock is set forward in spring.
        """
        now, guards = dt_util.now(), self._messenger.guards
        nights = [(it.last_began(now), it.last_ended(now)) for it in guards]
        if nights != self._nights:
            self._nights = nights
            self._async_compare_all()
        self._check_chosen()
        self._check_contact()

    def _check_chosen(self) -> None:
        """Create a repair issue that names the night guards with a rider or recipient that is gone, or delete the issue."""
        hass, entry = self._hass, self._entry
        # While Home Assistant starts, entities may not have been added yet.
        if hass.state is not CoreState.running:
            return
        names, state = list[str](), hass.states.get
        for night in self._messenger.guards:
            phones = (action_of(hass, phone) for phone in night.phones)
            if not all((*phones, *map(state, (*night.others, *night.riders)))):
                names.append(entry.subentries[night.id].title)
        if names:
            named = with_commas(hass, names)
            async_create_issue(hass, entry, _RECIPIENT_GONE, names=named)
        else:
            async_delete_issue(hass, entry, _RECIPIENT_GONE)

    def _check_contact(self) -> None:
        """If an outage has lasted 15 minutes, send a message. The first update after an outage arms and disarms bikes."""
        if not self._coordinator.last_update_success:
            self._messenger.tell_outage(self._coordinator.service.answered_at)

    @callback
    def _async_updated(self, update: Update) -> None:
        """Send messages, and arm and disarm guards."""
        coordinator, now = update.coordinator, update.now
        if coordinator is not self._coordinator:
            return
        if now.at < update.last.at:
            # The clock was set back. Correct the times of the last comparison and check,
            # otherwise the next night would seem to have begun before. Set the timer
            # again, otherwise it would fire late.
            self._compared_at = dict.fromkeys(self._compared_at, now.at)
            self._nights = []
            self._async_load()
        messenger, trackers = self._messenger, coordinator.data.trackers
        before, self._before = self._before, trackers
        if not messenger.guards:
            return
        ends = self._tell_fired(update)
        self._set_mine(forget=ends)
        # Leave out bikes that *Guard again* armed at the end of this ride: they stay
        # armed, even if the night is over.
        stands = [
            unique_id
            for unique_id, end in ends.items()
            if (tracker := trackers.get(unique_id))
            and not is_armed_by_arrival(tracker.state.guard, end)
        ]
        # After an outage, compare all bikes. Otherwise, compare the bikes that the last
        # update did not list, and bikes that stand or can be guarded again.
        others = coordinator.data.states.keys() - (() if update.is_first else before)
        others |= self._unguarded_stopped(before) | self._solved() | {*stands}
        self._compare(others, stood=stands)
        messenger.tell_contact()
        for unique_id, tracker in trackers.items():
            with log_errors(self._entry.title, "sending a message"):
                messenger.follow(unique_id, tracker, now.at)
        with log_errors(self._entry.title, "sending a message"):
            messenger.tell_silent(now.at)

    def _tell_fired(self, update: Update) -> dict[str, Occurrence]:
        """Send messages about the fired occurrences. Return the last end of a ride of each bike."""
        states = self._coordinator.data.states
        ends = {key: it for key, it in update.fired if it.type == "ride_ended"}
        for unique_id, occurrence in update.fired:
            # After a pause, several rides of a bike may end in one update, and another may
            # begin. Send a message only about a ride that ended where the bike is now.
            is_end = occurrence.type == "ride_ended"
            is_last = occurrence is ends.get(unique_id)
            if is_end and (not is_last or _is_gone(states[unique_id])):
                continue
            with log_errors(self._entry.title, "sending a message"):
                self._messenger.tell(unique_id, occurrence, update.now.at)
        return ends

    # Arming

    def _unguarded_stopped(self, before: Trackers) -> set[str]:
        """Return the unguarded bikes that stand again. If a bike only moved on the spot, no ride ended."""
        trackers = self._coordinator.data.trackers
        moved = (key for key, it in before.items() if it.state.is_under_way)
        states = {key: trackers[key].state for key in moved if key in trackers}
        return {key for key, it in states.items() if not (it.is_under_way or it.guard)}

    def _solved(self) -> set[str]:
        """Forget the reasons against guarding bikes that are gone, and return the bikes to check.

        Leave out bikes that were moved: they are checked when their ride ends.
        """
        for night in self._messenger.guards:
            known = self._messenger.of(night).reasons
            left = {key: it for key, it in known.items() if self._reason(key)}
            self._messenger.remember_of(night, reasons=left)
        return {it for it in self._blocked if not self._reason(it)}

    @callback
    def _async_compare_all(
        self, _event: object = None, *, leaving: Collection[NightGuard] = ()
    ) -> None:
        # The first update compares all bikes, too, but sends the messages about alarms first.
        is_ready = self._before or leaving
        if self._hass.state is CoreState.running and is_ready:
            self._compare(self._coordinator.data.states, leaving)
            self._check_contact()

    def _compare(
        self,
        unique_ids: Collection[str],
        leaving: Collection[NightGuard] = (),
        stood: Collection[str] = (),
    ) -> None:
        """Arm and disarm the guards of these bikes as the night guards require.

        `leaving` are the night guards before a change of the settings. The rides of the
        bikes in `stood` have just ended, but the next ride may have begun.
        """
        changes, reasons = list[Changes](), dict[str, str]()
        for unique_id in unique_ids:
            with log_errors(self._entry.title, "guarding a bike"):
                if bike := known_bike(self._coordinator, unique_id):
                    changes += self._compared(bike, reasons, leaving, stood)
        self._messenger.tell_reasons(reasons)
        # Arming or disarming here does not remove the message about a triggered guard:
        # it stays until a person acts.
        self._coordinator.async_set_changes(*changes)

    def _compared(
        self,
        bike: Bike,
        reasons: dict[str, str],
        leaving: Collection[NightGuard],
        stood: Collection[str],
    ) -> Iterator[Changes]:
        """Arm or disarm a bike, and yield the changes. In `reasons`, note why the bike cannot be guarded tonight."""
        unique_id, device_id = bike.unique_id, bike.device_id
        guards = self._messenger.guards_of(bike)
        if not (guards or any(it.is_for(device_id) for it in leaving)):
            return
        now, is_up = dt_util.now(), self._coordinator.last_update_success
        begins, reason = self._night_begins(bike, guards, now), self._reason(unique_id)
        is_night = any(it.is_night(now) for it in guards)
        if begins and is_up and reason and is_night:
            reasons[unique_id] = reason
        # By day, the places of the riders while the bike stood are not known.
        after_ride = unique_id in stood and self._stood_at_night(bike, guards, now)
        account, is_blocked = self._coordinator.data, reason not in (None, "triggered")
        state, is_wanted = account.states[unique_id], self._messenger.is_wanted
        if not (state.guard or any(it.night for it in guards)):
            # Without a night, a ride ends the choice of a person who disarmed the bike.
            begins = unique_id in stood
        wanted = any(is_wanted(night, state, now) for night in guards)
        may_set_off = self._may_set_off(unique_id, now, is_wanted=wanted)
        cannot_arm = is_blocked or (may_set_off and not is_night)
        if cannot_arm:
            self._blocked.add(unique_id)
        else:
            self._blocked.discard(unique_id)
        decision = decide(
            state_of(state.guard),
            is_wanted=wanted,
            night_begins=begins,
            is_held=self._messenger.is_held(unique_id),
            cannot_arm=cannot_arm or (state.is_under_way and not after_ride),
            in_outage=not is_up,
        )
        if decision == "disarm":
            until = self._until(unique_id, guards, now)
            yield account.disarm(unique_id, dt_util.utcnow(), until=until)
        elif decision == "keep" and not is_blocked:
            yield account.take_over(unique_id, dt_util.utcnow())
        elif decision == "arm" and not is_blocked:
            armed = account.arm(unique_id, dt_util.utcnow(), after_ride=after_ride)
            yield from filter(None, [armed])
        # Until a blocked bike can be guarded, the start of the night has not taken effect.
        if is_up and not is_blocked:
            self._compared_at[unique_id] = now

    def _may_set_off(self, unique_id: str, now: datetime, *, is_wanted: bool) -> bool:
        """Store the time from which a bike should be guarded. Return whether a rider may just have set off on it."""
        # If the clock was set back, the stored time may be in the future.
        since = min(self._away_since.pop(unique_id, now), now)
        if not is_wanted:
            return False
        self._away_since[unique_id] = since
        state = self._coordinator.data.states[unique_id]
        wait, every = _SETS_OFF_WITHIN, state.reports_every
        if every < _SLEEPS_FROM and (state.seen_at or since) <= since:
            # The next report shows whether the rider set off on the bike.
            wait = max(wait, every + _REPORTS_WITHIN)
        return now - since < wait

    def _until(
        self, unique_id: str, guards: Collection[NightGuard], now: datetime
    ) -> datetime | None:
        """Return the time until which late reports can trigger a guard that is disarmed now; None without a night."""
        told = (self._messenger.of(night).without_contact for night in guards)
        is_told = any(unique_id in each for each in told)
        if is_told or not self._coordinator.last_update_success:
            return dt_util.utcnow()
        nights = [it.last_ended(now) for it in guards]
        return max(filter(None, nights), default=None)

    def _night_begins(
        self, bike: Bike, guards: Collection[NightGuard], now: datetime
    ) -> bool:
        """Return whether a night began after the last call, and after the guard was last changed or triggered.

        If a night began, the effect of *It's me* ends.
        """
        last = self._compared_at.get(bike.unique_id, self._started_at)
        state = self._coordinator.data.states[bike.unique_id]
        triggered = state.guard and state.guard.triggered
        triggered_at = triggered and triggered.since + state.clock_error
        for time in (state.changed_at, triggered_at):
            # If the clock was ahead then, this time may be in the future: ignore it.
            if time and last < time <= now:
                last = time
        nights = [night.last_began(now) for night in guards]
        begins = any(began > last for began in nights if began)
        if begins:
            self._set_mine(forget=[bike.unique_id])
        return begins

    def _stood_at_night(
        self, bike: Bike, guards: Collection[NightGuard], now: datetime
    ) -> bool:
        """Return whether it is night, and the ride under way, if any, did not begin before that night."""
        ride = self._coordinator.data.states[bike.unique_id].ride_state.ride
        nights = [it.last_began(now) for it in guards if it.is_night(now)]
        return any(not ride or began <= ride.started_at for began in nights if began)

    def _set_mine(
        self, *, add: Collection[str] = (), forget: Collection[str] = ()
    ) -> None:
        """Change for which bikes *It's me* has an effect. Forget bikes that a user deleted."""
        mine = {*self._messenger.sent.mine, *add}.difference(forget)
        mine &= self._coordinator.data.states.keys()
        self._messenger.remember(mine=tuple(sorted(mine)))

    def _reason(self, unique_id: str) -> str | None:
        """Return the key of the reason why a bike cannot be guarded now, or None."""
        tracker = self._coordinator.data.trackers.get(unique_id)
        if tracker is None:
            return "left_account"
        device = self._coordinator.devices.get(unique_id)
        panel = self._messenger.panel(unique_id)
        if panel is None or not tracker.state.has_fix:
            return "no_place"
        if panel.disabled or tracker.device.disabled or (device and device.disabled):
            return "disabled"
        return "triggered" if _is_gone(tracker.state) else None

    # Buttons

    @callback
    def _async_press(self, event: Event[dict[str, Any]]) -> None:
        """Do what a tapped button of a message requests: arm or disarm the bike, or send a theft report.

        No user is passed on, so the guard shows no user.
        """
        action, device_id = pressed(event, alerts.NIGHT)
        states = self._coordinator.data.states if action else ()
        bikes = (known_bike(self._coordinator, unique_id) for unique_id in states)
        bike = next((it for it in bikes if it and it.device_id == device_id), None)
        if bike is None:
            return
        panel = self._messenger.panel(bike.unique_id)
        is_enabled = panel is not None and not panel.disabled
        if action == "report":
            self._hass.async_create_task(self._messenger.async_report(bike))
        elif action == "disarm" and is_enabled:
            self._disarm(bike)
        elif action == "arm" and is_enabled:
            self._arm(bike)

    def _disarm(self, bike: Bike) -> None:
        account, unique_id = self._coordinator.data, bike.unique_id
        # After a ride that is over, the night guard decides now.
        was_ridden = self._was_ridden(unique_id)
        self._set_mine(add=[] if was_ridden else [unique_id])
        disarmed = account.disarm(unique_id, dt_util.utcnow())
        self._coordinator.async_set_changes(disarmed)
        if was_ridden:
            self._compare([unique_id])
        async_remove_guard_message(self._hass, Context(), bike.device_id)

    def _arm(self, bike: Bike) -> None:
        account, unique_id = self._coordinator.data, bike.unique_id
        state, nights = account.states[unique_id], self._messenger.guards_of(bike)
        is_gone = _is_gone(state)
        self._set_mine(forget=[unique_id])
        # Keep a bike armed that a person armed, or that no night guard may guard now.
        may_guard = any(it.riders or it.is_night(dt_util.now()) for it in nights)
        by = None if state.changed_by is None and may_guard else ""
        if changes := account.arm(unique_id, dt_util.utcnow(), by):
            self._coordinator.async_set_changes(changes)
        if is_gone or bike.tracker is None:
            self._messenger.send(nights, alerts.not_armed(self._hass, bike))
        else:
            async_remove_guard_message(self._hass, Context(), bike.device_id)

    def _was_ridden(self, unique_id: str) -> bool:
        """Return whether the ride that triggered the guard of a bike is over."""
        state = self._coordinator.data.states[unique_id]
        cause, ride = state.guard and state.guard.triggered, state.ride_state.ended
        return bool(cause and ride and ride.moved_at >= cause.since)


def _is_gone(state: TrackerState) -> bool:
    """Return whether a bike moves while its guard is triggered."""
    return bool(state.guard and state.guard.triggered and state.is_under_way)
