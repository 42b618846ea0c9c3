"""Headless Chromium for the pages that are written; tests skip where there is no browser."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.chrome.service import Service  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="needs a browser: Debian's packages chromium and chromium-driver"
)


@contextmanager
def browsing() -> Iterator[Any]:
    """Start a browser that keeps its console and what it asks the network for."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def set_size(browser: Any, width: int, height: int) -> None:
    settings = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", settings)


def asked_for(browser: Any, address: str) -> list[str]:
    """Open a page; return the addresses that it asks for."""
    browser.get_log("performance")
    browser.get(address)
    browser.execute_script("window.scrollTo(0, document.body.scrollHeight)")
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [
        message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"
    ]


def beyond_the_screen(browser: Any) -> list[str]:
    """Return what reaches beyond the screen without standing in a box that scrolls."""
    return list(
        browser.execute_script("""
            return [...document.querySelectorAll("main *, header *, nav *, form *")].filter((one) => {
                const box = one.getBoundingClientRect();
                return box.width > 0 && box.right > innerWidth + 1 && !one.closest(".box");
            }).map((one) => one.outerHTML.slice(0, 200));
        """)
    )
