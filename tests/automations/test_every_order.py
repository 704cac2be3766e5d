"""Each trigger through all interruptions at once, in every order."""

from itertools import permutations, product

import pytest

from tests.conftest import RED
from tests.long import some

from .garage import INTERRUPTIONS, Garage

LEAVES = ("started_moving", "went_offline")
COMES_BACK = ("stopped_moving", "came_online")


@pytest.mark.parametrize("first", INTERRUPTIONS)
async def test_told_once(garage: Garage, first: str) -> None:
    """What became so in the middle of it all is told when it is over, once each."""
    await garage.async_save(
        *(
            garage.automation(trigger, alias=trigger)
            for trigger in ("alarm_raised", *LEAVES, *COMES_BACK)
        )
    )
    others = [kind for kind in INTERRUPTIONS if kind != first]
    orders = [(first, *rest) for rest in permutations(others)]
    for order, became in some(product(orders, (LEAVES, COMES_BACK)), every=11):
        garage.runs.clear()
        for interruption in order:
            await garage.async_begin(interruption)
        garage.simulator.touch([RED])
        for trigger in became:
            garage.become(trigger, at_once=True)
        garage.raise_alarm("sos")
        for interruption in order:
            await garage.async_end(interruption)

        told = [run.what for run in garage.runs]
        expected = [f"Red bike {trigger.replace('_', ' ')}" for trigger in became]
        expected.append("Red bike: SOS")
        assert sorted(told) == sorted(expected), order
