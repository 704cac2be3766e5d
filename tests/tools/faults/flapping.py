"""Ways in which a service is neither well nor down."""

from random import Random

from tests.tools.simulator import Simulator
from tests.tools.simulator.render import Endpoint

from .trouble import TROUBLES

# What proxies, restarts and overload do. A refused sign-in has waits of its own, and large
# answers take long to make.
_PASSING = [
    name
    for name, trouble in TROUBLES.items()
    if trouble.strikes_positions
    and not trouble.is_large
    and not name.startswith("status-401")
]

type Flap = list[tuple[Endpoint | None, str, int]]
"""Which call fails, None: any; how; and each how-many-th of them."""


def flap(random: Random) -> Flap:
    """Return what goes wrong for a while: the whole, a part, both parts or nothing."""
    name, other = random.choice(_PASSING), random.choice(_PASSING)
    every = random.choice([1, 1, 2, 3])
    ways: list[Flap] = [
        [(None, name, every)],
        [("devices", name, every)],
        [("positions", name, every)],
        [("devices", name, every), ("positions", other, 1)],
        [],
    ]
    return random.choice(ways)


def strike(simulator: Simulator, flap: Flap) -> None:
    """Let that go wrong from the next call on, and nothing else."""
    simulator.fault(None)
    for path, name, every in flap:
        simulator.fault(name, path=path, every=every)
