"""The brand images: what Home Assistant serves and its rules for brands ask for."""

from pathlib import Path

from homeassistant.components.brands.const import ALLOWED_IMAGES
from PIL import Image
import pytest

from .project import INTEGRATION, ROOT, under

BRAND = INTEGRATION / "brand"
IMAGES = under(BRAND, "*")
DRAWINGS = under(ROOT / "docs" / "brand", "*.svg")
# The shorter side of an image in pixels, by its name without dark_.
SHORTER_SIDE = {
    "icon.png": (256, 256),
    "icon@2x.png": (512, 512),
    "logo.png": (128, 256),
    "logo@2x.png": (256, 512),
}


def kind_of(image: Path) -> str:
    """Return what an image shows and how large, whether for dark or for light."""
    return image.name.removeprefix("dark_")


def test_images_are_those_home_assistant_serves() -> None:
    """There is an icon, and nothing that is never shown."""
    names = {image.name for image in IMAGES}
    assert {"icon.png", "icon@2x.png"} <= names <= ALLOWED_IMAGES


def test_each_drawing_is_rendered_in_both_sizes() -> None:
    """No image is without its drawing, no drawing without its images."""
    rendered = {
        f"{drawing.stem}{suffix}.png" for drawing in DRAWINGS for suffix in ("", "@2x")
    }
    assert rendered == {image.name for image in IMAGES}


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.name)
def test_image_is_a_small_transparent_png(path: Path) -> None:
    """An image is a PNG that lets the background through and loads quickly."""
    with Image.open(path) as image:
        assert image.format == "PNG"
        assert image.convert("RGBA").getchannel("A").getextrema() == (0, 255)
    assert path.stat().st_size < 20_000


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.name)
def test_image_has_the_right_size(path: Path) -> None:
    """An icon is a square, a logo is not; both are as large as the rules say."""
    with Image.open(path) as image:
        low, high = SHORTER_SIDE[kind_of(path)]
        assert low <= min(image.size) <= high
        assert (image.width == image.height) is kind_of(path).startswith("icon")
