"""A Home Assistant with some trackers to look at: python -m tests.tools.demo.demo."""

from argparse import ArgumentParser, Namespace
import asyncio
from collections.abc import Coroutine
from pathlib import Path
import signal
import sys
from tempfile import TemporaryDirectory
from typing import Any

from .check import DEVICE, Row, check, check_files, table
from .config_folder import converse, install_blueprints, install_phone, media_folder
from .dashboard import add_dashboard
from .home_assistant import HomeAssistantProcess, ProcessEndedError
from .message import add_phone_buttons
from .past_rides import add_rides
from .ports import free_port, is_free
from .service import EMAIL, PASSWORD, SimulatedService
from .story import add_night_guard
from .town import add_rider, settle
from .try_it import add_scripts, fill, serve

DEFAULT_PORT = 8123
_INTERRUPTED = 130
_WELCOME = """
Home Assistant is at {home_assistant.url}

Open it in a browser on this machine: you are signed in. The page "Try it" has a button for all
there is to try, and the blueprints are under Settings > Automations & scenes > Blueprints.

The action "Get track" may write below {media}, which is gone afterwards.
It knows the ways of the bikes since the demo began, but none of the weeks before.

The bikes ride through a town. Their account:

  Server address  {service.url}
  Email           {email}
  Password        {password}

Ctrl-C ends it.
"""


def _options() -> Namespace:
    parser = ArgumentParser(
        prog="scripts/demo",
        description="Start Home Assistant and a simulated tracking service with some bikes, on this machine only. Runs "
        "until Ctrl-C, and leaves nothing behind.",
    )
    add = parser.add_argument
    add(
        "--port",
        type=int,
        help=f"for Home Assistant (default: {DEFAULT_PORT}, or any other if that is in use)",
    )
    add(
        "--trackers",
        type=int,
        default=5,
        metavar="N",
        help="on so many bikes (default: %(default)s)",
    )
    add(
        "--check",
        action="store_true",
        help="hold every entity against what the service says, and end",
    )
    options = parser.parse_args()
    if options.port and not is_free(options.port):
        parser.error(f"Port {options.port} is in use. Choose another with --port.")
    if not options.port:
        options.port = DEFAULT_PORT if is_free(DEFAULT_PORT) else free_port()
    return options


def _say(text: str) -> None:
    print(f"==> {text}", file=sys.stderr, flush=True)


async def _demo(options: Namespace) -> int:
    _say("Starting the simulated service and Home Assistant")
    with TemporaryDirectory(prefix="bike-tracker-demo-") as name:
        folder = Path(name)
        home_assistant = HomeAssistantProcess(folder, port=options.port)
        install_blueprints(folder)
        converse(folder)
        install_phone(folder)
        async with (
            SimulatedService(trackers=options.trackers, is_still=False) as service,
            home_assistant,
        ):
            await settle(home_assistant.client)
            _say("Adding the account")
            entry_id = await home_assistant.client.add_account(
                service.url, EMAIL, PASSWORD
            )
            rows = await check(home_assistant.client, service)
            await _furnish(home_assistant, service, entry_id)
            if options.check:
                rows += await check_files(home_assistant.client, media_folder(folder))
                return await _report(rows, options.trackers, home_assistant)
            try:
                return await _until_ended(home_assistant, service)
            except asyncio.CancelledError:
                # How it is meant to end.
                return 0


async def _furnish(
    home_assistant: HomeAssistantProcess, service: SimulatedService, entry_id: str
) -> None:
    """Add the rides of weeks, the rider, the phone, and what there is to try."""
    await add_rides(home_assistant, entry_id)
    client = home_assistant.client
    await add_rider(client)
    await add_scripts(client, service)
    await client.start_flow("mobile_app")
    await add_phone_buttons(client)
    await add_night_guard(client, entry_id)
    await add_dashboard(client)
    await fill(client, service)


async def _report(
    rows: list[Row], trackers: int, home_assistant: HomeAssistantProcess
) -> int:
    """Stop Home Assistant and print what was found; return 0 if all of it is right."""
    await home_assistant.stop()
    complaints = home_assistant.complaints()
    shown = sum(row.name.startswith(f"{DEVICE} ") for row in rows)
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
    home_assistant: HomeAssistantProcess, service: SimulatedService
) -> int:
    """Do what people ask for until Home Assistant ends by itself, which it should not."""
    is_listening = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(serve(home_assistant, service, is_listening))
        # A button pressed before would do nothing.
        await is_listening.wait()
        media = media_folder(home_assistant.folder)
        print(
            _WELCOME.format(
                home_assistant=home_assistant,
                service=service,
                media=media,
                email=EMAIL,
                password=PASSWORD,
            ),
            flush=True,
        )
        code = await home_assistant.wait()
        _say(f"Home Assistant ended by itself, with exit code {code}")
        serving.cancel()
    return 1


async def _unless_signalled(work: Coroutine[Any, Any, int]) -> int:
    """Do the work; a signal to end cancels it, once, so that it can clean up."""
    task = asyncio.create_task(work)
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def end() -> None:
        for number in signals:
            loop.add_signal_handler(number, lambda: None)
        _say("Ending")
        task.cancel()

    for number in signals:
        loop.add_signal_handler(number, end)
    return await task


def main() -> int:
    """Run the demo; 2 when it cannot start, 130 when it was ended before it was done."""
    options = _options()
    try:
        return asyncio.run(_unless_signalled(_demo(options)))
    except asyncio.CancelledError:
        return _INTERRUPTED
    except ProcessEndedError as err:
        print(err, file=sys.stderr)
    except TimeoutError:
        print("Home Assistant took too long to start", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
