"""The simulator as a program of its own."""

from argparse import ArgumentParser, BooleanOptionalAction, Namespace
import asyncio
import contextlib
import json
import signal
import sys

from .control import ControlServer
from .faults import FAULTS
from .fleet import Fleet
from .kinds import KINDS, SERVICE
from .live_faults import LIVE_FAULTS
from .server import Simulator
from .tls import CA_PEM
from .tricks import Tricks

DEMO_EMAIL = "demo@example.com"
DEMO_PASSWORD = "demo"


def _arguments() -> Namespace:
    parser = ArgumentParser(
        prog="python -m tests.tools.simulator",
        description="A tracking service with a small fleet, on this machine only. Prints its addresses as one line of JSON "
        "when it is ready, and runs until Ctrl-C.",
    )
    add = parser.add_argument
    add("--port", type=int, default=8082, help="0: any (default: %(default)s)")
    add("--control-port", type=int, default=0, help="for steering it (default: any)")
    add("--prefix", default="", help="serve below this path, such as /traccar")
    add("--email", default=DEMO_EMAIL, help="the account (default: %(default)s)")
    add("--password", default=DEMO_PASSWORD, help="its password (default: %(default)s)")
    add("--trackers", type=int, default=4, help="in the fleet (default: %(default)s)")
    add("--seed", type=int, default=1, help="other rides (default: %(default)s)")
    add("--speed", type=float, default=1.0, help="let the fleet's time run faster")
    add("--still", action="store_true", help="nothing moves by itself")
    add(
        "--shuffle",
        action=BooleanOptionalAction,
        default=True,
        help="list the trackers in another order each time",
    )
    add(
        "--kind",
        choices=KINDS,
        default=SERVICE.name,
        help="the server: the documented interface alone, a service like Traccar, or one of its versions (default: %(default)s)",
    )
    add(
        "--tls",
        action="store_true",
        help="serve HTTPS, signed by an authority of its own",
    )
    add("--fault", metavar="NAME", help="fail in this way from the start")
    add("--positions-fault", metavar="NAME", help="the same for the positions alone")
    add("--live-fault", metavar="NAME", help="the same for the live connection alone")
    add("--list-faults", action="store_true", help="show the ways to fail, and end")
    return parser.parse_args()


async def _run(arguments: Namespace) -> None:
    simulator = Simulator(
        port=arguments.port,
        prefix=arguments.prefix,
        kind=arguments.kind,
        shuffle=arguments.shuffle,
        seed=arguments.seed,
        tls=arguments.tls,
    )
    simulator.add_account(arguments.email, arguments.password)
    fleet = Fleet(
        simulator,
        trackers=arguments.trackers,
        seed=arguments.seed,
        email=arguments.email,
    )
    if arguments.fault:
        simulator.fault(arguments.fault)
    if arguments.positions_fault:
        simulator.fault(arguments.positions_fault, path="positions")
    simulator.live_fault(arguments.live_fault)
    ended = _end_signal()
    async with (
        simulator,
        ControlServer(
            simulator,
            port=arguments.control_port,
            tricks=Tricks(simulator, fleet, arguments.email),
        ) as control,
    ):
        print(json.dumps(_addresses(simulator, control)), flush=True)
        moving = asyncio.create_task(
            fleet.run(0 if arguments.still else arguments.speed)
        )
        await ended.wait()
        moving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await moving


def _addresses(simulator: Simulator, control: ControlServer) -> dict[str, str]:
    addresses = {
        "url": simulator.url,
        "other": simulator.other_url,
        "control": control.url,
    }
    if simulator.certificates is not None:
        addresses["ca"] = CA_PEM
    return addresses


def _end_signal() -> asyncio.Event:
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    return ended


def main() -> int:
    """Run until told to end; 2 when it cannot start."""
    arguments = _arguments()
    if arguments.list_faults:
        for fault in FAULTS.values():
            print(f"{fault.name:26}{fault.description}")
        for live_fault in LIVE_FAULTS.values():
            print(f"{live_fault.name:26}live: {live_fault.description}")
        return 0
    try:
        asyncio.run(_run(arguments))
    except OSError as err:
        return _cannot_start(err.strerror)
    except ValueError as err:
        return _cannot_start(str(err))
    return 0


def _cannot_start(reason: str | None) -> int:
    print(f"Cannot start: {reason}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
