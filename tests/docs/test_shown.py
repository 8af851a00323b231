"""Every command in the documents exists, and is run: here, or by the test named here."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from chorus.cli import main
from chorus.commands.parser.catalog import COMMANDS, load
from chorus.commands.parser.reference import read_page
from chorus.errors import ExitCode
from chorus.history.recorder import Recorder
from chorus.model.ids import TurnId
from chorus.wire.client import WatcherNotRunning, connect
from chorus.wire.home import Home, find_home
from chorus.wire.watcher_process import stop
from tests.docs.shown import DOCUMENTS, ROOT, Shown, read_links, read_shown
from tests.history.agent_at_work import action
from tests.repos import UserRepo
from tests.waiting import wait_for

SHOWN = [shown for document in DOCUMENTS for shown in read_shown(document)]
# Commands that need a terminal, a session or a prompt are run in other tests.
ELSEWHERE = {
    "chorus claude": "tests/e2e/watched_session.py",
    "chorus attach": "tests/e2e/watched_session.py",
    "chorus run": "tests/e2e/watched_session.py",
    "chorus send": "tests/e2e/watched_session.py",
    "chorus interrupt": "tests/e2e/test_headless_driving.py",
    "chorus note": "tests/e2e/test_notes.py",
    "chorus notes": "tests/e2e/test_notes.py",
    "chorus pr": "tests/commands/test_pr.py",
    "chorus inbox --web": "tests/web/served_page.py",
    "chorus panel": "tests/panel/test_terminal.py",
    "chorus demo": "tests/demo/test_story.py",
    "chorus approve": "tests/e2e/test_key_answers.py",
    "chorus deny": "tests/e2e/test_key_answers.py",
    "chorus answer": "tests/e2e/test_key_answers.py",
    "chorus revert N -p": "tests/commands/test_hunk_picker.py",
    "chorus policy add": "tests/commands/test_policy.py",
    "chorus policy explain": "tests/commands/test_policy.py",
    "chorus hooks wake": "tests/commands/test_removal.py",
    "chorus gc --all": "tests/commands/test_removal.py",
    "pipx install": ".ci/dist",
    "uv tool install": ".ci/dist",
}
# No prompt is pending in a repository without a running session.
EXPECTED = {
    "chorus prompts": {ExitCode.NOT_FOUND},
    "chorus log --prompts": {ExitCode.NOT_FOUND},
    # Whether a watcher has run by then depends on the commands shown before.
    "chorus inbox": {ExitCode.OK, ExitCode.NOT_FOUND},
    "chorus inbox --plain": {ExitCode.OK, ExitCode.NOT_FOUND},
    # It reports what is missing on the machine it runs on.
    "chorus doctor": {ExitCode.OK, ExitCode.SYSTEM_ERROR},
    "chorus doctor --json": {ExitCode.OK, ExitCode.SYSTEM_ERROR},
    "chorus doctor --deep": {ExitCode.OK, ExitCode.SYSTEM_ERROR},
}
ACTIONS = 20
TURNS = {number: f"turn-{1 + (number > 10) + (number > 16)}" for number in range(1, ACTIONS + 1)}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_in_a_document_exists(document: Path) -> None:
    assert [link for link in read_links(document) if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_named_in_a_document_exists(document: Path) -> None:
    named = re.findall(
        r"`((?:chorus|tests|docs|hooks|fixtures)/[\w./-]+)`", document.read_text(encoding="utf-8")
    )
    made = ("chorus/spool",)  # in a git directory, not in this checkout
    assert [name for name in named if name not in made and not (ROOT / name).exists()] == []


@pytest.mark.parametrize("shown", SHOWN, ids=lambda s: f"{s.document.stem}:{s.line} {s.command}")
def test_every_shown_command_exists_and_parses(shown: Shown) -> None:
    program, name, *rest = *shown.words, ""
    if program == "make":
        assert re.search(rf"^{name}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    if program != "chorus" or name in ("--help", "--version", "COMMAND"):
        return
    assert name in COMMANDS
    named_only = not shown.in_block and not [word for word in rest if word.startswith("-")]
    if not named_only:
        words = shlex.split(fill_in(shown.command, "chorus/a-lane"))[2:]
        command, parser = load(name)
        own = words[: words.index("--")] if getattr(command, "PASSES_ON", False) and "--" in words else words
        parser.parse_args(own)


def elsewhere(command: str) -> str | None:
    return next((test for start, test in ELSEWHERE.items() if command.startswith(start)), None)


@pytest.mark.parametrize(("start", "test"), ELSEWHERE.items())
def test_a_command_that_is_not_run_here_is_run_in_the_named_test(start: str, test: str) -> None:
    text = (ROOT / test).read_text()
    words = start.removeprefix("chorus ").split()

    assert all(word in text for word in words)


@dataclass(frozen=True, slots=True)
class Reader:
    """Types the shown commands in a repository with recorded actions."""

    repo: UserRepo
    lane: str

    def type(self, shown: Shown) -> int:
        command = fill_in(shown.command, self.lane)
        if not command.startswith("chorus "):
            return subprocess.run(command, shell=True, cwd=self.repo.path, capture_output=True).returncode
        try:
            return main(shlex.split(command)[1:])
        except SystemExit as ended:
            return int(ended.code or 0)


def fill_in(command: str, lane: str) -> str:
    """Replace the placeholders in capitals."""
    recording = ROOT / "fixtures" / "recordings" / "2.1.325" / "headless" / "parallel.jsonl"
    screen = ROOT / "fixtures" / "screens" / "2.1.325" / "plan_80.txt"
    file = recording if "inspect" in command else screen if "prompts" in command else "f2.txt"
    for placeholder, value in {
        "LANE": lane, "N": "5", "T": "turn-3", "FILE": file, "LINE": "1", "COMMAND": "log", "ID": "p1",
        "KEY": "2", "TEXT": "words",
    }.items():  # fmt: skip
        command = re.sub(rf"\b{placeholder}\b…?", shlex.quote(str(value)), command)
    return command


@pytest.fixture
def reader(repo: UserRepo, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    """Twenty actions in three turns, each on its own file."""
    with Recorder.open(repo.path) as recorder:
        for number in range(1, ACTIONS + 1):
            place = repo.path / f"f{number}.txt"
            recorder.record_before_call([str(place)])
            place.write_text(f"text {number}\n")
            done = action(f"toolu_{number}", place)._replace(turn=TurnId(TURNS[number]))
            recorder.record_named_paths([done])
        (lane,) = recorder.lanes.all()
    monkeypatch.chdir(repo.path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    wake = [sys.executable, "-m", "chorus", "hooks", "wake", str(repo.path / ".git")]
    subprocess.run(wake, check=True)
    wait_for(lambda: answers(find_home(repo.path)), what="a watcher", seconds=60)
    yield Reader(repo, lane.name)
    stop(find_home(repo.path))


def answers(home: Home) -> bool:
    try:
        with connect(home) as watcher:
            return bool(watcher.ask("hello"))
    except WatcherNotRunning:
        return False


def is_only_named(shown: Shown) -> bool:
    """Return whether a command is only mentioned: `chorus policy` in a sentence, without its arguments."""
    if shown.in_block or shown.words[1] not in COMMANDS:
        return False
    page, rest = read_page(shown.words[1]), shown.words[2:]
    part = next((part for part in page.subcommands if rest and part.name.endswith(f" {rest[0]}")), page)
    given = rest[1:] if part is not page else rest
    needs = any(argument.required for argument in part.arguments) or (part is page and bool(page.subcommands))
    return needs and not given


def to_type(document: Path) -> list[Shown]:
    """Return the commands to type from this document, each once."""
    once = {shown.command: shown for shown in reversed(list(read_shown(document)))}
    return [
        shown
        for shown in reversed(once.values())
        if not (shown.words[0] == "make" or elsewhere(shown.command) or is_only_named(shown))
    ]


@pytest.mark.parametrize("document", [one for one in DOCUMENTS if to_type(one)], ids=str)
def test_every_shown_command_works_when_it_is_typed(
    document: Path, reader: Reader, capsys: pytest.CaptureFixture[str]
) -> None:
    for shown in to_type(document):
        expected = EXPECTED.get(shown.command, {ExitCode.OK})
        where = f"{document.name}:{shown.line} {shown.command}"
        assert reader.type(shown) in expected, f"{where}: {capsys.readouterr().err}"
