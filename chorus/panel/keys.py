"""Every key of the panel in one table: what it does and which command does the same.

The panel's keys, its help, its command palette and its key bar are all made from this table.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Key:
    keys: tuple[str, ...]
    deed: str
    word: str
    help: str
    command: str = ""
    # How the key is written for people, where its name is not what is printed on it.
    printed: str = ""

    @property
    def label(self) -> str:
        return self.printed or self.keys[0]


ANSWERING = (
    Key(("a",), "approve", "approve", "approve the prompt that is shown", "chorus approve ID"),
    Key(
        ("A",),
        "always",
        "always",
        "approve it, and change what is asked from now on",
        "chorus approve ID --always",
    ),
    Key(("d",), "deny", "deny", "deny it", "chorus deny ID"),
    Key(
        ("D",),
        "deny_saying",
        "deny, why",
        "deny it, and say why",
        "chorus deny ID --message TEXT",
    ),
    Key(
        tuple("123456789"),
        "option",
        "option",
        "answer with that option",
        "chorus approve ID --option KEY",
        "1…9",
    ),
    Key(("p",), "next_prompt", "next prompt", "show the next open prompt", "chorus prompts"),
)
REVIEWING = (
    Key(("k",), "keep", "keep", "keep the action: it leaves the queue", "chorus keep N"),
    Key(("K",), "keep_turn", "keep turn", "keep every action of the turn", "chorus keep --turn T"),
    Key(("r",), "revert", "revert", "take the action back, after a preview", "chorus revert N"),
    Key(
        ("R",),
        "revert_turn",
        "revert turn",
        "take the whole turn back, after a preview",
        "chorus revert --turn T",
    ),
    Key(("u",), "redo", "redo", "bring back what was taken back", "chorus redo N"),
    Key(("l",), "land", "land", "make clean commits of the lane", "chorus land LANE"),
    Key(("o",), "edit", "open", "open the file in $EDITOR", "$EDITOR FILE"),
    Key(("y",), "copy", "copy id", "copy the action's id to the clipboard", "chorus show ID"),
)
SEEING = (
    Key(("slash",), "filter", "filter", "show only what matches; escape shows all again", "chorus log", "/"),
    Key(
        ("t",),
        "scope",
        "changes/open/all",
        "show changes, only what is open, or everything",
        "chorus log --outside",
    ),
    Key(
        ("s",), "session", "session", "show one session's actions, then the next one's", "chorus log --lane L"
    ),
    Key(("z",), "zoom", "zoom", "give the whole panel to the diff, and back"),
    Key(("escape",), "back", "back", "leave the diff, the filter or the zoom", "", "esc"),
    Key(("question_mark",), "help", "help", "show the keys", "chorus panel --help", "?"),
    Key(("colon",), "palette", "commands", "find a command by name", "", ":"),
    Key(("q", "ctrl+c"), "quit", "quit", "close the panel; the agent goes on"),
)
# Keys of the panes themselves, for the help only.
MOVING = (
    ("↓ j ctrl+n", "down"),
    ("↑ ctrl+p", "up (k keeps)"),
    ("pgdn ctrl+d · pgup ctrl+u", "a page down, up"),
    ("g · G", "first, last; on the last row new actions are followed"),
    ("n · N", "next, previous open action"),
    ("] · [", "next, previous turn"),
    ("space · ← → · - =", "fold a turn; fold, unfold it; all of them"),
    ("enter", "to the diff, and back"),
    ("tab", "prompt, queue, diff in turn"),
    ("v · ← →", "in the diff: side by side or not; sideways"),
)

ALL = (*ANSWERING, *REVIEWING, *SEEING)
BY_KEY = {name: key for key in ALL for name in key.keys}
BY_LABEL = {key.label: key for key in ALL}


def bar_keys(*, prompt: bool, entry_open: bool, reverted: bool) -> list[tuple[str, str]]:
    """The keys worth showing at the foot, the most wanted first, help last."""
    deeds = ["approve", "always", "deny"] if prompt else []
    deeds += ["redo"] if reverted else []
    deeds += ["keep", "revert"] if entry_open else []
    deeds += ["keep_turn", "land", "filter", "scope"]
    named = {key.deed: key for key in ALL}
    shown = [(named[deed].label, named[deed].word) for deed in deeds]
    return [*shown, ("?", "help")]
