"""Chromium from the system's packages, without a window, on an empty profile."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement

from tests.waiting import wait_for

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PHONE = (390, 844)
DESKTOP = (1280, 900)


@contextmanager
def open_browser() -> Iterator[webdriver.Chrome]:
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("Chromium and its driver are not installed; `make browser` says how")
    profile = tempfile.mkdtemp(prefix="chorus-browser-")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    environment = {"HOME": profile, "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    browser = webdriver.Chrome(options=options, service=Service(driver, env=environment))
    try:
        yield browser
    finally:
        browser.quit()
        shutil.rmtree(profile, ignore_errors=True)


def show_as(browser: webdriver.Chrome, size: tuple[int, int], *, dark: bool = False) -> None:
    """Give the page the size of a screen, and a light or dark theme."""
    width, height = size
    device = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", device)
    theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme]})


def find(browser: WebDriver, selector: str, text: str = "") -> WebElement:
    """Wait for an element that holds this text."""

    def look() -> WebElement | None:
        found = browser.find_elements("css selector", selector)
        return next((one for one in found if text in one.text), None)

    return wait_for(look, what=f"{selector} with {text!r}", every=0.02)


def wait_gone(browser: WebDriver, selector: str) -> None:
    wait_for(lambda: not browser.find_elements("css selector", selector), what=f"{selector} goes", every=0.02)


def wait_until_pressable(browser: WebDriver) -> None:
    """Wait until a press is no longer taken for one that was meant for an earlier page."""
    still = "return performance.now() - (window.movedAt || 0) > 450"
    watch = (
        "if (!window.movedAt) { window.movedAt = performance.now();"
        " new MutationObserver(() => { window.movedAt = performance.now(); })"
        ".observe(document.querySelector('main'), {childList: true, subtree: true}); }"
    )
    browser.execute_script(watch)
    wait_for(lambda: browser.execute_script(still), what="the page is still", every=0.02)


def screenshot(browser: WebDriver, directory: Path, name: str) -> Path:
    path = directory / f"{name}.png"
    assert browser.save_screenshot(str(path))
    return path
