"""The account: apply device lists, positions, messages and history answers, and return the changes.

This package is plain Python: no clock, no network, no Home Assistant.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import batched
import logging
from operator import attrgetter
from typing import Final

from ..api.models import Device, Position, is_real
from .history import UpdateContext, in_order
from .log import Gap
from .occurrences import alarms_of
from .state import Changes, Tracker, Trackers, TrackerState

# A position may be later than the tracker's last contact, because the clock of a tracker
# may be some hours ahead. If it is later by more than this, its time is wrong.
_MAX_HOURS_AHEAD: Final = timedelta(days=1)
# Maximum number of trackers that a poll updates in one step of the event loop: 10 ms.
_APPLIED_AT_ONCE: Final = 100
_LOGGER = logging.getLogger(__name__)

type Devices = Mapping[str, Device]
"""The devices of a list, by `uniqueId`."""


@dataclass(eq=False, repr=False)
class Account:
    """All trackers of an account."""

    name: str
    """Name of the account in log messages."""
    states: dict[str, TrackerState]
    """The state of each tracker by `uniqueId`, including trackers that are no longer listed."""
    trackers: Trackers = field(default_factory=dict)
    """The trackers of the newest device list, by `uniqueId`."""
    gaps: dict[str, Gap] = field(init=False)
    """Gaps in the reports of listed and unlisted trackers, by `uniqueId`. The service's history may fill the gaps."""
    _devices: Devices = field(default_factory=dict)
    """The newest device list."""
    _by_id: Mapping[int | None, str] = field(default_factory=dict)
    _touched: dict[str, int | None] = field(default_factory=dict)
    """Trackers that the next poll must update, even if their device in the list is unchanged.

    These trackers changed after the newest list, are under way, or lack their newest
    position. The value is the current position ID of a tracker that changed after the
    newest list, otherwise None.
    """

    def known(self, unique_id: str) -> Tracker:
        """Return a tracker; if it is not listed, a tracker with its stored state and an empty device."""
        if tracker := self.trackers.get(unique_id):
            return tracker
        empty = Device(None, unique_id, unique_id, *[None] * 5)
        return Tracker(empty, self._state(unique_id))

    def __post_init__(self) -> None:
        """Collect the gaps of the known states."""
        self.gaps = {key: gap for key, it in self.states.items() if (gap := it.gap)}

    def wanted(self, devices: Devices) -> dict[int, Device]:
        """Return the devices whose position must be requested, by internal ID.

        Leave out devices without an internal ID, or with the same internal ID as
        another device: a position cannot be assigned to them.
        """
        wanted = [
            device
            for key, device in self._changed(devices).items()
            if is_outdated(device, self._state(key).position)
        ]
        by_id = _by_id(devices) if wanted else {}
        return {it.id: it for it in wanted if it.id is not None and it.id in by_id}

    def apply_poll(
        self,
        devices: Devices,
        positions: Mapping[str, Position],
        context: UpdateContext,
    ) -> Iterator[Changes]:
        """Apply a device list, and positions by `uniqueId`, in steps of 100 trackers. Yield the changes of each step.

        The list overrides earlier messages. A tracker without an entry in `positions`
        keeps its known position. Between two steps, the caller may apply other updates.
        """
        changed, left = self._changed(devices), set[str]()
        if devices is not self._devices:
            left = self.trackers.keys() - devices.keys()
            self._devices, self._by_id = devices, _by_id(devices)
        for keys in [*batched(changed, _APPLIED_AT_ONCE, strict=False)] or [()]:
            trackers = dict[str, Tracker]()
            for unique_id in keys:
                last = self._touched.pop(unique_id, None)
                device = _with_position_id(changed[unique_id], last)
                with log_errors(self.name, "updating a tracker"):
                    state = self._after_poll(device, positions.get(unique_id), context)
                    trackers[unique_id] = _tracker(device, state, context.now)
            changes, left = self._become(trackers, left), set()
            for unique_id, tracker in trackers.items():
                self._touched.pop(unique_id, None)
                if _may_change(tracker, devices[unique_id]):
                    self._touched[unique_id] = None
            yield changes

    def apply_message(
        self,
        devices: Iterable[Device],
        positions: Iterable[Position],
        context: UpdateContext,
    ) -> Changes:
        """Apply a push message. Ignore unlisted trackers. The next poll may undo the changes of the message.

        Each report has the same effect as if it had arrived alone. A report that is
        older than the known position may still change rides and raise alarms.
        """
        newer, trackers = self._newer(devices), dict[str, Tracker]()
        reports: dict[str, list[Position]] = defaultdict(list)
        for position in positions:
            if unique_id := self._by_id.get(position.device_id):
                reports[unique_id].append(position)
        for unique_id in newer.keys() | reports.keys():
            with log_errors(self.name, "updating a tracker"):
                device = newer.get(unique_id) or self.trackers[unique_id].device
                state = self._state(unique_id)
                known_id = state.position and state.position.id
                new = [it for it in reports[unique_id] if it.id != known_id]
                if new:
                    state = self._after(device, state, in_order(new), context)
                trackers[unique_id] = _tracker_at(device, state, context.now)
        return self._become(trackers)

    def apply_history(
        self, unique_id: str, state: TrackerState, now: datetime
    ) -> Changes:
        """Give a tracker its state after a history answer. Ignore a tracker that is not listed."""
        if (known := self.trackers.get(unique_id)) is None:
            return self._become({})
        return self._become({unique_id: _tracker_at(known.device, state, now)})

    def arm(
        self,
        unique_id: str,
        now: datetime,
        changed_by: str | None = None,
        *,
        after_ride: bool = False,
    ) -> Changes | None:
        """Arm the guard of a tracker. Return None if the tracker is not listed or never reported a place.

        If the guard is triggered and the bike moves, the guard stays triggered, and the
        state gets a `rearming`: the bike is guarded again as soon as it stands. With
        `after_ride`, the bike is guarded where it stood after its last ride, even if
        the next ride has begun.
        """
        tracker = self.trackers.get(unique_id)
        if tracker is None or not tracker.state.has_fix:
            return None
        if after_ride:
            state = tracker.state.armed_after_ride(now)
        else:
            state = tracker.state.armed(now, changed_by)
        return self._become({unique_id: tracker._replace(state=state)})

    def take_over(self, unique_id: str, now: datetime) -> Changes:
        """Let the night guard keep a listed bike guarded, whoever armed it."""
        tracker = self.trackers[unique_id]
        state = tracker.state._replace(changed_by=None, changed_at=now)
        return self._become({unique_id: tracker._replace(state=state)})

    def disarm(
        self,
        unique_id: str,
        now: datetime,
        changed_by: str | None = None,
        *,
        until: datetime | None = None,
    ) -> Changes:
        """Disarm the guard of a tracker, even if the tracker is not listed.

        With `until`, reports from before that time may arrive later, and can still
        trigger the guard.
        """
        before = self.known(unique_id)
        state = before.state.with_arming(None, now, changed_by, until)
        after = before._replace(state=state)
        if unique_id in self.trackers:
            return self._become({unique_id: after})
        self.states[unique_id] = state
        return Changes({unique_id: before}, {unique_id: after}, {unique_id})

    def forget(self, unique_id: str) -> None:
        """Remove the state and the gap of a tracker whose device was removed."""
        self.states.pop(unique_id, None)
        self.gaps.pop(unique_id, None)

    def _state(self, unique_id: str) -> TrackerState:
        return self.states.get(unique_id) or TrackerState()

    def _newer(self, devices: Iterable[Device]) -> Devices:
        """Return the newest of these devices for each listed tracker, unless it is older than the known device."""
        return {
            device.unique_id: _with_position_id(device, known.device.position_id)
            for device in sorted(devices, key=attrgetter("moment"))
            if (known := self.trackers.get(device.unique_id))
            and device.moment >= known.device.moment
        }

    def _changed(self, devices: Devices) -> Devices:
        """Return the devices of a list that may change their tracker, including the devices of `_touched` trackers.

        The client reuses the objects of unchanged devices, so compare objects: for a
        thousand devices, comparing values costs more than updating ten trackers. The
        first list after a message may be older than that message, so keep the newer
        position ID of the message.
        """
        known, last = self._devices, self._touched
        keys = last.keys() & devices.keys()
        if devices is not known:
            keys |= {key for key in devices if devices[key] is not known.get(key)}
        return {key: _with_position_id(devices[key], last.get(key)) for key in keys}

    def _after_poll(
        self, device: Device, position: Position | None, context: UpdateContext
    ) -> TrackerState:
        state = self._state(device.unique_id)
        if position is None:
            # Without a report, only a bike under way can change: its ride may be over.
            # After an outage, do not end the ride of a silent tracker yet, because the
            # next poll may bring its newest report.
            may_change = state.is_under_way and not context.recovering
            return state.by(context.now) if may_change else state
        if position.server_time is None and is_real(device.last_update):
            # Not all services send the time of receipt, so use the time of the last
            # contact.
            position = position._replace(server_time=device.last_update)
        return self._after(device, state, [position], context)

    def _after(
        self,
        device: Device,
        state: TrackerState,
        reports: Sequence[Position],
        context: UpdateContext,
    ) -> TrackerState:
        """Return a tracker's state after reports. The report with the device's position ID is the current position."""
        listed = self.trackers.get(device.unique_id)
        if listed is None:
            context = context._replace(recovering=True)
        is_first = not listed or listed.device.position_id == reports[0].id
        if not state.position and is_first:
            # The tracker already had this position when it was listed first, so its
            # alarms may be old. Store them as known, so that they are not fired.
            state = state._replace(alarms=tuple(alarms_of(reports[0])))
        return state.with_reports(reports, context, device.position_id)

    def _become(
        self, trackers: Mapping[str, Tracker], left: AbstractSet[str] = frozenset()
    ) -> Changes:
        """Replace these trackers, drop the trackers that have `left` the list, and return the changes."""
        before, contacts = self.trackers, set[str]()
        changed = {key: it for key, it in trackers.items() if it != before.get(key)}
        for unique_id, tracker in changed.items():
            self._touched[unique_id] = tracker.device.position_id
            if tracker.is_like(before.get(unique_id)):
                contacts.add(unique_id)
                continue
            self.states[unique_id] = tracker.state
            self.gaps.pop(unique_id, None)
            if gap := tracker.state.gap:
                self.gaps[unique_id] = gap
        if changed or left:
            after = {**before, **changed}
            for unique_id in left:
                del after[unique_id]
                self._touched.pop(unique_id, None)
            self.trackers = after
        keys = changed.keys() - contacts | left
        return Changes(before, self.trackers, keys, contacts)


@contextmanager
def log_errors(account: str, doing: str) -> Iterator[None]:
    """Log an unexpected error of the `with` block instead of raising it, so that the caller can continue."""
    try:
        yield
    except Exception:
        _LOGGER.exception("%s: Unexpected error %s", account, doing)


def _tracker(device: Device, state: TrackerState, now: datetime) -> Tracker:
    # If the status is unreadable, the flag keeps its value.
    is_online = None if device.status is None else device.status == "online"
    return Tracker(device, state.with_flag("online", is_online, now))


def _tracker_at(device: Device, state: TrackerState, now: datetime) -> Tracker:
    """Return the tracker after a message or a history answer.

    The device may still have the ID of an older position, so give it the ID of the
    newest position.
    """
    device = _with_position_id(device, state.position and state.position.id)
    return _tracker(device, state, now)


def _may_change(tracker: Tracker, listed: Device) -> bool:
    """Return whether the next poll must update a tracker, even if it is listed with the same device again."""
    device = tracker.device
    is_new = device is not listed or tracker.state.is_under_way
    return is_new or is_outdated(device, tracker.state.position)


def _by_id(devices: Devices) -> dict[int | None, str]:
    """Return each `uniqueId` by internal ID. Leave out an internal ID that several devices have."""
    times = Counter(device.id for device in devices.values())
    return {it.id: key for key, it in devices.items() if times[it.id] == 1}


def is_outdated(device: Device, known: Position | None) -> bool:
    """Return whether the device's position must be requested, because it is not the known position.

    Also return True if the known position has an unreadable time, or a time more than a
    day after the last contact with the tracker: the service may send the correct time.
    """
    if device.position_id is None:
        return False
    if known is None or known.id != device.position_id or not known.is_readable:
        return True
    contact = device.last_update
    return is_real(contact) and known.moment > contact + _MAX_HOURS_AHEAD


def _with_position_id(device: Device, position_id: int | None) -> Device:
    """Return the device with this position ID, unless the device's own position ID is higher.

    Servers send a device before its new position, so the device may still have the ID
    of the previous position.
    """
    if position_id is None or position_id <= (device.position_id or 0):
        return device
    return device._replace(position_id=position_id)
