"""Headless Chromium on pages of a server of ours, and what went wrong there."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

__all__ = ["Visit", "chromium", "visiting"]

_LEAST_CONTRAST = """() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => parts(colour).slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if ((parts(colour)[3] ?? 1) === 1) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const contrasts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !node.checkVisibility()) continue;
    const [a, b] = [light(getComputedStyle(node).color), light(behind(node))];
    contrasts.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), node.outerHTML]);
  }
  return contrasts.sort((one, other) => one[0] - other[0])[0];
}"""
_MILLISECONDS = 20_000
_NAMES = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Visit:
    """A tab, the hosts that it asked, and what its console complained of and was expected to."""

    page: Page
    url: str
    asked: list[Request] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    expected: set[str] = field(default_factory=set)

    def go(self, fragment: str = "") -> None:
        """Open the page as if its address were typed in a new tab."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.url}/{fragment}")
        self.page.wait_for_selector("#status:not(:empty), .error:not(:empty), #token:not([hidden])")
        self.page.wait_for_selector("#results:not([aria-busy])", state="attached")

    def search(self, query: str) -> None:
        """Type a query, and wait for its answer."""
        self.page.fill("#query", query)
        with self.page.expect_response("**/v1/search"):
            self.page.press("#query", "Enter")
        self.page.wait_for_selector("#results:not([aria-busy])", state="attached")

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements that a selector finds."""
        return [node.text_content() or "" for node in self.page.query_selector_all(selector)]

    def count(self, path: str) -> int:
        """How often a path was asked for."""
        return sum(request.url == f"{self.url}{path}" for request in self.asked)

    def least_contrast(self) -> tuple[float, str]:
        """The contrast of the text that stands out least from its background, and its element."""
        ratio, node = self.page.evaluate(_LEAST_CONTRAST)
        return float(ratio), str(node)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The machine's own Chromium; nothing but loopback can be reached from it."""
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        pytest.skip("chromium is missing; install it with: apt-get install chromium")
    args = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    if os.geteuid() == 0:
        args.append("--no-sandbox")
    expect.set_options(timeout=_MILLISECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=args)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def visiting(browser: Browser, url: str, **context: Any) -> Iterator[Visit]:
    """A tab with a session of its own; at the end it asked one host and complained of nothing."""
    opened = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **context})
    opened.set_default_timeout(_MILLISECONDS)
    visit = Visit(opened.new_page(), url)
    visit.page.on("request", lambda request: visit.asked.append(request))
    visit.page.on("console", lambda message: visit.complaints.append(message.text))
    visit.page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    try:
        yield visit
    finally:
        opened.close()
    # At the end, since a complaint may arrive after what it is about is seen.
    assert [
        text for text in visit.complaints if not any(some in text for some in visit.expected)
    ] == []
    strange = [one.url for one in visit.asked if not one.url.startswith((f"{url}/", "about:"))]
    assert strange == []
