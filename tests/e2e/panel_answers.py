"""Answer prompts in the panel, as a user does: read the card, press a key, look again if it was not taken."""

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from chorus.wire.client import connect
from chorus.wire.home import find_home
from tests.e2e.watched_session import WatchedSession
from tests.lab.terminal import Pane, Terminal
from tests.waiting import wait_for

SECONDS = 90.0
# A key that comes too soon, or before all of a command was shown, is not taken, and the panel says so.
TRIES = 12
TAKEN_SECONDS = 3.0
NOT_TAKEN = "then press again"
FORM = "Deny: |Answer: "


class PanelAnswers:
    """A panel in a terminal of its own."""

    def __init__(self, watched: WatchedSession, terminal: Terminal) -> None:
        self._watched = watched
        command = [sys.executable, "-m", "chorus", "panel"]
        self.pane: Pane = terminal.open(command, cwd=watched.project, environment=watched.environment())
        self.pane.wait_for("Queue", seconds=SECONDS)

    def answer(self, prompt: Mapping[str, Any], words: Sequence[str]) -> dict[str, Any]:
        """Answer with the key that these words of a command stand for; return the entry of the audit log."""
        key, text = _key_for(prompt, words)
        for _ in range(TRIES):
            self.pane.wait_settled(self._seen_in(prompt), seconds=SECONDS)
            self.pane.press(key)
            if text is not None:
                shown = self.pane.wait_for(f"{FORM}|{NOT_TAKEN}", seconds=SECONDS)
                if not re.search(FORM, shown):
                    self.pane.wait_gone(NOT_TAKEN, seconds=SECONDS)
                    continue
                self.pane.type(text)
                self.pane.wait_for(re.escape(text), seconds=SECONDS)
                self.pane.press("Enter")
            try:
                return wait_for(lambda: self._answered(str(prompt["id"])), seconds=TAKEN_SECONDS)
            except AssertionError:
                assert text is None, self.pane.screen()
        raise AssertionError(f"{key} was not taken:\n{self.pane.screen()}")

    def audit(self) -> list[dict[str, Any]]:
        with connect(find_home(self._watched.project)) as watcher:
            return [dict(entry) for entry in watcher.ask("audit")]

    def _seen_in(self, prompt: Mapping[str, Any]) -> str:
        """A pattern that the card of this prompt shows, and that of the prompt before it does not."""
        question = str(prompt["question"])
        if prompt["kind"] == "question":
            return re.escape(question)
        body = str(prompt["body"]).replace(f"{self._watched.project}/", "")
        found = (re.search(r"[\w./:=$-]{4,24}", row) for row in [*body.splitlines(), question])
        return re.escape(next(match[0] for match in found if match))

    def _answered(self, prompt: str) -> dict[str, Any] | None:
        return next((entry for entry in self.audit() if entry["prompt"]["id"] == prompt), None)


def expected_keys(prompt: Mapping[str, Any], words: Sequence[str]) -> list[str] | None:
    """The one key that the answer's label has in the dialog; None where the answer takes several keys."""
    match list(words):
        case ["approve" | "deny" as verb]:
            meaning = {"approve": "allow", "deny": "deny"}[verb]
            (key,) = [option["key"] for option in prompt["options"] if option["meaning"] == meaning]
            return [key]
        case ["approve", "--option", key]:
            return [key]
    return None


def _key_for(prompt: Mapping[str, Any], words: Sequence[str]) -> tuple[str, str | None]:
    match list(words):
        case ["approve"]:
            return "a", None
        case ["deny"]:
            return "d", None
        case ["approve", "--option", digit]:
            return digit, None
        case ["deny", "--message", text] if prompt["kind"] == "plan":
            return str(len(prompt["options"])), text  # the last option says what to change
        case ["deny", "--message", text]:
            return "D", text
        case ["answer", label]:
            labels = [option["label"] for option in prompt["options"]]
            return str(labels.index(label) + 1), None
        case ["answer", *labels]:
            return "1", ", ".join(labels)  # any number opens the form
    raise AssertionError(f"no key of the panel means {words}")
