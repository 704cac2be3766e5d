"""The simulator as a program: prints its addresses as one line of JSON, and runs until Ctrl-C."""

from argparse import ArgumentParser, Namespace
import asyncio
import contextlib
import json
import signal
import sys

from tests.tools.simulator.kinds import KINDS, SERVICE
from tests.tools.simulator.server import Simulator

from . import EMAIL, PASSWORD
from .control import ControlServer
from .fleet import Fleet
from .tricks import Tricks


def _arguments() -> Namespace:
    parser = ArgumentParser(
        prog="python -m tests.tools.demo.service", description=__doc__
    )
    add = parser.add_argument
    add("--port", type=int, default=8082, help="0: any (default: %(default)s)")
    add("--trackers", type=int, default=4, help="in the fleet (default: %(default)s)")
    add("--still", action="store_true", help="nothing moves by itself")
    add("--kind", choices=KINDS, default=SERVICE.name, help="the kind of server")
    return parser.parse_args()


async def _run(arguments: Namespace) -> None:
    simulator = Simulator(port=arguments.port, kind=arguments.kind)
    simulator.add_account(EMAIL, PASSWORD)
    fleet = Fleet(simulator, trackers=arguments.trackers, seed=1, email=EMAIL)
    tricks = Tricks(simulator, fleet, EMAIL)
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with simulator, ControlServer(simulator, tricks=tricks) as control:
        addresses = {"url": simulator.url, "control": control.url}
        print(json.dumps(addresses), flush=True)
        moving = asyncio.create_task(fleet.run(0 if arguments.still else 1))
        await ended.wait()
        moving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await moving


def main() -> int:
    """Run until Ctrl-C; return 2 when it cannot start."""
    try:
        asyncio.run(_run(_arguments()))
    except OSError as err:
        print(f"Cannot start: {err.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
