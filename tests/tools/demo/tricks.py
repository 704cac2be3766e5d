"""The buttons of the page *Try it*, and their effects on the simulated service."""

import asyncio
from collections.abc import Callable, Mapping
from itertools import count
from typing import NamedTuple

from aiohttp import ClientError

from .client import CommandError
from .fleet import EMAIL, PASSWORD, SimulatedService
from .home_assistant import HomeAssistantProcess
from .phone import TRY

_SECONDS_BETWEEN_TRIES = 1.0


class Trick(NamedTuple):
    """A button of the page *Try it*, with a text about the effect of a tap."""

    name: str
    icon: str
    bike: str
    """The index of the bike in the fleet, as a string."""
    title: str
    watch: str


TRICKS = [
    Trick(*line.split(" | "))
    for line in """
leaves_home | home-export-outline | 0 | City bike leaves home | Wherever it was, it is at home first. It leaves Home within half a minute.
rides | bike-fast | 1 | Gravel bike rides | Moving and Speed change within seconds, and Ride distance counts its kilometers.
arrives | flag-checkered | 1 | Gravel bike arrives | Moving says so at once. Its ride ends within seven minutes: Rides has it.
battery | battery-10 | 2 | Long-tail bike has 15 % left | Battery shows it within seconds.
offline | cloud-off-outline | 3 | Tandem goes offline | It stops, and Connectivity says Offline within seconds.
online | cloud-check-outline | 3 | Tandem is back online | Connectivity says Online within seconds.
silent | sleep | 1 | Gravel bike is silent for a day | Last update says so within a minute, and the blueprint for trackers that are offline or silent tells you a minute later. It reports again once it rides.
sos | alert-octagon-outline | 4 | Somebody on Mountain bike needs help | Alarm says SOS within seconds. It is there from the first alarm on.
alarm | alarm-light-outline | 4 | Mountain bike is towed | Alarm says Towed within seconds. It is there from the first alarm on.
parked | bicycle | 2 | Long-tail bike is parked | It stays where it is. Guard it now, and see what happens next.
cat | cat | 2 | A cat touches Long-tail bike | If it is guarded, its Guard is triggered within seconds: its tracker notices that something shakes it, and not who.
stolen | bike-fast | 2 | Somebody steals Long-tail bike | If it is guarded, its Guard is triggered with the first report, within half a minute.
carried_off | human-dolly | 2 | Somebody carries Long-tail bike away | Its tracker does not say that it moves. If it is guarded, its Guard is triggered with the second report from there, within half a minute.
server_down | server-network-off | 0 | The server is down | All but Guard, Rides, Ride and Alarm are unavailable within a minute. After 30 minutes, Repairs says so too.
server_up | server-network | 0 | The server works again | All is back within 5 minutes, the sooner the shorter the server was down.
password | lock-reset | 0 | The password changes | Within two minutes Home Assistant asks you to sign in again, under Settings. The new password is: another
password_back | lock-check-outline | 0 | The password is as before | The request to sign in goes away by itself, within 5 minutes.
rides_unseen | cloud-question-outline | 1 | Gravel bike rides in an outage | For a minute the server does not answer. Then Rides has one that began and ended before.
renamed | rename-outline | 3 | Tandem is now called Blue bike | Its device has that name within a minute.
taken_away | account-remove-outline | 4 | Mountain bike is taken from the account | Its entities are unavailable within a minute.
given_back | account-check-outline | 4 | Mountain bike is given back to the account | Its entities are as before within a minute.
new | plus-circle-outline | 0 | A new bike comes to the account | It has a device and a place on the dashboard within a minute.
""".strip().splitlines()
]
_BIKES = {trick.name: int(trick.bike) for trick in TRICKS}


def _acts(service: SimulatedService) -> Mapping[str, Callable[[str], object]]:
    """Return the function of each trick, by name. The function's argument is the `uniqueId` of the trick's bike."""
    fleet, numbers = service.fleet, count(1)

    def ride_unseen(bike: str) -> None:
        service.live.drop()
        service.fault("status-503", path="devices", times=1)
        fleet.ride_unseen(bike)

    def add(_: str) -> None:
        number = next(numbers)
        service.add_device(f"new-{number}", name=f"New bike {number}", email=EMAIL)

    return {
        "leaves_home": fleet.leave_home,
        "rides": fleet.set_off,
        "arrives": fleet.park,
        "battery": lambda bike: fleet.drain(bike, 15),
        "offline": lambda bike: fleet.park(bike, "offline"),
        "online": fleet.park,
        "silent": fleet.fall_silent,
        "sos": lambda bike: fleet.report(bike, alarm="sos"),
        "alarm": lambda bike: fleet.report(bike, alarm="tow"),
        "parked": fleet.park,
        "cat": lambda bike: fleet.report(bike, alarm="vibration"),
        "stolen": fleet.set_off,
        "carried_off": fleet.carry_off,
        "server_down": lambda _: service.fault("status-503"),
        "server_up": lambda _: service.fault(None),
        "password": lambda _: service.set_password(EMAIL, "another"),
        "password_back": lambda _: service.set_password(EMAIL, PASSWORD),
        "rides_unseen": ride_unseen,
        "renamed": lambda bike: service.rename(bike, "Blue bike"),
        "taken_away": lambda bike: service.unassign(EMAIL, bike),
        "given_back": lambda bike: service.assign(EMAIL, bike),
        "new": add,
    }


async def serve(
    home_assistant: HomeAssistantProcess,
    service: SimulatedService,
    guards: Mapping[str, str],
    is_listening: asyncio.Event,
) -> None:
    """Until this task is canceled, run the trick of each tapped button, and stop each bike when its guard is armed.

    `guards` maps the entity ID of each guard to the `uniqueId` of its tracker. As soon as
    `is_listening` is set, each tapped button has an effect.
    """
    acts = _acts(service)
    while True:
        client = home_assistant.client
        try:
            await client.sign_in()
            async with client.listen(TRY, "state_changed") as events:
                is_listening.set()
                async for event in events:
                    data = event["data"]
                    if event["event_type"] == TRY:
                        name = data["try"]
                        acts[name](service.fleet.unique_ids[_BIKES[name]])
                    elif (data["new_state"] or {}).get("state") == "armed_away":
                        # If the bike rode on, it would trigger its guard.
                        if unique_id := guards.get(data["entity_id"]):
                            service.fleet.park(unique_id)
        except ClientError, CommandError:
            # Home Assistant is restarting, or has ended. Try to sign in again later.
            pass
        await asyncio.sleep(_SECONDS_BETWEEN_TRIES)
