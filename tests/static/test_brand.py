"""The brand images, by the rules of Home Assistant."""

from pathlib import Path

from homeassistant.components.brands.const import ALLOWED_IMAGES
from PIL import Image
import pytest

from .project import INTEGRATION, ROOT, under

IMAGES = under(INTEGRATION / "brand", "*")
DRAWINGS = under(ROOT / "docs" / "brand", "*.svg")
# Limits of the shorter side in pixels.
SHORTER_SIDE = {
    "icon.png": (256, 256),
    "icon@2x.png": (512, 512),
    "logo.png": (128, 256),
    "logo@2x.png": (256, 512),
}


def test_images() -> None:
    """Home Assistant shows each image, and each drawing has both sizes."""
    names = {image.name for image in IMAGES}
    assert {"icon.png", "icon@2x.png"} <= names <= ALLOWED_IMAGES
    assert names == {f"{it.stem}{size}.png" for it in DRAWINGS for size in ("", "@2x")}


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.name)
def test_image(path: Path) -> None:
    """An image is a small transparent PNG of the right size."""
    kind = path.name.removeprefix("dark_")
    low, high = SHORTER_SIDE[kind]
    with Image.open(path) as image:
        assert image.format == "PNG"
        assert image.convert("RGBA").getchannel("A").getextrema() == (0, 255)
        assert low <= min(image.size) <= high
        assert (image.width == image.height) is kind.startswith("icon")
    assert path.stat().st_size < 20_000
