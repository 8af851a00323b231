"""Access to the page: one-time links, and the browsers that were let in by a link.

A browser gets two secrets: a cookie, which scripts cannot read, and a key, which the page keeps. A request
needs both, because a browser sends a cookie to every port of a host, and so to other programs. The server
stores only digests of the secrets.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

LINK_SECONDS = 600.0
# A working day. After that, the browser needs a new link.
BROWSER_SECONDS = 12 * 3600.0


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser that was let in. `number`: its name in the log of the page."""

    number: int
    cookie: str
    key: str


class Links:
    """Creates links, and knows the browsers that were let in. `clock`: seconds that never decrease."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._links: dict[bytes, float] = {}
        self._browsers: dict[bytes, tuple[int, float]] = {}
        self._count = 0

    def make(self) -> str:
        """Return the token of a new link."""
        token = secrets.token_urlsafe(32)
        self._links[_digest(token)] = self._clock() + LINK_SECONDS
        return token

    def use(self, token: str) -> Browser | None:
        """Let a browser in. Return None if the link is unknown, expired or used."""
        until = self._links.pop(_digest(token), None)
        if until is None or self._clock() > until:
            return None
        self._count += 1
        browser = Browser(self._count, secrets.token_urlsafe(32), secrets.token_urlsafe(32))
        known = (self._count, self._clock() + BROWSER_SECONDS)
        self._browsers[_digest(browser.cookie, browser.key)] = known
        return browser

    def find(self, cookie: str, key: str) -> int | None:
        """Return the number of the browser with these secrets, or None if they give no access."""
        number, until = self._browsers.get(_digest(cookie, key), (None, 0.0))
        return number if self._clock() <= until else None

    def forget(self, cookie: str, key: str) -> None:
        self._browsers.pop(_digest(cookie, key), None)


def _digest(*parts: str) -> bytes:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()
