"""The moving picture of the README: a real session beside the panel. `python -m tests.pictures.session`.

The real client runs in a real tmux, in a terminal that is another tmux; the model is scripted, on loopback.
Keys are pressed as a user would; every frame is what that terminal showed.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from chorus.demo.model_server.server import ModelServer
from chorus.wire.home import find_home
from chorus.wire.watcher_process import stop
from tests.lab.client import Client, find_client, prepare_home, read_version
from tests.lab.script import Pause, Script, Step, Text, ToolUse
from tests.lab.terminal import Pane, Terminal, wait_until
from tests.pictures.animation import Frame, render_animation

ROOT = Path(__file__).parent.parent.parent
PICTURE = ROOT / "docs" / "pictures" / "session.svg"
COLUMNS, ROWS = 132, 36
# A frame between two steps is shown this long, however long the machine took.
BETWEEN_SECONDS = 0.2
MAX_BETWEEN = 6
WAIT_SECONDS = 120.0
# The user's tmux: a quiet status line, and the colours of the terminal.
TMUX_CONF = """\
set -g status-style bg=colour236,fg=colour250
set -g status-right ''
set -g pane-border-style fg=colour238
set -g pane-active-border-style fg=colour238
set -g default-terminal tmux-256color
set -g focus-events on
set -ga terminal-features ',*:RGB'
"""
FILES = {
    "shop/cart.py": '''"""What is in the cart, and what it costs."""

from shop.settings import DISCOUNT


class Cart:
    def __init__(self, items=()):
        self.items = list(items)

    def total(self):
        price = sum(item.price for item in self.items)
        return price * (1 - DISCOUNT)
''',
    "shop/prices.py": '''"""Prices as people write them."""

from decimal import Decimal


def parse(text):
    return Decimal(text.strip().lstrip("€$"))
''',
    "shop/settings.py": 'CURRENCY = "EUR"\nDISCOUNT = Decimal("0.1")\n',
}
MESSAGE = "Round every total to cents"
HELPER = """def to_cents(amount):
    return amount.quantize(Decimal("0.01"))


def parse(text):"""
TEST = """from decimal import Decimal

from shop.prices import to_cents


def test_a_total_has_two_places():
    assert to_cents(Decimal("3.14159")) == Decimal("3.14")
"""
NOTE = "banker's rounding?"


def script(project: Path) -> Script:
    def edit(path: str, old: str, new: str) -> ToolUse:
        return ToolUse("Edit", {"file_path": f"{project}/{path}", "old_string": old, "new_string": new})

    def turn(*steps: Step) -> list[Step]:
        return [Pause(0.4), *steps]

    new_file = ToolUse("Write", {"file_path": f"{project}/tests/test_prices.py", "content": TEST})
    return [
        turn(Text("A helper that rounds to cents."), edit("shop/prices.py", "def parse(text):", HELPER)),
        turn(
            Text("Round the total with it."),
            edit("shop/cart.py", "return price * (1 - DISCOUNT)", "return to_cents(price * (1 - DISCOUNT))"),
        ),
        turn(
            Text("Import it."),
            edit(
                "shop/cart.py",
                "from shop.settings import DISCOUNT",
                "from shop.prices import to_cents\nfrom shop.settings import DISCOUNT",
            ),
        ),
        turn(Text("A larger discount looks nicer."), edit("shop/settings.py", '"0.1"', '"0.5"')),
        turn(Text("Cover it with a test."), new_file),
        [Text("Every total is rounded to cents now.")],
    ]


@dataclass(slots=True)
class Recorder:
    """Presses keys in a terminal and keeps what it shows."""

    pane: Pane
    frames: list[Frame] = field(default_factory=list)
    caption: str = ""

    def hold(self, seconds: float) -> None:
        self.frames.append(Frame(self._rows(), seconds, self.caption))

    def type(self, text: str) -> None:
        for at in range(0, len(text), 3):
            self.pane.type(text[at : at + 3])
            self.pane.wait_for(re.escape(text[: at + 3].rstrip()), seconds=WAIT_SECONDS)
            self.hold(0.12)

    def press(self, *keys: str) -> None:
        self.pane.press(*keys)

    def wait_for(self, pattern: str, *, hold: float) -> None:
        """Wait until the screen shows this and is still; keep some of what it showed on the way."""
        between: list[tuple[str, ...]] = []
        still_since = time.monotonic()
        deadline = time.monotonic() + WAIT_SECONDS
        while not re.search(pattern, self.pane.screen()) or time.monotonic() - still_since < 0.6:
            assert time.monotonic() < deadline, f"{pattern!r} is not on the screen:\n{self.pane.screen()}"
            rows = self._rows()
            if not between or rows != between[-1]:
                between.append(rows)
                still_since = time.monotonic()
            time.sleep(0.05)
        step = max(len(between) // MAX_BETWEEN, 1)
        self.frames += [Frame(rows, BETWEEN_SECONDS, self.caption) for rows in between[1:-1:step]]
        self.hold(hold)

    def _rows(self) -> tuple[str, ...]:
        shown = self.pane.terminal.tmux("capture-pane", "-peN", "-t", self.pane.id)
        return tuple(shown.split("\n")[:ROWS])


def record(pane: Pane) -> list[Frame]:
    film = Recorder(pane)
    film.wait_for(r"\$", hold=0.6)
    film.caption = "start Claude Code, watched"
    film.type("chorus claude -- --permission-mode default")
    film.press("Enter")
    film.wait_for(r"(?s)Queue nothing open.*manual mode on", hold=1.2)
    film.caption = "ask for something"
    film.type(MESSAGE)
    film.press("Enter")
    film.wait_for(r"(?s)proceed\?.*Do you want to make this edit", hold=2.0)
    film.caption = "a: approve it in the panel"
    film.press("C-b", "Right")
    time.sleep(1)
    film.press("a")
    film.wait_for(r"(?s)Queue 1 open.*proceed\?|proceed\?.*Queue 1 open", hold=1.2)
    film.caption = "A: approve, and don't ask about edits again"
    film.press("A")
    film.wait_for(r"(?s)Queue 5 open.*Every total is rounded", hold=2.4)
    film.caption = "each change is a commit of its own"
    film.press("k")
    film.wait_for("4 Edit", hold=2.0)
    film.caption = "r: revert this one, and nothing else"
    film.press("r")
    film.wait_for("These lines will change on disk", hold=2.0)
    film.press("r")
    film.wait_for("reverted 4", hold=1.8)
    film.caption = "c: a note to the agent"
    film.press("g", "j")
    film.wait_for("─ 1 Edit", hold=0.6)
    film.press("c")
    film.wait_for("Note on 1", hold=0.3)
    film.type(NOTE)
    film.hold(0.8)
    film.press("Enter")
    film.wait_for("note 1 is a draft", hold=1.2)
    film.caption = "C: send it, with its lines, at the agent's next step"
    film.press("C")
    film.wait_for("note 1 sent|1 note", hold=1.6)
    film.caption = "X: keep the turn"
    film.press("X")
    film.wait_for("Queue nothing open", hold=1.4)
    film.caption = "l: land it on your branch, with your hooks and signing"
    film.press("l")
    film.wait_for("1 commit on main", hold=2.2)
    film.press("C-l")
    film.wait_for("landed 1 commit", hold=4.0)
    return film.frames


def make_project(project: Path) -> None:
    for name, text in FILES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for words in (["init", "-qb", "main"], ["add", "."], [*identity, "commit", "-qm", "A shop"]):
        subprocess.run(["git", *words], cwd=project, check=True)


def play(place: Path) -> list[Frame]:
    binary = find_client()
    assert binary is not None, "no Claude Code client: claude-agent-sdk ships none for this platform"
    home, project = place / "home", place / "shop"
    make_project(project)
    prepare_home(home, [project], version=read_version(binary))
    (home / ".tmux.conf").write_text(TMUX_CONF)
    (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    programs = home / "bin"
    programs.mkdir()
    (programs / "claude").symlink_to(binary)
    (programs / "chorus").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m chorus "$@"\n')
    (programs / "chorus").chmod(0o755)
    with ExitStack() as things:
        model_server = things.enter_context(ModelServer({MESSAGE: script(project)}))
        things.callback(stop, find_home(project))
        terminal = things.enter_context(Terminal(width=COLUMNS, height=ROWS))
        environment = Client(binary, home, project, model_server).environment()
        environment |= {
            "PATH": f"{programs}:{environment['PATH']}", "PYTHONPATH": str(ROOT), "PS1": "$ ",
            "COLORTERM": "truecolor", "TMUX_TMPDIR": str(place), "TERM": "tmux-256color",
        }  # fmt: skip
        # A terminal, and not a pane: `chorus claude` opens a tmux session of its own.
        shell = ["env", "-u", "TMUX", "-u", "TMUX_PANE", "bash", "--norc", "--noprofile"]
        pane = terminal.open(shell, cwd=project, environment=environment)
        terminal.tmux("set-option", "-g", "status", "off")
        terminal.tmux("set-option", "-ga", "terminal-features", ",*:RGB")
        terminal.tmux("resize-window", "-x", str(COLUMNS), "-y", str(ROWS))
        things.callback(end_server, place / f"tmux-{os.getuid()}" / "default")
        return record(pane)


def end_server(socket: Path) -> None:
    """End the tmux server and wait for its programs: the client writes to its home when it ends."""
    tmux = ["tmux", "-S", str(socket)]
    listed = subprocess.run([*tmux, "list-panes", "-a", "-F", "#{pane_pid}"], capture_output=True, text=True)
    subprocess.run([*tmux, "kill-server"])
    places = [Path("/proc") / pid for pid in listed.stdout.split()]
    wait_until(lambda: not any(place.exists() for place in places), what="its programs have ended")


def find_poster(frames: Sequence[Frame]) -> int:
    """The frame for readers who asked for less motion: the queue, with a reverted action."""
    return next(at for at, frame in enumerate(frames) if any("reverted 4" in row for row in frame.rows))


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="chorus-picture-") as place:
        frames = play(Path(place))
    PICTURE.write_text(
        render_animation(frames, columns=COLUMNS, poster=find_poster(frames)), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
