"""Lets the tests drive Debian's Chromium in a window of a chosen size, and read from its page."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import SessionNotCreatedException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from tests.support.waiting import PATIENCE_S, eventually_now

PROGRAM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

_AXE = find_spec("axe_playwright_python")
"""The package in whose folder axe-core lies. Nobody imports it."""

needs_axe = pytest.mark.skipif(_AXE is None, reason="no axe-core: tools/setup.sh dev")

needs_a_browser = pytest.mark.skipif(
    not (PROGRAM and DRIVER), reason="no browser: apt-get install -y chromium chromium-driver"
)

SIZES = {"monitor": (1920, 1080), "small": (1280, 720), "portrait": (1080, 1920), "phone": (390, 844)}

MORE_SIZES = {"panel": (800, 480), "panel upright": (480, 800), "old": (1024, 768)}
"""Of monitors that a house may have from elsewhere."""

_4K = (3840, 2160)
"""As "monitor", in letters twice as large: only pictures are made of it."""

_TALL = (1600, 1560)
"""As much of the technician's page as a picture of it has."""

_DEAR = ("RenderDocument", "PaintHolding", "Translate", "MediaRouter", "OptimizationHints", "BackForwardCache")
"""What Chromium does beside showing a page, at each load or at its start."""

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
  if (box.left < -0.05 || box.right > wide + 0.05 || (!phone && box.bottom > high + 1))
    unfit.push(`off the page: ${said}`);
  for (let outer = each; outer && outer !== document.body; outer = outer.parentElement) {
    if (getComputedStyle(outer).overflow === 'visible') continue;
    const edge = outer.getBoundingClientRect();
    const ellipsis = getComputedStyle(outer).textOverflow === 'ellipsis';
    if (box.right > edge.right + 0.05 || box.left < edge.left - 0.05 || box.bottom > edge.bottom + 2)
      unfit.push(`${ellipsis ? 'shortened' : 'cut off'}: ${said}`);
  }
}
for (const [each, box] of boxes) {
  const head = each.closest('h3'), edge = head?.parentElement.getBoundingClientRect();
  if (head && box.right > edge.right + 0.05) unfit.push(`past its box: ${head.textContent.trim()}`);
}
for (const board of document.querySelectorAll('.pay')) {
  const end = board.parentElement.getBoundingClientRect().bottom;
  if (board.checkVisibility() && board.getBoundingClientRect().bottom > end + 0.5)
    unfit.push(`a board is cut off: ${board.textContent.trim().slice(0, 30)}`);
}
for (const card of document.querySelectorAll('.card')) {
  const box = card.getBoundingClientRect(), edge = card.closest('.zone, .seat-hand').getBoundingClientRect();
  if (box.left < edge.left || box.right > edge.right || box.top < edge.top || box.bottom > edge.bottom)
    unfit.push(`card cut off: ${card.dataset.card}`);
}
const [across, down] = phone ? [480, 1] : high > wide ? [720, 1280] : [1280, 720];
const least = 14 * Math.min(wide / across, high / down) - 0.1;
for (const each of document.getElementById('says') ? document.querySelectorAll('body *') : []) {
  const says = [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!says || !each.checkVisibility()) continue;
  const drawn = each.ownerSVGElement ? each.getScreenCTM() : { a: 1, b: 0 };
  const px = parseFloat(getComputedStyle(each).fontSize) * Math.hypot(drawn.a, drawn.b);
  const mayShrink = each.ownerSVGElement || each.closest('.pay');
  if (px < (mayShrink ? least : Math.max(least, 10.9)))
    unfit.push(`only ${px.toFixed(1)} px high: ${each.textContent.trim().slice(0, 30)}`);
}
const [says, roads] = ['says', 'roads'].map((id) => document.getElementById(id)?.getBoundingClientRect());
if (says && roads.height && says.bottom > roads.top && says.top < roads.bottom)
  unfit.push('the banner covers the roads');
if (wide <= 400) for (const id of ['seats', 'meters-box']) {
  const first = document.getElementById(id), end = first?.getBoundingClientRect().bottom + scrollY;
  if (first?.checkVisibility() && end > high) unfit.push(`${id} end at ${end}, below the first view`);
}
const hit = document.getElementById('hit');
for (let one = 0; one < boxes.length; one += 1) for (let other = one + 1; other < boxes.length; other += 1) {
  const [a, b] = [boxes[one][1], boxes[other][1]];
  const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  const [e, f] = [boxes[one][0], boxes[other][0]];
  const covered = !hit.hidden && (hit.contains(e) !== hit.contains(f));
  const over = across > 2 && down > 0.45 * Math.min(a.height, b.height) && !e.contains(f) && !f.contains(e);
  if (over && !covered)
    unfit.push(`over one another: ${e.textContent.trim().slice(0, 30)} / ${f.textContent.trim().slice(0, 30)}`);
}
const pen = new OffscreenCanvas(1, 1).getContext('2d');
const inks = [];
for (const each of leaves) {
  const style = getComputedStyle(each);
  pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  pen.letterSpacing = style.letterSpacing === 'normal' ? '0px' : style.letterSpacing;
  for (const node of each.childNodes) {
    if (node.nodeType !== 3 || !node.data.trim()) continue;
    const range = document.createRange(); range.selectNodeContents(node);
    const ink = pen.measureText(style.textTransform === 'uppercase' ? node.data.toUpperCase() : node.data);
    const lines = [...range.getClientRects()].filter((line) => line.width > 0);
    for (const { left, right, top } of lines) {
      const base = top + ink.fontBoundingBoxAscent;
      const [high, deep] = [ink.actualBoundingBoxAscent, ink.actualBoundingBoxDescent];
      inks.push([each, { left, right, top: base - high, bottom: base + deep }]);
    }
  }
}
const meet = (one, other) => Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1
  && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1;
const apart = (one, other) => !one.contains(other) && !other.contains(one)
  && !['hit', 'between', 'checkpoint'].some((id) => { const over = document.getElementById(id);
    return over && !over.hidden && over.contains(one) !== over.contains(other); });
const paints = (each) => { const { backgroundColor, backgroundImage } = getComputedStyle(each);
  return backgroundColor !== 'rgba(0, 0, 0, 0)' || backgroundImage !== 'none'; };
const painted = [...document.querySelectorAll('body *')].filter((each) => !each.closest('svg') || each.matches('svg'))
  .filter((each) => each.checkVisibility() && paints(each)).map((each) => [each, each.getBoundingClientRect()]);
const named = (each) => each.textContent.trim().slice(0, 30) || each.id || each.className;
const cards = [...document.querySelectorAll('.card')].map((each) => each.getBoundingClientRect());
for (const [each, ink] of inks) if (!each.closest('#hit, #win') && cards.some((card) => meet(ink, card)))
  unfit.push(`under a card: ${named(each)}`);
for (const [each, box] of painted) {
  if (!hit?.hidden && each.closest('#roads')) continue; // under the hit
  let outer = each.parentElement;
  while (outer && getComputedStyle(outer).overflow === 'visible') outer = outer.parentElement;
  const edge = outer && outer !== document.body ? outer.getBoundingClientRect() : { top: -Infinity, bottom: Infinity };
  if (box.bottom > edge.bottom + 0.5 || box.top < edge.top - 0.5) unfit.push(`a box is cut off: ${named(each)}`);
}
for (const [place, [each, ink]] of inks.entries()) {
  for (let outer = each; outer && outer !== document.body; outer = outer.parentElement) {
    const edge = outer.getBoundingClientRect(), clips = getComputedStyle(outer).overflow !== 'visible';
    if (!clips && !paints(outer)) continue;
    if (ink.top < edge.top - 1 || ink.bottom > edge.bottom + 1) unfit.push(`ink out of its box: ${named(each)}`);
    break;
  }
  for (const [other, edge] of painted) if (meet(ink, edge) && apart(each, other))
    unfit.push(`ink at a box: ${named(each)} / ${named(other)}`);
  for (const [other, second] of inks.slice(place + 1)) if (meet(ink, second) && apart(each, other))
    unfit.push(`ink at ink: ${named(each)} / ${named(other)}`);
}
return unfit;
"""

_TEXTS = """
return [...document.querySelectorAll('body *')].filter((each) => each.checkVisibility()
  && [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim())).map((each) => {
    const range = document.createRange(); range.selectNodeContents(each);
    const { left, top, width, height } = range.getBoundingClientRect();
    const seen = document.elementFromPoint(left + width / 2, top + height / 2);
    return seen && (seen.contains(each) || each.contains(seen) || seen.ownerSVGElement)
      ? [each.textContent.trim().slice(0, 40), left, top, width, height] : null;
  }).filter((each) => each && each[3] > 0 && each[4] > 0);
"""

_PAINTED = "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))"
_FAINT = """
const [shot, texts, done] = arguments;
const light = (r, g, b) => [r, g, b].map((each) => each / 255).map((each) => each <= 0.04045 ? each / 12.92
  : ((each + 0.055) / 1.055) ** 2.4).reduce((sum, each, place) => sum + each * [0.2126, 0.7152, 0.0722][place], 0);
fetch(`data:image/png;base64,${shot}`).then((got) => got.blob()).then(createImageBitmap).then((image) => {
  const canvas = new OffscreenCanvas(image.width, image.height);
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  pen.drawImage(image, 0, 0);
  done(texts.map(([said, left, top, width, height]) => {
    const pixels = pen.getImageData(Math.max(0, left), Math.max(0, top), Math.ceil(width), Math.ceil(height)).data;
    const counts = new Map();
    for (let at = 0; at < pixels.length; at += 4) {
      const color = `${pixels[at]} ${pixels[at + 1]} ${pixels[at + 2]}`;
      counts.set(color, (counts.get(color) || 0) + 1);
    }
    const behind = light(...[...counts].sort((one, other) => other[1] - one[1])[0][0].split(' ').map(Number));
    const most = Math.max(...[...counts.keys()].map((color) => light(...color.split(' ').map(Number)))
      .map((each) => (Math.max(each, behind) + 0.05) / (Math.min(each, behind) + 0.05)));
    return most < 4.5 ? `${most.toFixed(1)}:1 ${said}` : null;
  }).filter(Boolean));
});
"""


_BARRIERS = """const [done] = arguments;
axe.run().then(({ violations }) => done(violations.flatMap(({ id, nodes }) =>
  nodes.map(({ target, html }) => `${id}: ${target.join(' ')}: ${html.slice(0, 120)}`))));"""


class Browser:
    """A Chromium browser with one window for web pages. A second, empty window analyses the pictures that were taken of
    the first window. Pictures are saved in the folder `pictures`."""

    def __init__(self, driver: webdriver.Chrome, pictures: Path) -> None:
        self._driver, self.pictures = driver, pictures
        self._page = driver.current_window_handle
        self._beside = ""

    def open(self, url: str) -> None:
        """Go to this address, and wait until the page shows the state of the table."""
        self._driver.get(url)
        self.until("!document.body.classList.contains('waiting')")

    def leave(self) -> None:
        """Go to an empty page, so that the server of the present page has no open connection and can end."""
        self._driver.get("about:blank")

    def go(self, url: str) -> None:
        """Go to this address. Do not wait for what the page loads later."""
        self._driver.get(url)

    def size(self, name: str) -> None:
        """Give the window the size of this name, for example "4k" or "tall" (see SIZES and MORE_SIZES). Wait until the
        page is drawn in that size."""
        width, height = {"tall": _TALL, "4k": _4K, **SIZES, **MORE_SIZES}[name]
        if self.read("[innerWidth, innerHeight]") == [width, height]:
            return
        self.run(
            "window.resized = false; addEventListener('resize', () => { window.resized = true; }, { once: true });"
        )
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.until(f"window.resized && innerWidth === {width} && innerHeight === {height}")

    def moving(self, moves: bool) -> None:
        """Switch animations on or off for all pages that are loaded from now on."""
        value = "no-preference" if moves else "reduce"
        features = {"features": [{"name": "prefers-reduced-motion", "value": value}]}
        self._driver.execute_cdp_cmd("Emulation.setEmulatedMedia", features)

    def slowed(self, times: int) -> None:
        """Slow down the browser's processor, so that scripts and drawing take `times` times as long."""
        self._driver.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": times})

    def read(self, script: str) -> Any:
        """Evaluate a JavaScript expression in the page, and return its value."""
        return self._driver.execute_script(f"return {script};")

    def run(self, script: str) -> None:
        """Run JavaScript statements in the page."""
        self._driver.execute_script(script)

    def run_async(self, script: str, *given: Any) -> Any:
        """Run JavaScript statements in the page, and return the value that they pass to a callback. The script's
        arguments are `given`, and after them the callback."""
        return self._driver.execute_async_script(script, *given)

    def give(self, selector: str, path: Path) -> None:
        """Choose the file at `path` in the page's file input that `selector` names."""
        self._driver.find_element("css selector", selector).send_keys(str(path))

    def until(self, script: str) -> None:
        """Wait until this JavaScript expression is true in the page."""
        eventually_now(lambda: self.read(script), script)

    def roads(self) -> dict[str, list[str]]:
        """Return the marks of every road (chart of results) on the page, all read at one moment, by the road's name.
        The key `counts` holds the counts of results."""
        drawn: dict[str, list[str]] = self.read(
            "({...Object.fromEntries([...document.querySelectorAll('.road')].map(road => [road.id,"
            " [...road.querySelectorAll('[data-mark]')].map(e => e.dataset.mark)])),"
            " counts: ['player', 'banker', 'tie'].map(e => document.querySelector(`[data-count=${e}]`).textContent)})"
        )
        return drawn

    def text(self, selector: str, language: str = "") -> str:
        """Return the text of the element that `selector` names, in the language `language`, or in all languages that
        the page shows."""
        where = f"{selector} [lang={language}]" if language else selector
        return str(self.read(f"document.querySelector({json.dumps(where)})?.textContent ?? ''"))

    def unfit(self) -> list[str]:
        """Return a list of what does not fit on the page: text that is cut off, off the page or over other text, and a
        page that must be scrolled.

        The ink of letters counts too, because it may be taller than the box of its line. On the players' page, text
        must be at least 14 px high if the window has 720 lines, and at least 11 px high in any other window. Only long
        pay tables may have smaller text.
        """
        self._driver.execute_async_script(_PAINTED)  # before that a page has not fitted its boards to their place
        found: list[str] = self._driver.execute_script(_UNFIT)
        return found

    def unfit_after(self, poses: Iterable[str], expression: str) -> list[tuple[list[str], Any]]:
        """Run each of these JavaScript statements in the page. Return for each a pair: what does not fit on the page
        afterwards, and the value of `expression` at that moment. The page is not painted in between."""
        steps = ", ".join(f"() => {{ {pose} }}" for pose in poses)
        looks = f"[{steps}].map(pose => {{ pose(); return [(() => {{ {_UNFIT} }})(), {expression}]; }})"
        return [(unfit, value) for unfit, value in self.read(looks)]

    def faint(self) -> list[str]:
        """Return the texts whose contrast to their background is below 4.5:1, measured in the pixels of the page. A
        text must be faint in five pictures in a row, because a busy machine may give an empty picture."""
        found = self._faint_now()
        for _ in range(4):
            if found:
                again = self._faint_now()
                found = [each for each in found if each in again]
        return found

    def _faint_now(self) -> list[str]:
        texts = self._driver.execute_script(_TEXTS)
        self._driver.execute_async_script(_PAINTED)
        shot = self._driver.get_screenshot_as_base64()
        if not self._beside:
            self._driver.switch_to.new_window("window")
            self._beside = self._driver.current_window_handle
        self._driver.switch_to.window(self._beside)
        try:
            found: list[str] = self._driver.execute_async_script(_FAINT, shot, texts)
        finally:
            self._driver.switch_to.window(self._page)
        return found

    def machine_fonts(self, selector: str) -> list[str]:
        """Return the names of the machine's fonts that draw letters of this element. Fonts that the page itself brings
        are left out."""
        self.until(f"document.querySelector('{selector}').offsetWidth >= 0 && document.fonts.status === 'loaded'")
        root = self._driver.execute_cdp_cmd("DOM.getDocument", {})["root"]["nodeId"]
        node = self._driver.execute_cdp_cmd("DOM.querySelector", {"nodeId": root, "selector": selector})
        self._driver.execute_cdp_cmd("CSS.enable", {})
        fonts = self._driver.execute_cdp_cmd("CSS.getPlatformFontsForNode", node)["fonts"]
        return [each["familyName"] for each in fonts if not each["isCustomFont"]]

    def barriers(self) -> list[str]:
        """Return the barriers for disabled people (for example, for users of a screen reader) that the program axe
        finds on the page. Each entry names the rule that the page breaks, and the place on the page."""
        folder = _AXE.submodule_search_locations if _AXE else None
        self._driver.execute_script((Path((folder or [""])[0]) / "axe.min.js").read_text("utf-8"))
        found: list[str] = self._driver.execute_async_script(_BARRIERS)
        return found

    def picture(self, name: str) -> None:
        """Save a picture of the page under this name."""
        self._driver.save_screenshot(str(self.pictures / f"{name}.png"))

    def small_picture(self, name: str, last: str | None) -> None:
        """Save a picture of the page in a small file. If `last` names an element, the picture ends below the section
        that holds the element."""
        asked: dict[str, Any] = {"format": "webp", "quality": 82}
        if last is not None:
            high = self.read(
                f"document.getElementById('{last}').closest('section').getBoundingClientRect().bottom + 16"
            )
            clip = {"x": 0, "y": 0, "width": self.read("innerWidth"), "height": high, "scale": 1}
            asked |= {"clip": clip, "captureBeyondViewport": True}
        shot = self._driver.execute_cdp_cmd("Page.captureScreenshot", asked)
        (self.pictures / f"{name}.webp").write_bytes(base64.b64decode(shot["data"]))

    def complaints(self) -> list[str]:
        """Return what the page wrote to the browser's console since the last call. Complaints that a server was away
        are left out."""
        told = [line["message"] for line in self._driver.get_log("browser")]  # type: ignore[no-untyped-call]  # in selenium
        return [line for line in told if "ERR_CONNECTION_REFUSED" not in line and "ERR_INCOMPLETE_CHUNKED" not in line]


def _begun(options: Options) -> webdriver.Chrome:
    """Start the browser. If the start fails, try once more, because a browser may end by itself if many start at the
    same time."""
    try:
        return webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    except SessionNotCreatedException:
        return webdriver.Chrome(options=options, service=Service(str(DRIVER)))


@contextmanager
def chromium(pictures: Path) -> Iterator[Browser]:
    """Yield a browser without a visible window. It asks web pages for reduced motion."""
    options = Options()
    options.binary_location = str(PROGRAM)
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.add_argument("--force-prefers-reduced-motion")
    options.add_argument("--in-process-gpu")
    options.add_argument(f"--disable-features={','.join(_DEAR)}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = _begun(options)
    driver.set_script_timeout(3 * PATIENCE_S)  # its own 30 s are too few where a whole proof runs
    try:
        yield Browser(driver, pictures)
    finally:
        driver.quit()
