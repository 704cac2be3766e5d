"""Run Home Assistant without parts that it starts unasked and that a demo does without.

Voice, cameras and analytics need packages, programs or servers that are not on every machine. Without those they fail, and
Home Assistant greets people with a notification about it. Stands alone, as child.py does, which it goes on with.
"""

from pathlib import Path
import runpy
import sys
from types import ModuleType

from homeassistant import bootstrap

LEFT_OUT = {
    "ai_task",
    "analytics",
    "assist_satellite",
    "camera",
    "conversation",
    "image_processing",
    "stt",
    "tts",
    "wake_word",
}

IMPORTED_ALL_THE_SAME = {"ai_task", "assist_satellite", "camera"}
"""Home Assistant looks up in all components of this kind what one of them can do."""


def main() -> None:
    """Go on with the same arguments."""
    bootstrap.DEFAULT_INTEGRATIONS -= LEFT_OUT
    for component in IMPORTED_ALL_THE_SAME:
        name = f"homeassistant.components.{component}"
        sys.modules[name] = ModuleType(name)
    sys.argv[0] = str(Path(__file__).with_name("child.py"))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
