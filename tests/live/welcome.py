"""What the demo tells the person who started it."""

import json

from tests.simulator.streets import HOME

from .simulator import EMAIL, PASSWORD, SimulatorProcess

_TRACKER = "860000000000001"


def welcome(url: str, simulator: SimulatorProcess) -> str:
    """Return where Home Assistant is, and what there is to try."""
    return f"""
Home Assistant is at {url}

Open it in a browser on this machine: you are signed in. The bikes ride through a town,
and Home Assistant looks for news of them every minute. Their account:

  Server address  {simulator.url}
  Email           {EMAIL}
  Password        {PASSWORD}

To try from another terminal:

  # A tracker goes offline, and comes back
  {_do(simulator, "override_field", unique_id=_TRACKER, field="status", value="offline")}
  {_do(simulator, "clear_overrides", unique_id=_TRACKER)}

  # A tracker gets another name
  {_do(simulator, "rename", unique_id=_TRACKER, name="Red bike")}

  # A tracker is taken from the account, and given back
  {_do(simulator, "unassign", email=EMAIL, unique_id=_TRACKER)}
  {_do(simulator, "assign", email=EMAIL, unique_id=_TRACKER)}

  # Another tracker comes to the account
  {_do(simulator, "add_device", unique_id="new", name="New bike", email=EMAIL, latitude=HOME[0], longitude=HOME[1])}

  # The password changes: Home Assistant asks for the new one within two minutes
  {_do(simulator, "set_password", email=EMAIL, password="another")}

  # The server is out of order, and works again
  {_fault(simulator, "status-503")}
  {_fault(simulator, None)}

Ctrl-C ends it.
"""


def _do(simulator: SimulatorProcess, action: str, **args: str | float) -> str:
    return _curl(simulator, "do", {"action": action, "args": args})


def _fault(simulator: SimulatorProcess, name: str | None) -> str:
    return _curl(simulator, "fault", {"name": name})


def _curl(simulator: SimulatorProcess, path: str, data: object) -> str:
    return f"curl {simulator.control_url}/{path} -d '{json.dumps(data)}'"
