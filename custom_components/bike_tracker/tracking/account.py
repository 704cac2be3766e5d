"""The account: lists, positions, messages and histories are applied, and give changes."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set as AbstractSet
from contextlib import contextmanager
from datetime import datetime, timedelta
import logging
from typing import Final

from ..api import Device, Position
from ..api.models import is_real
from .guard import put_right
from .history import HistoryAnswer, in_order, is_older_position
from .occurrences import UpdateContext
from .ride_detection import silent_at
from .ride_log import HistoryGap
from .state import Changes, Tracker, Trackers, TrackerState

# A tracker whose clock is hours ahead says what it always says.
_WRONG_CLOCKS: Final = timedelta(days=1)
_LOGGER = logging.getLogger(__name__)


class Account:
    """What is known of the trackers of one account."""

    def __init__(self, name: str, states: dict[str, TrackerState]) -> None:
        """Begin with what is known from before; the log calls the account by its name."""
        self._name = name
        self.states = states
        """The state of each tracker, also of those that are not listed."""
        self.trackers: Trackers = {}
        """The trackers that were listed last."""
        self.gaps: dict[str, HistoryGap] = {}
        """What is to be asked for of the service's history, also of those not listed."""
        self._devices: Mapping[str, Device] = {}
        """The last list."""
        self._by_id: Mapping[int | None, str] = {}
        self._touched: dict[str, int | None] = {}
        """Trackers that the next list may change although it says of them what this did.

        They changed since, and had this position then, or have not the one that was
        announced.
        """
        self._silent_at: dict[str, datetime] = {}
        """When rides under way are over by the clock."""
        for unique_id, state in states.items():
            self._remember(unique_id, state)

    def wanted(self, devices: Mapping[str, Device]) -> dict[int, Device]:
        """Return the devices of a new list whose position has to be asked for.

        By their internal ID; one that several devices have leads to nobody's place.
        """
        wanted = {
            device.id: device
            for unique_id in self._touched_by(devices)
            if (device := devices.get(unique_id))
            and device.id is not None
            and is_outdated(
                _with_position_id(device, self._touched.get(unique_id)),
                self._state(unique_id).position,
            )
        }
        by_id = _by_id(devices) if wanted else {}
        return {key: wanted[key] for key in wanted if key in by_id}

    def apply_poll(
        self,
        devices: Mapping[str, Device],
        positions: Mapping[str, Position],
        context: UpdateContext,
    ) -> Changes:
        """Apply a device list, and positions by `uniqueId`.

        The list wins over messages before it. A position that no server lists any more
        stays: the bike is where it was.
        """
        changed, outdated = dict[str, Tracker](), set[str]()
        silent = {key for key, at in self._silent_at.items() if at <= context.now}
        for unique_id in (self._touched_by(devices) | silent) & devices.keys():
            with log_errors(self._name, "updating a tracker"):
                device, state = devices[unique_id], self._state(unique_id)
                announced = _with_position_id(device, self._touched.get(unique_id))
                if position := positions.get(unique_id):
                    if position.server_time is None and is_real(device.last_update):
                        # Not all services tell when they received a report.
                        position = position._replace(server_time=device.last_update)
                    state = self._after(announced, state, position, context)
                elif not context.recovering:
                    # Who comes back may have gone on meanwhile: the next poll shows that.
                    state = state.after_time(context)
                if announced is not device or is_outdated(device, state.position):
                    outdated.add(unique_id)
                changed |= self._changed(announced, state, context)
        changes = self._become(changed, self.trackers.keys() - devices.keys())
        if self._devices is not devices:
            self._devices, self._by_id = devices, _by_id(devices)
        self._touched = dict.fromkeys(outdated)
        return changes

    def apply_message(
        self,
        devices: Iterable[Device],
        positions: Iterable[Position],
        context: UpdateContext,
    ) -> Changes:
        """Apply a push message of listed trackers.

        Each report counts as if it had come alone. Of one that is older than what is known
        the alarms count alone. The next poll may take all of it back.
        """
        newer, reports = self._newer(devices), defaultdict[str, list[Position]](list)
        for position in positions:
            if unique_id := self._by_id.get(position.device_id):
                reports[unique_id].append(position)
        changed: dict[str, Tracker] = {}
        for unique_id in newer.keys() | reports.keys():
            with log_errors(self._name, "updating a tracker"):
                device = newer.get(unique_id) or self.trackers[unique_id].device
                state = self._state(unique_id)
                for position in in_order(reports[unique_id]):
                    if state.position is None or state.position.id != position.id:
                        state = self._after(device, state, position, context)
                    if state.position and state.position.id == position.id:
                        device = _with_position_id(device, position.id)
                changed |= self._changed(device, state, context)
        return self._become(changed)

    def apply_history(
        self, unique_id: str, answer: HistoryAnswer, context: UpdateContext
    ) -> Changes:
        """Apply what the service's history has of a gap."""
        changed: dict[str, Tracker] = {}
        with log_errors(self._name, "updating a tracker"):
            if tracker := self.trackers.get(unique_id):
                state = self._state(unique_id).with_history(answer, context)
                position_id = state.position and state.position.id
                device = _with_position_id(tracker.device, position_id)
                changed |= self._changed(device, state, context)
        return self._become(changed)

    def arm(
        self, unique_id: str, now: datetime, changed_by: str | None = None
    ) -> Changes | None:
        """Guard a listed tracker; return None if it has no place."""
        state = self._state(unique_id).armed(now, changed_by)
        return state and self._with_state(unique_id, state)

    def disarm(self, unique_id: str, changed_by: str | None = None) -> Changes:
        """Guard a listed tracker no more."""
        state = self._state(unique_id)._replace(guard=None, changed_by=changed_by)
        return self._with_state(unique_id, state)

    def forget(self, unique_id: str) -> None:
        """Forget a tracker whose device was removed."""
        for known in (self.states, self.gaps, self._silent_at):
            known.pop(unique_id, None)

    def _with_state(self, unique_id: str, state: TrackerState) -> Changes:
        tracker = self.trackers[unique_id]._replace(state=state)
        return self._become({unique_id: tracker})

    def _state(self, unique_id: str) -> TrackerState:
        # Not with each report: the ride book follows once all of an answer are applied.
        state = self.states.get(unique_id) or TrackerState()
        rides = state.rides.trimmed()
        return state if rides is state.rides else state._replace(rides=rides)

    def _touched_by(self, devices: Mapping[str, Device]) -> set[str]:
        """Return the trackers that a new list may change; the others are the same objects.

        Of a thousand, to look at each costs more than all that is done with ten.
        """
        known, touched = self._devices, set(self._touched)
        if devices is not known:
            touched |= {key for key in devices if devices[key] is not known.get(key)}
        return touched

    def _after(
        self,
        device: Device,
        state: TrackerState,
        position: Position,
        context: UpdateContext,
    ) -> TrackerState:
        """Return the state after a report; what is announced counts, however old it is."""
        is_announced, known = position.id == device.position_id, state.position
        if known and not is_announced and is_older_position(position, known):
            return state.with_older_report(position, context)
        is_new = device.unique_id not in self.states
        if device.unique_id not in self.trackers:
            context = context._replace(recovering=True)
        if (guard := state.guard) and not (context.recovering or context.has_missed):
            guard = put_right(guard, position, context.now)
            state = state._replace(guard=guard)
        fires_alarms = not is_new and state.initial_position_id != position.id
        return state.with_report(position, context, fires_alarms=fires_alarms)

    def _newer(self, devices: Iterable[Device]) -> dict[str, Device]:
        """Return the listed devices of a message, unless what is known is newer."""
        newer: dict[str, Device] = {}
        for device in devices:
            tracker = self.trackers.get(device.unique_id)
            known = newer.get(device.unique_id) or (tracker and tracker.device)
            if known and device.moment >= known.moment:
                newer[device.unique_id] = _with_position_id(device, known.position_id)
        return newer

    def _changed(
        self, device: Device, state: TrackerState, context: UpdateContext
    ) -> dict[str, Tracker]:
        """Return a listed tracker by its `uniqueId`, nothing if it did not change."""
        unique_id = device.unique_id
        if unique_id not in self.states:
            state = state._replace(initial_position_id=device.position_id)
        tracker = Tracker(device, state.with_status(device.status, context.now))
        return {} if tracker == self.trackers.get(unique_id) else {unique_id: tracker}

    def _become(
        self, changed: Mapping[str, Tracker], left: AbstractSet[str] = frozenset()
    ) -> Changes:
        """Return the changes once these trackers changed, and others left the list."""
        before = self.trackers
        for unique_id, tracker in changed.items():
            self._remember(unique_id, tracker.state)
            known, position = before.get(unique_id), tracker.position
            is_pushed = known and position and known.position is not position
            pushed_id = position.id if is_pushed and position else None
            self._touched[unique_id] = pushed_id or self._touched.get(unique_id)
        if changed or left:
            trackers = {**before, **changed}
            for unique_id in left:
                del trackers[unique_id]
            self.trackers = trackers
        return Changes(before, self.trackers, changed.keys() | left)

    def _remember(self, unique_id: str, state: TrackerState) -> None:
        self.states[unique_id] = state
        _set(self.gaps, unique_id, state.gap)
        _set(self._silent_at, unique_id, silent_at(state.ride_state))


@contextmanager
def log_errors(account: str, doing: str) -> Iterator[None]:
    """Log an unexpected error: it costs one tracker until its next report, and no other."""
    try:
        yield
    except Exception:
        _LOGGER.exception("%s: Unexpected error %s", account, doing)


def _set[T](known: dict[str, T], key: str, value: T | None) -> None:
    if value is None:
        known.pop(key, None)
    else:
        known[key] = value


def _by_id(devices: Mapping[str, Device]) -> dict[int | None, str]:
    """Return trackers by internal ID; one that several devices have is nobody's."""
    ids = [device.id for device in devices.values()]
    by_id = dict(zip(ids, devices, strict=True))
    if len(by_id) == len(ids):
        return by_id
    return {key: by_id[key] for key, times in Counter(ids).items() if times == 1}


def is_outdated(device: Device, known: Position | None) -> bool:
    """Return whether a device has another position than the known one.

    One whose time was not readable, or is later than the service heard of the device at
    all, may have come from a service that was not well: the same one may come again.
    """
    if device.position_id is None:
        return False
    if known is None or known.id != device.position_id or not known.is_readable:
        return True
    if known.fix_time is None or not is_real(device.last_update):
        return False
    return known.fix_time > device.last_update + _WRONG_CLOCKS


def _with_position_id(device: Device, position_id: int | None) -> Device:
    """Return the device with this position, unless it announces a newer one.

    Servers tell of a device before its position, with the ID of the one before.
    """
    if position_id is None or position_id <= (device.position_id or 0):
        return device
    return device._replace(position_id=position_id)
