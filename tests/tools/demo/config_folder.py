"""The folder that Home Assistant runs in, as it is after the integration was installed."""

import json
from pathlib import Path
import shutil

ROOT = Path(__file__).parents[3]
INTEGRATION = ROOT / "custom_components" / "bike_tracker"
_BLUEPRINTS = ROOT / "blueprints"

_CONFIGURATION = """\
# Whoever is on this machine is signed in without being asked.
homeassistant:
  auth_providers:
    - type: trusted_networks
      trusted_networks: [127.0.0.1]
      allow_bypass_login: true
    - type: homeassistant
  # In a container it would be a folder of the machine.
  media_dirs:
    local: {media}

automation: !include automations.yaml
script: !include scripts.yaml

# The parts that are there to be looked at; none of them needs the internet.
frontend:
history:
logbook:
my:
"""

# The only step of the first-time set-up that is left is the user. The others fetch things from the internet.
_ONBOARDING_DONE = ["core_config", "analytics", "integration"]


def lay_out(folder: Path, port: int, *, with_integration: bool = True) -> None:
    """Fill an empty folder; Home Assistant will listen on 127.0.0.1 and this port."""
    media_folder(folder).mkdir()
    text = _CONFIGURATION.format(media=media_folder(folder))
    (folder / "configuration.yaml").write_text(text)
    (folder / "automations.yaml").write_text("[]\n")
    (folder / "scripts.yaml").touch()
    if with_integration:
        shutil.copytree(
            INTEGRATION,
            folder / "custom_components" / INTEGRATION.name,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    (folder / ".storage").mkdir()
    # Not in the YAML, which counts as deprecated there. Home Assistant brings this first version up to date.
    store(folder, "http", 1, {"server_host": ["127.0.0.1"], "server_port": port})
    store(folder, "onboarding", 4, {"done": _ONBOARDING_DONE})


def media_folder(folder: Path) -> Path:
    """Return where Home Assistant may write what people ask for."""
    return folder / "media"


def install_blueprints(folder: Path) -> None:
    """Have the project's blueprints in Home Assistant, as if somebody had imported them."""
    shutil.copytree(_BLUEPRINTS, folder / _BLUEPRINTS.name, dirs_exist_ok=True)


def install_phone(folder: Path) -> None:
    """Have a phone with Home Assistant's app, as automations see it."""
    app = folder / "custom_components" / "mobile_app"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(__file__).with_name("phone"), app, ignore=ignored)


def converse(folder: Path) -> None:
    """Have Assist, for typed questions."""
    with (folder / "configuration.yaml").open("a") as file:
        file.write("conversation:\n")


def stored(folder: Path, key: str) -> str:
    """Return what Home Assistant saved under a key, nothing if that was not saved yet."""
    path = folder / ".storage" / key
    return path.read_text() if path.exists() else ""


def store(folder: Path, key: str, version: int, data: object) -> None:
    """Save something under a key, as Home Assistant does; it is not to be running."""
    content = {"version": version, "minor_version": 1, "key": key, "data": data}
    (folder / ".storage" / key).write_text(json.dumps(content))
