"""A Home Assistant with some trackers to look at: python -m tests.tools.demo.demo."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
import asyncio
from collections.abc import Coroutine
from pathlib import Path
import signal
import sys
from tempfile import TemporaryDirectory
from typing import Any

from .check import Row, check, check_files, table
from .config_folder import converse, install_blueprints, install_phone, media_folder
from .dashboard import add_dashboard
from .expected import DEVICE
from .home_assistant import HomeAssistantProcess
from .past_rides import add_rides
from .ports import free_port, is_free
from .process import ProcessEndedError
from .question import add_question
from .rider import add_phone
from .simulator import EMAIL, PASSWORD, SimulatorProcess
from .story import add_night_guard
from .town import settle
from .try_it import add_phone_buttons, add_scripts, pages, serve, to_try
from .welcome import welcome

DEFAULT_PORT = 8123
_INTERRUPTED = 130


def _whole_number(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError("a whole number is needed")
    return int(text)


def _port(text: str) -> int:
    port = _whole_number(text)
    if not 0 < port < 65536:
        raise ArgumentTypeError("a port is a number from 1 to 65535")
    return port


def _options() -> Namespace:
    parser = ArgumentParser(
        prog="scripts/demo",
        description="Start Home Assistant and a simulated tracking service with some bikes, on this machine only. Runs "
        "until Ctrl-C, and leaves nothing behind.",
    )
    add = parser.add_argument
    add(
        "--port",
        type=_port,
        help=f"for Home Assistant (default: {DEFAULT_PORT}, or any other if that is in use)",
    )
    add(
        "--trackers",
        type=_whole_number,
        default=5,
        metavar="N",
        help="on so many bikes (default: %(default)s)",
    )
    add(
        "--documented-only",
        action="store_true",
        help="have the service offer the documented interface alone: no positions",
    )
    add(
        "--check",
        action="store_true",
        help="hold every entity against what the service says, and end",
    )
    return parser.parse_args()


def _say(text: str) -> None:
    print(f"==> {text}", file=sys.stderr, flush=True)


def _choose_port(wanted: int | None) -> int:
    """Return the port to listen on; ends the program when the wanted one is in use."""
    if wanted is not None:
        if not is_free(wanted):
            print(
                f"Port {wanted} is in use. Choose another with --port.", file=sys.stderr
            )
            raise SystemExit(2)
        return wanted
    if is_free(DEFAULT_PORT):
        return DEFAULT_PORT
    port = free_port()
    _say(f"Port {DEFAULT_PORT} is in use: taking {port}")
    return port


async def _demo(options: Namespace, port: int) -> int:
    _say("Starting the simulated service and Home Assistant")
    with TemporaryDirectory(prefix="bike-tracker-demo-") as folder:
        home_assistant = HomeAssistantProcess(Path(folder), port=port)
        install_blueprints(Path(folder))
        converse(Path(folder))
        if not options.check:
            install_phone(Path(folder))
        async with (
            SimulatorProcess(
                trackers=options.trackers,
                documented_only=options.documented_only,
                still=False,
            ) as simulator,
            home_assistant,
        ):
            client = home_assistant.client
            await settle(client)
            _say("Adding the account")
            entry_id = await client.add_account(simulator.url, EMAIL, PASSWORD)
            rows = await check(client, simulator)
            if not options.documented_only:
                await add_rides(home_assistant, entry_id)
                client = home_assistant.client
                await add_phone(client)
            await add_scripts(client, await to_try(simulator))
            await add_question(client)
            if not options.check:
                await client.start_flow("mobile_app")
                await add_phone_buttons(client)
                await add_night_guard(client, entry_id)
            await add_dashboard(client, *await pages(client, simulator))
            if options.check:
                if options.trackers and not options.documented_only:
                    rows += await check_files(client, media_folder(Path(folder)))
                return await _report(rows, options.trackers, home_assistant)
            greeting = welcome(home_assistant, simulator)
            try:
                return await _until_ended(home_assistant, simulator, greeting)
            except asyncio.CancelledError:
                # How it is meant to end.
                return 0


async def _report(
    rows: list[Row], trackers: int, home_assistant: HomeAssistantProcess
) -> int:
    """Stop Home Assistant and print what was found; return 0 if all of it is right."""
    await home_assistant.stop()
    complaints = home_assistant.complaints()
    shown = sum(row.entity == DEVICE for row in rows)
    wrong = sum(not row.right for row in rows)
    print(table(rows))
    for record in complaints:
        print(f"\nIn the log:\n{record.text}")
    print(
        f"\n{shown} of {trackers} trackers; {len(rows) - wrong} lines right, {wrong} wrong; "
        f"{len(complaints)} complaints in the log"
    )
    return 1 if wrong or complaints or shown != trackers else 0


async def _until_ended(
    home_assistant: HomeAssistantProcess, simulator: SimulatorProcess, greeting: str
) -> int:
    """Do what people ask for until one of the two ends by itself, which neither should."""
    waiting = [
        asyncio.create_task(home_assistant.wait(), name="Home Assistant"),
        asyncio.create_task(simulator.wait(), name="The simulated service"),
    ]
    is_listening = asyncio.Event()
    serving = asyncio.create_task(serve(home_assistant, simulator, is_listening))
    greets = asyncio.create_task(_greet(greeting, is_listening))
    try:
        ended, _ = await asyncio.wait(
            [*waiting, serving], return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        greets.cancel()
        serving.cancel()
    for task in ended:
        _say(f"{task.get_name()} ended by itself, with exit code {task.result()}")
    return 1


async def _greet(greeting: str, is_listening: asyncio.Event) -> None:
    """Say what there is once it can be tried: a button pressed before would do nothing."""
    await is_listening.wait()
    print(greeting, flush=True)


async def _unless_signalled(work: Coroutine[Any, Any, int]) -> int:
    """Do the work; a signal to end cancels it, once, so that it can clean up."""
    task = asyncio.create_task(work)
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def end() -> None:
        for number in signals:
            loop.add_signal_handler(number, _nothing)
        _say("Ending")
        task.cancel()

    for number in signals:
        loop.add_signal_handler(number, end)
    return await task


def _nothing() -> None:
    """Take no notice of a signal."""


def main() -> int:
    """Run the demo; 2 when it cannot start, 130 when it was ended before it was done."""
    options = _options()
    port = _choose_port(options.port)
    try:
        return asyncio.run(_unless_signalled(_demo(options, port)))
    except asyncio.CancelledError:
        return _INTERRUPTED
    except ProcessEndedError as err:
        print(err, file=sys.stderr)
    except TimeoutError:
        print("Home Assistant took too long to start", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
