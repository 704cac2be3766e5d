"""What the demo tells the person who started it."""

from collections.abc import Iterable

from .config_folder import media_folder
from .home_assistant import HomeAssistantProcess
from .rider import PLACES
from .simulator import EMAIL, PASSWORD, SimulatorProcess
from .try_it import Trick

_DOCUMENTED_ONLY = """
This service offers the documented interface alone. What to expect: each bike has a device with
Connectivity, Last update and Disabled by operator. Nobody knows where the bikes are: their places
are unknown, the map shows none of them, and there is no battery, speed, ride or alarm.
"""

_TRACKS = """
The action "Get track" may write below {media}, which is gone afterwards.
It knows the ways of the bikes since the demo began, but none of the weeks before.
"""


def welcome(
    home_assistant: HomeAssistantProcess,
    simulator: SimulatorProcess,
    tricks: Iterable[Trick],
) -> str:
    """Return where Home Assistant is, and what there is to try."""
    tracks = _TRACKS.format(media=media_folder(home_assistant.folder))
    return f"""
Home Assistant is at {home_assistant.url}

Open it in a browser on this machine: you are signed in. The page "Try it" has a button for all
that is listed below, and the blueprints are under Settings > Automations & scenes > Blueprints.
{_DOCUMENTED_ONLY if simulator.documented_only else tracks}
The bikes ride through a town. Their account:

  Server address  {simulator.url}
  Email           {EMAIL}
  Password        {PASSWORD}

To try from another terminal:

{"\n".join(_command(simulator, trick) for trick in tricks if trick["name"] not in PLACES)}
Ctrl-C ends it.
"""


def _command(simulator: SimulatorProcess, trick: Trick) -> str:
    return f"""  # {trick["title"]}
  # {trick["watch"]}
  curl -X POST {simulator.control_url}/try/{trick["name"]}
"""
