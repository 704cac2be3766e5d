"""Find texts that are cut off, and measure whether a page is wider than the screen."""

from playwright.async_api import Page

_CUT_OFF = """
() => {
  const parent = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host;
  // What is wholly outside is there on purpose: a sidebar to be opened, a text for screen readers.
  const cut = (start, end, from, to) =>
    (start < from - 1 && end > from + 1) || (start < to - 1 && end > to + 1);
  const isCutOff = (text) => {
    const range = document.createRange();
    range.selectNodeContents(text);
    return [...range.getClientRects()].some((box) => {
      if (cut(box.left, box.right, 0, innerWidth)) return true;
      let scrolls = false;
      for (let node = text.parentElement; node; node = parent(node)) {
        const { overflowX, overflowY } = getComputedStyle(node);
        const clip = node.getBoundingClientRect();
        scrolls ||= overflowY === "auto" || overflowY === "scroll";
        if (clip.width <= 1 || clip.height <= 1) continue;
        if (overflowX !== "visible" && cut(box.left, box.right, clip.left, clip.right)) return true;
        if (overflowY !== "visible" && !scrolls && cut(box.top, box.bottom, clip.top, clip.bottom)) return true;
      }
      return false;
    });
  };
  const found = [];
  const look = (root) => {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      // A map goes on beyond its edges.
      if (node.shadowRoot && node.localName !== "ha-map") look(node.shadowRoot);
      if (node.nodeType !== Node.TEXT_NODE || !node.data.trim() || !node.parentElement) continue;
      if (node.parentElement.checkVisibility({ visibilityProperty: true }) && isCutOff(node)) {
        found.push(node.data.trim());
      }
    }
  };
  look(document.body);
  return found;
}
"""
_TOO_WIDE = "() => document.scrollingElement.scrollWidth - innerWidth"


async def cut_off(page: Page) -> list[str]:
    """Return the texts on the page that are partly cut off at an edge."""
    texts: list[str] = await page.evaluate(_CUT_OFF)
    return texts


async def too_wide(page: Page) -> int:
    """Return by how many pixels the page is wider than the screen: 0 if it fits."""
    pixels: int = await page.evaluate(_TOO_WIDE)
    return pixels
