"""Debian's Chromium at a size of our choice, and what can be read off the page."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from tests.daemon.daemon_world import eventually_now

PROGRAM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

needs_a_browser = pytest.mark.skipif(
    not (PROGRAM and DRIVER), reason="no browser: apt-get install -y chromium chromium-driver"
)

SIZES = {"monitor": (1920, 1080), "small": (1280, 720), "portrait": (1080, 1920), "phone": (390, 844)}

_UNFIT = """
const unfit = [], wide = innerWidth, high = innerHeight, phone = wide <= 600;
const root = document.documentElement;
if (root.scrollWidth > wide) unfit.push(`the page is ${root.scrollWidth} wide`);
if (!phone && root.scrollHeight > high) unfit.push(`the page is ${root.scrollHeight} high`);
const leaves = [...document.querySelectorAll('body *')].filter((each) => !each.closest('svg') && each.checkVisibility()
  && [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
const boxes = leaves.map((each) => {
  const range = document.createRange(); range.selectNodeContents(each);
  return [each, range.getBoundingClientRect()];
});
for (const [each, box] of boxes) {
  const said = each.textContent.trim().slice(0, 40), style = getComputedStyle(each);
  if (box.left < -1 || box.right > wide + 1 || (!phone && box.bottom > high + 1)) unfit.push(`off the page: ${said}`);
  for (let outer = each; outer && outer !== document.body; outer = outer.parentElement) {
    if (getComputedStyle(outer).overflow === 'visible') continue;
    const edge = outer.getBoundingClientRect();
    const ellipsis = getComputedStyle(outer).textOverflow === 'ellipsis';
    if (box.right > edge.right + 1 || box.left < edge.left - 1 || box.bottom > edge.bottom + 2)
      unfit.push(`${ellipsis ? 'shortened' : 'cut off'}: ${said}`);
  }
}
const hit = document.getElementById('hit');
for (let one = 0; one < boxes.length; one += 1) for (let other = one + 1; other < boxes.length; other += 1) {
  const [a, b] = [boxes[one][1], boxes[other][1]];
  const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  const [e, f] = [boxes[one][0], boxes[other][0]];
  const covered = !hit.hidden && (hit.contains(e) !== hit.contains(f));
  const sticky = phone && (e.closest('#says') || f.closest('#says'));
  const over = across > 2 && down > 0.45 * Math.min(a.height, b.height) && !e.contains(f) && !f.contains(e);
  if (over && !covered && !sticky)
    unfit.push(`over one another: ${e.textContent.trim().slice(0, 30)} / ${f.textContent.trim().slice(0, 30)}`);
}
return unfit;
"""


class Browser:
    """One window."""

    def __init__(self, driver: webdriver.Chrome, pictures: Path) -> None:
        self._driver, self._pictures = driver, pictures

    def open(self, url: str) -> None:
        """Go there, and wait until it shows the table."""
        self._driver.get(url)
        self.until("!document.body.classList.contains('waiting')")

    def size(self, name: str) -> None:
        """The window's size, by its name in SIZES."""
        width, height = SIZES[name]
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.until(f"innerWidth === {width}")

    def read(self, script: str) -> Any:
        """The value of an expression in the page."""
        return self._driver.execute_script(f"return {script};")

    def until(self, script: str) -> None:
        """Wait until the expression holds in the page."""
        eventually_now(lambda: self.read(script), script)

    def roads(self) -> dict[str, list[str]]:
        """Every road's marks as they are drawn at one moment, by its name, and the counts as `counts`."""
        drawn: dict[str, list[str]] = self.read(
            "({...Object.fromEntries([...document.querySelectorAll('.road')].map(road => [road.id,"
            " [...road.querySelectorAll('[data-mark]')].map(e => e.dataset.mark)])),"
            " counts: ['player', 'banker', 'tie'].map(e => document.querySelector(`[data-count=${e}]`).textContent)})"
        )
        return drawn

    def text(self, selector: str, language: str = "") -> str:
        """An element's text, all of it or in one language."""
        where = f"{selector} [lang={language}]" if language else selector
        return str(self.read(f"document.querySelector({json.dumps(where)})?.textContent ?? ''"))

    def unfit(self) -> list[str]:
        """What does not fit: text that is cut off, off the page or over other text, a page that must be scrolled."""
        found: list[str] = self._driver.execute_script(_UNFIT)
        return found

    def picture(self, name: str) -> None:
        """Keep the page as a picture."""
        self._driver.save_screenshot(str(self._pictures / f"{name}.png"))

    def small_picture(self, name: str) -> None:
        """The same, in few bytes."""
        shot = self._driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": 82})
        (self._pictures / f"{name}.webp").write_bytes(base64.b64decode(shot["data"]))

    def complaints(self) -> list[str]:
        """What the page wrote to the console, but for a server that was away."""
        told = [line["message"] for line in self._driver.get_log("browser")]  # type: ignore[no-untyped-call]
        return [line for line in told if "ERR_CONNECTION_REFUSED" not in line and "ERR_INCOMPLETE_CHUNKED" not in line]


@contextmanager
def chromium(pictures: Path, *, still: bool = True) -> Iterator[Browser]:
    """A browser without a window; `still`: it asks pages for reduced motion."""
    options = Options()
    options.binary_location = str(PROGRAM)
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    if still:
        options.add_argument("--force-prefers-reduced-motion")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    try:
        yield Browser(driver, pictures)
    finally:
        driver.quit()
