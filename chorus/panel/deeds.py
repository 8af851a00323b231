"""What each key does: from the name of a deed to the part that does it."""

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from chorus.panel.bars import Said
from chorus.panel.help_screen import HelpScreen
from chorus.panel.prompt_card import GUARD_SECONDS

if TYPE_CHECKING:
    from chorus.panel.app import Panel

# Deeds that act on the row under the cursor.
ON_THE_ROW = frozenset({"keep", "keep_turn", "revert", "revert_turn", "redo", "edit", "copy"})
# Editors that take the line to start at as `+N`.
LINE_EDITORS = frozenset({"vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "micro", "kak", "joe"})


class Deeds:
    def __init__(self, panel: "Panel") -> None:
        self._panel = panel
        answering, reviewing, stage = panel.answering, panel.reviewing, panel.stage
        self._answers: dict[str, Callable[[float], None]] = {
            "approve": answering.approve,
            "always": answering.always,
            "deny": answering.deny,
            "deny_saying": answering.deny_saying,
        }
        self._deeds: dict[str, Callable[[], object]] = {
            "next_prompt": stage.next_prompt,
            "keep": reviewing.keep,
            "keep_turn": lambda: reviewing.keep(turn=True),
            "revert": reviewing.revert,
            "revert_turn": lambda: reviewing.revert(turn=True),
            "redo": reviewing.redo,
            "land": panel.landing.land,
            "edit": self.edit,
            "copy": self.copy,
            "filter": self.open_filter,
            "scope": self.next_scope,
            "session": stage.next_session,
            "zoom": stage.zoom,
            "back": self.back,
            "help": lambda: panel.push_screen(HelpScreen(panel.look)),
            "palette": panel.action_command_palette,
            "quit": panel.exit,
        }

    def do(self, deed: str, key: str, pressed: float) -> None:
        """Do what a key stands for. `pressed`: when; what changed since is not what was meant."""
        if deed == "option":
            self._panel.answering.option(key, pressed)
        elif deed in self._answers:
            self._answers[deed](pressed)
        elif deed in ON_THE_ROW and pressed < self._panel.queue.moved_by_itself + GUARD_SECONDS:
            self._panel.say(
                Said("the cursor has just moved on to a new action: look, then press again", "warning")
            )
        else:
            self._deeds[deed]()

    def copy(self) -> None:
        entry, group = self._panel.queue.entry, self._panel.queue.group
        text = entry.id if entry else (group[1] if group else "")
        if text:
            self._panel.copy_to_clipboard(text)
            self._panel.say(
                Said(f"copied {text}", "done", f"chorus show {shlex.quote(text)}" if entry else "")
            )

    def open_filter(self) -> None:
        self._panel.stage.show_queue()
        self._panel.filter.display = True
        self._panel.screen.set_focus(self._panel.filter)

    def next_scope(self) -> None:
        queue = self._panel.queue
        queue.set_view(scope=queue.view.scope.next())
        self._panel.stage.refresh_rules()

    def back(self) -> None:
        panel = self._panel
        if panel.filter.display:
            panel.filter.value = ""
            panel.filter.display = False
            panel.screen.set_focus(panel.queue)
        else:
            panel.stage.close_diff()

    def edit(self) -> None:
        """Open the first file of the action where it changed; the panel steps aside meanwhile."""
        entry = self._panel.queue.entry
        if entry is None or not entry.paths:
            self._panel.say(Said("put the cursor on an action with a file", "warning"))
            return
        path = Path(self._panel.settings.work_tree, entry.paths[0])
        if not path.exists():
            self._panel.say(Said(f"{entry.paths[0]} is not there any more", "warning"))
            return
        patch = self._panel.reading.patch
        command = plan_editor(dict(os.environ), path, patch.first_changed_line() if patch else 1)
        try:
            with self._panel.suspend():
                subprocess.run(command, cwd=self._panel.settings.work_tree)
        except SuspendNotSupported:
            self._panel.say(Said("this terminal cannot be handed to an editor", "warning"))
        except OSError as error:
            self._panel.say(Said(f"{command[0]} does not start: {error.strerror}", "error"))
        else:
            self._panel.say(Said(f"opened {entry.paths[0]}", "done", shlex.join(command)))


def plan_editor(environment: dict[str, str], path: Path, line: int) -> list[str]:
    """The person's editor on this file, at this line where the editor is known to understand one."""
    words = shlex.split(environment.get("VISUAL") or environment.get("EDITOR") or "vi") or ["vi"]
    at = [f"+{line}"] if Path(words[0]).name in LINE_EDITORS else []
    return [*words, *at, str(path)]
