"""Start a Home Assistant with some simulated bikes for a user to try: python -m tests.tools.demo.demo."""

from argparse import ArgumentParser, Namespace
import asyncio
from collections.abc import Mapping
from pathlib import Path
import shutil
import signal
import sys
from tempfile import TemporaryDirectory

from .check import differences
from .config_folder import ROOT
from .dashboard import add_dashboard
from .fleet import BIKES, EMAIL, PASSWORD, SimulatedService
from .furnish import add_night_guard, add_rides
from .home_assistant import HomeAssistantProcess, ProcessEndedError, free_port, is_free
from .tricks import serve

_DEFAULT_PORT = 8123
_INTERRUPTED = 130
_STOLEN_BIKE = 2
_WELCOME = f"""
Home Assistant is at %s

Open it in a browser on this machine: you are signed in. The page "Try it" has a button for all
there is to try, and the blueprints are under Settings > Automations & scenes > Blueprints.

The account of the bikes is at %s, with the email {EMAIL} and the
password {PASSWORD}. Ctrl-C ends the demo.
"""


def _options() -> Namespace:
    description = (
        "Start Home Assistant and a simulated tracking service with some bikes, on this machine only. Runs until "
        "Ctrl-C, and leaves nothing behind."
    )
    parser = ArgumentParser(prog="scripts/demo", description=description)
    port = f"for Home Assistant (default: {_DEFAULT_PORT}, or any free one)"
    parser.add_argument("--port", type=int, help=port)
    check = "compare every entity with the service's answers, and end"
    parser.add_argument("--check", action="store_true", help=check)
    options = parser.parse_args()
    if options.port and not is_free(options.port):
        parser.error(f"Port {options.port} is in use. Choose another with --port.")
    if not options.port:
        options.port = _DEFAULT_PORT if is_free(_DEFAULT_PORT) else free_port()
    return options


def _say(text: str) -> None:
    print(f"==> {text}", file=sys.stderr, flush=True)


async def _demo(options: Namespace) -> int:
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, task.cancel)
    _say("Starting the simulated service and Home Assistant")
    with TemporaryDirectory(prefix="bike-tracker-demo-") as name:
        folder = Path(name)
        home_assistant = HomeAssistantProcess(folder, port=options.port)
        shutil.copytree(ROOT / "blueprints", folder / "blueprints")
        service = SimulatedService(trackers=len(BIKES))
        async with service, home_assistant:
            _say("Adding the account")
            client = home_assistant.client
            entry_id = await client.add_account(service.url, EMAIL, PASSWORD)
            wrong = await differences(client, service)
            guards = await _furnish(home_assistant, service, entry_id)
            if not options.check:
                return await _run(home_assistant, service, guards)
        wrong += home_assistant.complaints()
        right = "All entities are right, and the log has no complaints."
        print("\n".join(wrong) or right)
        return 1 if wrong else 0


async def _furnish(
    home_assistant: HomeAssistantProcess, service: SimulatedService, entry_id: str
) -> dict[str, str]:
    """Add rides, the phone, a night guard and the dashboard.

    Return the `uniqueId` of each tracker by the entity ID of its guard.
    """
    await add_rides(home_assistant, entry_id)
    client = home_assistant.client
    await client.start_flow("mobile_app")
    await add_night_guard(client, entry_id)
    guards = {
        await client.entity_id("alarm_control_panel", f"{unique_id}_guard"): unique_id
        for unique_id in service.fleet.unique_ids
    }
    await add_dashboard(client, list(guards)[_STOLEN_BIKE])
    return guards


async def _run(
    home_assistant: HomeAssistantProcess,
    service: SimulatedService,
    guards: Mapping[str, str],
) -> int:
    """Let bikes ride, and run the tricks of tapped buttons. Return 0 after a signal, 1 if Home Assistant ends by itself."""
    is_listening = asyncio.Event()
    try:
        async with asyncio.TaskGroup() as tasks:
            work = serve(home_assistant, service, guards, is_listening)
            serving = tasks.create_task(work)
            riding = tasks.create_task(service.fleet.run())
            # Print the address only now: a button that is pressed earlier has no effect.
            await is_listening.wait()
            print(_WELCOME % (home_assistant.url, service.url), flush=True)
            code = await home_assistant.wait()
            _say(f"Home Assistant ended by itself, with exit code {code}")
            serving.cancel()
            riding.cancel()
    except asyncio.CancelledError:
        return 0
    return 1


def main() -> int:
    """Run the demo. Return 0 for success, 130 if it was interrupted during the start, and 1 otherwise."""
    options = _options()
    try:
        return asyncio.run(_demo(options))
    except asyncio.CancelledError, KeyboardInterrupt:
        return _INTERRUPTED
    except ProcessEndedError as err:
        print(err, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
