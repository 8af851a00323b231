"""Play the story without the user, with the commands a user would type, and check every step."""

import json
import time
from collections.abc import Callable
from typing import Any

from chorus.demo import story
from chorus.demo.demo_tmux import POLL_SECONDS, WAIT_TIMEOUT_SECONDS, DemoTmux
from chorus.demo.scratch_repository import ScratchRepository
from chorus.errors import ChorusError, ExitCode
from chorus.output import print_err, print_out

PERMISSION_DIALOG = r"Do you want to proceed\?[\s\S]*Esc to cancel"
PERMISSION_MODE = ("--permission-mode", "acceptEdits")


class StoryFailed(ChorusError):
    """A step of the demo failed: a bug of Chorus."""

    exit_code = ExitCode.BUG


class StoryPlayer:
    def __init__(self, scratch: ScratchRepository, tmux: DemoTmux) -> None:
        self._scratch = scratch
        self._tmux = tmux
        self._feature, self._polish = story.messages(str(scratch.project))
        self._lane = ""

    def play(self) -> None:
        steps: list[tuple[str, Callable[[], None]]] = [
            ("the client runs in tmux, and Chorus watches it", self._start),
            ("a feature in several edits, then a permission prompt", self._request_feature),
            ("the prompt is answered from outside the pane", self._approve),
            ("each action is one commit on the session's lane", self._check_lane),
            ("an edit goes wrong, and a good one follows in the same file", self._request_polish),
            ("the wrong edit is reverted, and nothing else", self._revert),
            ("the lane lands as clean commits", self._land),
            ("your own uncommitted work is unchanged", self._check_own_work),
        ]
        for title, step in steps:
            step()
            print_err(f"  ok  {title}")
        log = self._scratch.chorus("log").rstrip()
        graph = self._scratch.git("log", "--graph", "--format=%h %s%d", "--branches").rstrip()
        print_out(*log.split("\n"), "", *graph.split("\n"))

    def _start(self) -> None:
        self._tmux.start_client(*PERMISSION_MODE, panel=False)
        # The client accepts a message a moment before its first hook has run.
        sessions = self._wait_for(lambda: self._json("status")["sessions"])
        self._check(len(sessions) == 1, f"one session is watched, not {len(sessions)}")

    def _request_feature(self) -> None:
        self._tmux.send(self._feature.text)
        self._tmux.wait_for(PERMISSION_DIALOG)

    def _approve(self) -> None:
        prompts = self._wait_for(lambda: self._json("prompts"))
        self._check(len(prompts) == 1, f"one prompt is listed, not {len(prompts)}")
        self._check(prompts[0]["tool"] == "Bash", f"the prompt is about Bash, not {prompts[0]['tool']}")
        self._scratch.chorus("approve", prompts[0]["id"])
        self._tmux.wait_for(f"● {self._feature.last_text}")

    def _check_lane(self) -> None:
        entries = {entry["id"]: entry for entry in self._json("log")}
        changed = ["toolu_demo_shout", "toolu_demo_main", "toolu_demo_test", "toolu_demo_sed"]
        for identifier in changed:
            entry = entries.get(identifier)
            self._check(entry is not None, f"{identifier} is in the log")
            self._check(bool(entry and entry["commit"]), f"{identifier} has a commit")
        self._lane = str(entries[changed[0]]["lane"])
        commits = self._scratch.git("rev-list", f"main..{self._lane}").split()
        self._check(len(commits) == len(changed), f"the lane has {len(changed)} commits, not {len(commits)}")

    def _request_polish(self) -> None:
        self._tmux.send(self._polish.text)
        self._tmux.wait_for(f"● {self._polish.last_text}")
        self._check("Goodbye" in self._greet(), "the wrong edit is on disk")

    def _revert(self) -> None:
        self._scratch.chorus("revert", story.BAD)
        self._check(self._greet() == story.FINAL_GREET, f"only the wrong edit is gone:\n{self._greet()}")
        states = {entry["id"]: entry["status"] for entry in self._json("log")}
        self._check(states.get(story.BAD) == "reverted", f"the wrong edit is marked as reverted: {states}")
        self._check(
            states.get(story.GOOD) == "committed", f"the edit after it is not marked as reverted: {states}"
        )

    def _land(self) -> None:
        self._scratch.chorus("land", self._lane, "--by", "turn")
        landed = self._scratch.git("show", "main:greet.py")
        self._check(landed == story.FINAL_GREET, f"main has the program as it is on disk:\n{landed}")
        self._check(
            self._scratch.git("show", "main:README.md") == story.README, "none of your own work has landed"
        )
        subjects = self._scratch.git("log", "--format=%s", "main").splitlines()
        self._check(len(subjects) == 3, f"main has its first commit and one for each message, not {subjects}")

    def _check_own_work(self) -> None:
        own = (self._scratch.project / "README.md").read_text(encoding="utf-8")
        self._check(own == story.OWN_README, "README.md is as you left it")
        status = self._scratch.git("status", "--porcelain")
        self._check(status == " M README.md\n", f"only README.md has uncommitted changes: {status!r}")

    def _greet(self) -> str:
        return (self._scratch.project / "greet.py").read_text(encoding="utf-8")

    def _json(self, *arguments: str) -> Any:  # noqa: ANN401  each command has its own answer
        return json.loads(self._scratch.chorus(*arguments, "--json"))

    def _wait_for(self, look: Callable[[], list[Any]]) -> list[Any]:
        """Return the first result of `look` that is not empty, or an empty list after the timeout."""
        deadline = time.monotonic() + WAIT_TIMEOUT_SECONDS
        while not (found := look()) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        return found

    def _check(self, holds: bool, what: str) -> None:
        if not holds:
            raise StoryFailed(f"the demo expected that {what}")
