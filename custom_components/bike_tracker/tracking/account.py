"""The account: lists, positions, messages and histories are applied, and give changes."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
import logging

from ..api import Changes, Device, Position
from .checkpoint import HistoryGap
from .history import HistoryAnswer
from .occurrences import UpdateContext
from .reports import (
    in_order,
    is_older_device,
    is_older_position,
    is_outdated,
    is_stale,
    with_position_id,
)
from .state import NEW_STATE, TrackerState
from .tracker import Tracker, Trackers

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Listed:
    """The last list, and what was known after it."""

    devices: Mapping[str, Device] = field(default_factory=dict)
    by_id: Mapping[int | None, str] = field(default_factory=dict)
    """The trackers by internal ID; one that several devices have is nobody's."""
    trackers: Trackers = field(default_factory=dict)
    outdated: AbstractSet[str] = frozenset()
    """Trackers whose position is not the one that the list announced.

    A message may have been ahead of the list: the next one shows it.
    """


class Account:
    """What is known of the trackers of one account."""

    def __init__(self, name: str, states: dict[str, TrackerState]) -> None:
        """Begin with what is known from before; the log calls the account by its name."""
        self._name = name
        self.states = states
        """The state of each tracker, also of those that are not listed."""
        self.trackers: Trackers = {}
        """The trackers that were listed last."""
        self._listed = _Listed()
        # Trackers under way, and those of which reports may be missing.
        self._pending = {key for key, state in states.items() if state.is_pending}

    def wanted(self, devices: Changes[str, Device]) -> dict[int, Device]:
        """Return the devices of a new list whose position has to be asked for.

        By their internal ID; one that several devices have leads to nobody's place.
        """
        wanted = {
            device.id: device
            for unique_id in self._touched(devices)
            if (device := devices.after.get(unique_id))
            and device.id is not None
            and is_outdated(
                with_position_id(device, self._pushed(unique_id)),
                self._state(unique_id).position,
            )
        }
        by_id = _by_id(devices.after) if wanted else {}
        return {key: wanted[key] for key in wanted if key in by_id}

    def apply_poll(
        self,
        devices: Changes[str, Device],
        positions: Mapping[str, Position],
        context: UpdateContext,
    ) -> Changes[str, Tracker]:
        """Apply a device list, and positions by `uniqueId`.

        The list wins over messages before it. A position that no server lists any more
        stays: the bike is where it was.
        """
        # Who comes back may have gone on meanwhile: that is seen with the next poll.
        due = set() if context.recovering else self._due(context.now) - positions.keys()
        touched = self._touched(devices) | positions.keys() | due
        changed, outdated = dict[str, Tracker](), set[str]()
        for unique_id in touched & devices.after.keys():
            with self._costs_one_tracker():
                device = devices.after[unique_id]
                pushed_id, state = self._pushed(unique_id), self._state(unique_id)
                if position := positions.get(unique_id):
                    state = self._after_poll(device, state, position, context)
                elif unique_id in due:
                    state = state.after_time(context)
                announced = with_position_id(device, pushed_id)
                if announced is not device or is_outdated(device, state.position):
                    outdated.add(unique_id)
                self._note(changed, announced, state, context)
        left = self.trackers.keys() - devices.after.keys()
        changes = self._become(changed, left)
        by_id = self._listed_by_id(devices)
        self._listed = _Listed(devices.after, by_id, self.trackers, outdated)
        return changes

    def apply_message(
        self,
        devices: Iterable[Device],
        positions: Iterable[Position],
        context: UpdateContext,
    ) -> Changes[str, Tracker]:
        """Apply a push message of listed trackers.

        Each report counts as if it had come alone. Of one that is older than what is known
        the alarms count alone. The next poll may take all of it back.
        """
        newer, reports = self._newer(devices), defaultdict[str, list[Position]](list)
        for position in positions:
            if unique_id := self._listed.by_id.get(position.device_id):
                reports[unique_id].append(position)
        changed: dict[str, Tracker] = {}
        for unique_id in newer.keys() | reports.keys():
            with self._costs_one_tracker():
                device = newer.get(unique_id) or self.trackers[unique_id].device
                after = self._after_reports(device, reports[unique_id], context)
                self._note(changed, *after, context)
        return self._become(changed)

    def apply_history(
        self, unique_id: str, answer: HistoryAnswer, context: UpdateContext
    ) -> Changes[str, Tracker]:
        """Apply what the service's history has of a gap."""
        changed: dict[str, Tracker] = {}
        if tracker := self.trackers.get(unique_id):
            state = tracker.state.with_history(answer, context)
            device = with_position_id(
                tracker.device, state.position and state.position.id
            )
            self._note(changed, device, state, context)
        return self._become(changed)

    @property
    def gaps(self) -> dict[str, HistoryGap]:
        """Return what is to be asked for of the service's history, by `uniqueId`."""
        return {
            unique_id: gap
            for unique_id in self._pending & self.trackers.keys()
            if (gap := self._state(unique_id).gap)
        }

    def arm(
        self, unique_id: str, now: datetime, changed_by: str | None = None
    ) -> Changes[str, Tracker] | None:
        """Guard a listed tracker; return None if it has no place."""
        state = self._state(unique_id).armed(now, changed_by)
        return state and self._with_state(unique_id, state)

    def disarm(
        self, unique_id: str, changed_by: str | None = None
    ) -> Changes[str, Tracker]:
        """Guard a listed tracker no more."""
        state = self._state(unique_id).disarmed(changed_by)
        return self._with_state(unique_id, state)

    def forget(self, unique_id: str) -> None:
        """Forget a tracker whose device was removed."""
        self.states.pop(unique_id, None)
        self._pending.discard(unique_id)

    @contextmanager
    def _costs_one_tracker(self) -> Iterator[None]:
        """Log an unexpected error: the tracker stays as it was until its next report."""
        try:
            yield
        except Exception:
            _LOGGER.exception("%s: Unexpected error updating a tracker", self._name)

    def _with_state(self, unique_id: str, state: TrackerState) -> Changes[str, Tracker]:
        tracker = self.trackers[unique_id]._replace(state=state)
        return self._become({unique_id: tracker})

    def _state(self, unique_id: str) -> TrackerState:
        return self.states.get(unique_id, NEW_STATE)

    def _touched(self, devices: Changes[str, Device]) -> AbstractSet[str]:
        """Return the trackers that a new list may change."""
        touched = devices.changed_since(self._listed.devices) | self._listed.outdated
        if self.trackers is not (known := self._listed.trackers):
            # Messages changed these: all else was listed so.
            touched |= {
                key for key, item in self.trackers.items() if item is not known[key]
            }
        return touched

    def _listed_by_id(self, devices: Changes[str, Device]) -> Mapping[int | None, str]:
        """Return the trackers of a new list by internal ID, which hardly ever changes."""
        before, now = self._listed.devices, devices.after
        touched = devices.changed_since(before)
        are_known = before.keys() >= touched and now.keys() >= touched
        if are_known and all(before[key].id == now[key].id for key in touched):
            return self._listed.by_id
        return _by_id(now)

    def _pushed(self, unique_id: str) -> int | None:
        """Return the ID of a position that came since the last list.

        Servers list a device before its position, with the ID of the one before.
        """
        before = self._listed.trackers.get(unique_id)
        now = self.trackers.get(unique_id)
        if before is None or now is None or before.position is now.position:
            return None
        return now.position and now.position.id

    def _after_poll(
        self,
        device: Device,
        state: TrackerState,
        position: Position,
        context: UpdateContext,
    ) -> TrackerState:
        """Return a tracker's state after the position that a poll brought."""
        known, received_at = state.position, device.last_update
        if known is None:
            is_older = False
        elif self._pushed(device.unique_id):
            is_older = is_older_position(position, known)
        else:
            is_older = is_stale(device, known, position)
        return self._after(
            device, state, position, context, received_at, is_older=is_older
        )

    def _after_reports(
        self, device: Device, reports: Sequence[Position], context: UpdateContext
    ) -> tuple[Device, TrackerState]:
        """Return a tracker's device and state after pushed reports."""
        state = self._state(device.unique_id)
        for position in in_order(reports):
            known = state.position
            is_older = known and is_older_position(position, known)
            if is_older or known is None or known.id != position.id:
                state = self._after(device, state, position, context, is_older=is_older)
            device = device if is_older else with_position_id(device, position.id)
        return device, state

    def _after(
        self,
        device: Device,
        state: TrackerState,
        position: Position,
        context: UpdateContext,
        received_at: datetime | None = None,
        *,
        is_older: bool | None,
    ) -> TrackerState:
        """Return the state after a report."""
        if is_older:
            return state.with_older_report(position, context)
        is_new = device.unique_id not in self.states
        if device.unique_id not in self.trackers:
            context = context._replace(recovering=True)
        fires_alarms = not is_new and state.initial_position_id != position.id
        return state.with_report(
            position, context, fires_alarms=fires_alarms, received_at=received_at
        )

    def _newer(self, devices: Iterable[Device]) -> dict[str, Device]:
        """Return the listed devices of a message, unless what is known is newer."""
        newer: dict[str, Device] = {}
        for device in devices:
            tracker = self.trackers.get(device.unique_id)
            known = newer.get(device.unique_id) or (tracker and tracker.device)
            if known and not is_older_device(device, known):
                newer[device.unique_id] = with_position_id(device, known.position_id)
        return newer

    def _due(self, now: datetime) -> set[str]:
        """Return the trackers whose ride is over by the clock."""
        return {
            unique_id
            for unique_id in self._pending
            if (at := self._state(unique_id).changes_at) and at <= now
        }

    def _note(
        self,
        changed: dict[str, Tracker],
        device: Device,
        state: TrackerState,
        context: UpdateContext,
    ) -> None:
        """Note a listed tracker if it changed."""
        unique_id = device.unique_id
        if unique_id not in self.states:
            state = state._replace(initial_position_id=device.position_id)
        tracker = Tracker(device, state.with_status(device.status, context.now))
        if tracker != self.trackers.get(unique_id):
            changed[unique_id] = tracker

    def _become(
        self, changed: Mapping[str, Tracker], left: AbstractSet[str] = frozenset()
    ) -> Changes[str, Tracker]:
        """Return the changes once these trackers changed, and others left the list."""
        before = self.trackers
        for unique_id, tracker in changed.items():
            self._remember(unique_id, tracker.state)
        if changed or left:
            trackers = {**before, **changed}
            for unique_id in left:
                del trackers[unique_id]
            self.trackers = trackers
        return Changes(before, self.trackers, changed.keys() | left)

    def _remember(self, unique_id: str, state: TrackerState) -> None:
        self.states[unique_id] = state
        if state.is_pending:
            self._pending.add(unique_id)
        else:
            self._pending.discard(unique_id)


def _by_id(devices: Mapping[str, Device]) -> dict[int | None, str]:
    """Return trackers by internal ID; one that several devices have is nobody's."""
    ids = [device.id for device in devices.values()]
    by_id = dict(zip(ids, devices, strict=True))
    if len(by_id) == len(ids):
        return by_id
    return {key: by_id[key] for key, times in Counter(ids).items() if times == 1}
