"""The keys of the panel in one table, with their help and the commands that do the same.

Keys that move the cursor are bound by the widgets, and are only described here.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyBinding:
    keys: tuple[str, ...]
    name: str
    word: str  # for the key bar
    help: str
    command: str = ""
    printed: str = ""  # how the key is shown to the user (default: by its name)

    @property
    def label(self) -> str:
        return self.printed or self.keys[0]


ANSWER_KEYS = (
    KeyBinding(("a",), "approve", "approve", "approve the prompt", "chorus approve ID"),
    KeyBinding(
        ("A",), "always", "always", 'approve it with "don\'t ask again"', "chorus approve ID --always"
    ),
    KeyBinding(("d",), "deny", "deny", "deny it", "chorus deny ID"),
    KeyBinding(
        ("D",),
        "deny_with_message",
        "deny + message",
        "deny it with a message",
        "chorus deny ID --message TEXT",
    ),
    KeyBinding(
        tuple("123456789"),
        "option",
        "option",
        "answer with that option",
        "chorus approve ID --option KEY",
        "1…9",
    ),
    KeyBinding(("p",), "next_prompt", "next prompt", "show the next pending prompt", "chorus prompts"),
)
REVIEW_KEYS = (
    KeyBinding(
        ("x", "space"), "keep", "keep", "keep the action (mark it as reviewed); press again to reopen it",
        "chorus keep N", "x space",
    ),
    KeyBinding(("X",), "keep_turn", "keep turn", "keep every action of the turn", "chorus keep --turn T"),
    KeyBinding(
        ("r",), "revert", "revert", "revert the action, after a preview; redo a reverted one",
        "chorus revert N",
    ),
    KeyBinding(
        ("R",), "revert_turn", "revert turn", "revert the whole turn, after a preview",
        "chorus revert --turn T",
    ),
    KeyBinding(
        ("h",), "hunks", "hunks", "choose hunks of the action to revert", "chorus revert N -p"
    ),
    KeyBinding(
        ("c",), "note", "note",
        "write a note on the action or, in the diff, on the current line",
        "chorus note N[:LINE] TEXT",
    ),
    KeyBinding(("C",), "send_notes", "send notes", "send all draft notes", "chorus notes send"),
    KeyBinding(("u",), "undo", "undo", "undo your last keep, revert, redo or note"),
    KeyBinding(("l",), "land", "land", "land the lane as commits on a branch", "chorus land LANE"),
    KeyBinding(
        ("o",), "edit", "edit file", "open the file in your editor ($VISUAL or $EDITOR)", "$EDITOR FILE"
    ),
    KeyBinding(
        ("y",), "copy", "copy commit", "copy the action's commit to the clipboard", "chorus show COMMIT"
    ),
)  # fmt: skip
VIEW_KEYS = (
    KeyBinding(("slash",), "filter", "filter", "filter the queue; esc clears the filter", "chorus log", "/"),
    KeyBinding(
        ("t",),
        "scope",
        "changes/open/all",
        "cycle: actions that changed files, open actions, all",
        "chorus log --outside",
    ),
    KeyBinding(
        ("s",),
        "session",
        "session",
        "show only one session's actions; press again for the next session",
        "chorus log --lane L",
    ),
    KeyBinding(("z",), "zoom", "zoom", "show only the diff; press again to go back"),
    KeyBinding(("escape",), "back", "back", "close the diff or the zoom; clear the filter", "", "esc"),
    KeyBinding(("question_mark",), "help", "help", "show the keys", "chorus panel --help", "?"),
    KeyBinding(("colon",), "palette", "commands", "find a command by name", "", ":"),
    KeyBinding(("q", "ctrl+c"), "quit", "quit", "close the panel; the watcher keeps running"),
)
# Keys that the widgets bind themselves, for the help.
MOVE_KEYS = (
    ("↓ j ctrl+n", "down"),
    ("↑ k ctrl+p", "up"),
    ("pgdn ctrl+d · pgup ctrl+u", "a page down, up"),
    ("g · G", "first, last; on the last row the cursor follows new actions"),
    ("n · N", "next, previous open action"),
    ("] · [", "next, previous turn"),
    ("← → · - =", "← folds a turn, → unfolds it; - folds all, = unfolds all"),
    ("enter", "go to the diff, and back; on a turn: fold or unfold it"),
    ("tab", "cycle through prompt, queue and diff"),
    ("v · ← → · space", "in the diff: toggle side by side; scroll sideways; a page down"),
)

ALL_KEYS = (*ANSWER_KEYS, *REVIEW_KEYS, *VIEW_KEYS)
BY_KEY = {key: binding for binding in ALL_KEYS for key in binding.keys}
BY_LABEL = {label: binding for binding in ALL_KEYS for label in (*binding.keys, binding.label)}
# The keys that work while the user types the filter. Any other key edits the filter's text.
FILTER_KEYS = (("enter", "to the queue"), ("esc", "clear"))


def bar_keys(
    *, answers: Sequence[str], entry_open: bool, reverted: bool, undo: bool, drafts: bool
) -> list[tuple[str, str]]:
    """Return the keys for the key bar with their words, the most useful first, help last.

    `answers`: keys that answer the prompt. `entry_open`: also True if the cursor is on no entry.
    """
    keys = [*answers]
    keys += ["r"] if reverted else []
    keys += ["x", "r"] if entry_open else []
    keys += ["C"] if drafts else []
    keys += ["u"] if undo else []
    keys += ["c"] if entry_open else []
    shown = (*keys, "X", "l", "/", "t", "?")
    return [(key, "redo" if key == "r" and reverted else BY_LABEL[key].word) for key in shown]
