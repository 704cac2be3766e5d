# /// script
# requires-python = ">=3.14"
# dependencies = ["pyoxipng==9.1.1", "resvg-py==0.5.0"]
# ///
"""Render the drawings in docs/brand/ to the images that Home Assistant shows."""

from pathlib import Path

# Only this script uses these packages: uv creates an environment for the script.
import oxipng  # type: ignore[import-not-found]
import resvg_py  # type: ignore[import-not-found]

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "docs" / "brand"
TARGETS = ROOT / "custom_components" / "bike_tracker" / "brand"
# The height of an image in pixels, by the end of its name.
HEIGHTS = {"": 256, "@2x": 512}


def main() -> None:
    """Render every drawing in every size."""
    for source in sorted(SOURCES.glob("*.svg")):
        for suffix, height in HEIGHTS.items():
            target = TARGETS / f"{source.stem}{suffix}.png"
            image = bytes(resvg_py.svg_to_bytes(svg_path=str(source), height=height))
            target.write_bytes(oxipng.optimize_from_memory(image, level=4))
            print(f"{target.name}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
