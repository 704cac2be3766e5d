"""Write the configuration folder: a house in the simulated town, the integration and a phone."""

import json
from pathlib import Path
import shutil

from tests.tools.simulator.streets import HOME, WERDERPLATZ

ROOT = Path(__file__).parents[3]
INTEGRATION = ROOT / "custom_components" / "bike_tracker"
USER = "Demo"
USER_ID = "demo"

_CONFIGURATION = f"""\
# A person at this machine is signed in without a question.
homeassistant:
  name: Home
  country: DE
  currency: EUR
  time_zone: Europe/Berlin
  unit_system: metric
  latitude: {HOME[0]}
  longitude: {HOME[1]}
  elevation: 115
  internal_url: http://127.0.0.1:PORT
  auth_providers:
    - type: trusted_networks
      trusted_networks: [127.0.0.1]
      allow_bypass_login: true
    - type: homeassistant
  # In a container it would be a folder of the machine.
  media_dirs:
    local: MEDIA

automation: !include automations.yaml
person:
  - {{id: demo, name: {USER}, user_id: {USER_ID}}}
zone:
  - {{name: Office, icon: "mdi:briefcase", latitude: {WERDERPLATZ[0]}, longitude: {WERDERPLATZ[1]}}}

# The parts that are there to be looked at; none of them needs the internet.
frontend:
history:
logbook:
my:
"""
_OWNER = {
    "id": USER_ID,
    "name": USER,
    "group_ids": ["system-admin"],
    "is_owner": True,
    "is_active": True,
    "system_generated": False,
}
# The demo skips Home Assistant's first-time set-up, which would create this dashboard.
_MAP = {"id": "map", "icon": "mdi:map", "title": "Map", "url_path": "map"}
_SHOWN = {"mode": "storage", "require_admin": False, "show_in_sidebar": True}
_ONBOARDED = ["user", "core_config", "analytics", "integration"]


def lay_out(folder: Path, port: int, *, with_integration: bool = True) -> None:
    """Write the configuration into an empty folder. Home Assistant will listen on this port of 127.0.0.1."""
    media = folder / "media"
    media.mkdir()
    text = _CONFIGURATION.replace("MEDIA", str(media)).replace("PORT", str(port))
    (folder / "configuration.yaml").write_text(text)
    (folder / "automations.yaml").write_text("[]\n")
    _install(Path(__file__).with_name("phone"), folder, "mobile_app")
    if with_integration:
        _install(INTEGRATION, folder, INTEGRATION.name)
    (folder / ".storage").mkdir()
    # In YAML, these settings of HTTP are deprecated, so store them. Home Assistant
    # converts version 1 of the file to the current version.
    store(folder, "http", 1, {"server_host": ["127.0.0.1"], "server_port": port})
    store(folder, "onboarding", 4, {"done": _ONBOARDED})
    store(folder, "lovelace_dashboards", 1, {"items": [_MAP | _SHOWN]})
    store(folder, "lovelace.map", 1, {"config": {"strategy": {"type": "map"}}})
    auth = {"users": [_OWNER], "groups": [{"id": "system-admin", "name": "Admins"}]}
    store(folder, "auth", 1, auth | {"credentials": [], "refresh_tokens": []})


def _install(integration: Path, folder: Path, name: str) -> None:
    target = folder / "custom_components" / name
    shutil.copytree(integration, target, ignore=shutil.ignore_patterns("__pycache__"))


def store(folder: Path, key: str, version: int, data: object) -> None:
    """Save data as Home Assistant stores it: in a file with the name of the key."""
    content = {"version": version, "minor_version": 1, "key": key, "data": data}
    (folder / ".storage" / key).write_text(json.dumps(content))
