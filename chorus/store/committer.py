"""The user, as the committer of Chorus's commits."""

import time
from dataclasses import dataclass

from chorus.store.git_config import GitConfig
from chorus.store.objects.commits import Signature

FALLBACK_NAME = "Chorus"
FALLBACK_EMAIL = "chorus@localhost"


@dataclass(frozen=True, slots=True)
class Identity:
    """The user as committer. `stated`: True if the user has configured both name and email."""

    name: str
    email: str
    stated: bool


class Committer:
    """Makes the committer line of Chorus's commits, from the user's configuration and the time."""

    def __init__(self, config: GitConfig) -> None:
        self._config = config
        self._last: Signature | None = None

    def sign(self, seconds: int | None = None) -> Signature:
        """The user as committer, at the given time or now, in the local time zone."""
        moment = int(time.time()) if seconds is None else seconds
        if self._last is None or self._last.seconds != moment:
            who = self.identity()
            zone = time.strftime("%z", time.localtime(moment))
            self._last = Signature(who.name, who.email, moment, zone)
        return self._last

    def identity(self) -> Identity:
        name = self._config.get("committer.name") or self._config.get("user.name")
        email = self._config.get("committer.email") or self._config.get("user.email")
        return Identity(name or FALLBACK_NAME, email or FALLBACK_EMAIL, stated=bool(name and email))
