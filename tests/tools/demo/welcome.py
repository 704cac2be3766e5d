"""What the demo tells the person who started it."""

from .config_folder import media_folder
from .home_assistant import HomeAssistantProcess
from .simulator import EMAIL, PASSWORD, SimulatorProcess

_DOCUMENTED_ONLY = """
This service offers the documented interface alone. What to expect: each bike has a device with
Connectivity, Last update and Disabled by operator. Nobody knows where the bikes are: their places
are unknown, the map shows none of them, and there is no battery, speed, ride or alarm.
"""

_TRACKS = """
The action "Get track" may write below {media}, which is gone afterwards.
It knows the ways of the bikes since the demo began, but none of the weeks before.
"""


def welcome(home_assistant: HomeAssistantProcess, simulator: SimulatorProcess) -> str:
    """Return where Home Assistant is, and the account."""
    tracks = _TRACKS.format(media=media_folder(home_assistant.folder))
    return f"""
Home Assistant is at {home_assistant.url}

Open it in a browser on this machine: you are signed in. The page "Try it" has a button for all
there is to try, and the blueprints are under Settings > Automations & scenes > Blueprints.
{_DOCUMENTED_ONLY if simulator.documented_only else tracks}
The bikes ride through a town. Their account:

  Server address  {simulator.url}
  Email           {EMAIL}
  Password        {PASSWORD}

Ctrl-C ends it.
"""
