"""Nights of two bikes, and the messages on a phone. The stories of tests are written in this notation.

`House` in tests/blueprints has the other steps. After `=` comes the state of a guard, by default of the red bike.

    night red begins=23:00 follow=no   adds a night guard, or changes it; without names, for all bikes
    night also=yes begins=23:00        adds another night guard
    ride 5, stand 5 blue               sends a report in each of these minutes; `ride`: each 500 m farther north
    report meters=30 motion=yes        sends a report from this many meters north of home, and waits a minute
    now meters=30 alarm=tow            sends a report from this many meters farther north, and polls
    ann 250, ann unknown               moves a person to this many meters north of home, and waits a minute
    arm, disarm                        a user arms or disarms the guard
    automate, automate disarm blue     an automation arms the guard; it disarms the guard of another bike
    tap disarm                         taps a button of a message, and waits a minute
    new, place new                     adds a bike without a place; gives it one
    lock blue, unlock blue             the service disables a bike, and enables it again
    leave blue, assign blue            unassigns a bike; assigns it again
    disable blue                       disables a bike's device
    delete blue                        deletes the device of an unassigned bike
    reload                             unloads the account for ten minutes, in which Ann moves
    clock -3                           moves the clock by hours, and polls
    behind 3                           sets the clocks of the trackers behind by hours

Lines that begin with a time are the expected messages: `22:01 critical: title / text`.
"""

from datetime import timedelta
from types import MappingProxyType
from typing import Any, override

from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import Context
from homeassistant.helpers import device_registry as dr
from homeassistant.util import dt as dt_util

from custom_components.bike_tracker import async_remove_config_entry_device
from tests.blueprints.house import BIKES, House
from tests.conftest import EMAIL
from tests.tools.simulator.world import DEFAULT_LATITUDE, DEFAULT_LONGITUDE

_METERS_PER_DEGREE = 111_195
_SETTINGS = {"name": "Night", "night_begins": "22:00:00", "night_ends": "06:00:00"}


class Night(House):
    """A house with two bikes, and night guards that send messages to Ben's phone."""

    def __init__(self, *args: Any, user_id: str) -> None:
        """Begin with two bikes at home. The user with this ID arms, disarms and taps buttons."""
        super().__init__(*args)
        self._context = Context(user_id=user_id)
        self._meters = dict.fromkeys(BIKES, 0.0)
        self._hours_behind = 0.0

    @override
    def _check(self, expected: str, step: str) -> None:
        *bike, state = expected.split()
        guard = f"alarm_control_panel.{[*bike, 'red'][0]}_bike_guard"
        assert self.bikes.state(guard).state.removesuffix("_away") == state, step

    # The night guard and the guard

    async def _night(self, *bikes: str, **data: Any) -> None:
        is_another = data.pop("also", False)
        for key in ("night_begins", "night_ends"):
            if time := data.pop(key.removeprefix("night_"), None):
                data[key] = f"{time}:00"
        for key, domain in {"riders": "person", "others": "notify"}.items():
            if key in data:
                data[key] = [f"{domain}.{name}" for name in data[key].split("+")]
        devices = [self.bikes.device(BIKES[bike]).id for bike in bikes]
        chosen = {"bikes": devices, "phones": [self._phone]}
        data = {**_SETTINGS, **chosen, **data}
        entries, entry = self.hass.config_entries, self.entry
        if entry.subentries and not is_another:
            [subentry] = entry.subentries.values()
            entries.async_update_subentry(entry, subentry, data=data)
        else:
            await self.async_save()
            kept = MappingProxyType(data)
            new = ConfigSubentry(
                data=kept, subentry_type="night_guard", title="Night", unique_id=None
            )
            entries.async_add_subentry(entry, new)
        await self._async_settle()

    async def _automate(self, action: str = "arm_away", bike: str = "red") -> None:
        await self.bikes.async_guard(action, bike=bike)

    async def _arm(self, action: str = "arm_away") -> None:
        await self.bikes.async_guard(action, self._context)

    async def _disarm(self) -> None:
        await self._arm("disarm")

    async def _tap(self, button: str) -> None:
        """Tap a button that a sent message has, or the button `other`, which no message has."""
        action = f"bike_tracker_night_{button}_{self.bikes.device().id}"
        assert button == "other" or any(action in str(it.data) for it in self.pushes)
        self.hass.bus.async_fire(
            "mobile_app_notification_action", {"action": action}, context=self._context
        )
        await self._wait()

    # Bikes and people

    def report(self, bike: str = "red", **more: Any) -> None:
        """Let a bike report from its current place, without motion. `more` replaces values of the report."""
        if alarm := more.pop("alarm", None):
            more["attributes"] = {"alarm": alarm}
        latitude = DEFAULT_LATITUDE + self._meters[bike] / _METERS_PER_DEGREE
        address = "Roonstraße 12" if self._meters[bike] else "Am Bach 3"
        time = dt_util.utcnow() - timedelta(hours=self._hours_behind)
        place = {"latitude": latitude, "address": address, "accuracy": 5}
        own = {"motion": False, "fix_time": time, "device_time": time, **place}
        self.simulator.report(BIKES[bike], **{**own, **more})

    @override
    async def _report(self, bike: str = "red", **more: Any) -> None:
        self._meters[bike] = more.pop("meters", 0)
        self.report(bike, **more)
        await self._wait()

    async def _stand(self, minutes: str, *bikes: str) -> None:
        for _ in range(int(minutes)):
            for bike in bikes or ["red"]:
                self.report(bike)
            await self._wait()

    async def _ride(self, minutes: str, *bikes: str, stands: str = "") -> None:
        for _ in range(int(minutes)):
            for bike in bikes or ["red"]:
                self._meters[bike] += 500
                self.report(bike, motion=True, speed=16.0)
            if stands:
                self.report(stands)
            await self._wait()

    async def _ann(self, meters: str, name: str = "ann") -> None:
        place = {}
        if meters != "unknown":
            latitude = DEFAULT_LATITUDE + float(meters) / _METERS_PER_DEGREE
            place = {"latitude": latitude, "longitude": DEFAULT_LONGITUDE}
        self.hass.states.async_set(f"person.{name}", "somewhere", place)
        await self._async_settle()
        await self._wait()

    async def _ben(self, meters: str) -> None:
        await self._ann(meters, "ben")

    async def _now(self, bike: str = "red", **more: Any) -> None:
        """Let a bike report, and poll immediately, so that the report arrives as fast as a push message."""
        self._meters[bike] += more.pop("meters", 0)
        self.report(bike, **{"attributes": {}, **more})
        await self._clock("0")
        await self._seconds("1")

    # The service and Home Assistant

    async def _new(self) -> None:
        self.simulator.add_device("new", name="New bike", email=EMAIL, latitude=None)

    async def _place(self, bike: str) -> None:
        self.simulator.report(bike)

    async def _lock(self, bike: str) -> None:
        self.simulator.set_disabled(BIKES[bike], disabled=True)

    async def _unlock(self, bike: str) -> None:
        self.simulator.set_disabled(BIKES[bike], disabled=False)

    async def _leave(self, bike: str) -> None:
        self.simulator.unassign(EMAIL, BIKES[bike])

    async def _assign(self, bike: str) -> None:
        self.simulator.assign(EMAIL, BIKES[bike])

    async def _delete(self, bike: str) -> None:
        device = self.bikes.device(BIKES[bike])
        assert await async_remove_config_entry_device(self.hass, self.entry, device)
        dr.async_get(self.hass).async_remove_device(device.id)

    async def _disable(self, bike: str) -> None:
        device, user = self.bikes.device(BIKES[bike]), dr.DeviceEntryDisabler.USER
        dr.async_get(self.hass).async_update_device(device.id, disabled_by=user)

    async def _reload(self) -> None:
        await self.hass.config_entries.async_unload(self.entry.entry_id)
        await self._wait("5")
        await self._ann("600")
        await self._wait("4")
        await self.hass.config_entries.async_setup(self.entry.entry_id)

    async def _behind(self, hours: str) -> None:
        self._hours_behind = float(hours)

    async def _clock(self, hours: str) -> None:
        # The timer of the next poll follows the frozen clock. Poll now, so that the
        # next poll comes a minute later, even if the clock is set back.
        self._freezer.tick(3600 * float(hours))
        await self.entry.runtime_data.coordinator.async_refresh()
