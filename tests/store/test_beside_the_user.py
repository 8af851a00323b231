"""Two processes record while the user works: no lock is met on either side, nothing is lost."""

import subprocess
import sys
from pathlib import Path

import pytest

from chorus.store.git_process import scrubbed_environment
from chorus.store.maintenance.side_store import pack
from tests.repos import UserRepo
from tests.store.open_store import OpenStore
from tests.store.recorder import TIMELINE, Recorder

ROOT = Path(__file__).parent.parent.parent
EDITS = 100

RECORD = """
import sys
from pathlib import Path
from chorus.store.maintenance.side_store import pack
from tests.store.open_store import OpenStore
from tests.store.recorder import Recorder
from tests.repos import UserRepo
with OpenStore.open(UserRepo(Path(sys.argv[1]))) as opened:
    recorder = Recorder(opened.repository, opened.store, opened.trees, f"refs/heads/chorus/{sys.argv[2]}")
    for number in range(int(sys.argv[3])):
        recorder.record(f"src/{sys.argv[2]}/{number % 9}.txt", b"%d\\n" % number * 50)
        if number % 50 == 49:
            pack(opened.repository.git, opened.store, young_seconds=0.2)
"""


@pytest.mark.parametrize(
    "commands",
    [
        [["status", "--short"], ["add", "-A"], ["commit", "-q", "--allow-empty", "-m", "user"]],
        [["gc", "-q"], ["log", "-20", "--all", "--oneline"]],
        [["gc", "-q", "--prune=now"], ["commit", "-q", "--allow-empty", "-m", "user"]],
        [["pack-refs", "--all"], ["repack", "-q", "-a", "-d"], ["reflog", "expire", "--all"]],
    ],
    ids=["status and commit", "gc", "gc --prune=now", "repack"],
)
def test_recording_beside_git_commands_loses_nothing_and_blocks_nobody(
    memory_repo: UserRepo, commands: list[list[str]]
) -> None:
    repo = memory_repo
    workers = [
        subprocess.Popen([sys.executable, "-c", RECORD, str(repo.path), name, str(EDITS)], cwd=ROOT)
        for name in ("one", "two")
    ]
    while any(worker.poll() is None for worker in workers):
        for command in commands:
            repo.git(*command)

    assert [worker.wait() for worker in workers] == [0, 0]
    assert [repo.git("rev-list", "--count", f"chorus/{name}").strip() for name in ("one", "two")] == [
        str(EDITS)
    ] * 2
    assert repo.fsck() == ""
    repo.git("gc", "-q", "--prune=now")
    assert repo.fsck() == ""


def test_the_users_index_lock_does_not_block_recording(opened: OpenStore) -> None:
    for lock in ("index.lock", "HEAD.lock", "config.lock", "packed-refs.lock"):
        opened.repo.write(f".git/{lock}", b"")
    before = opened.repo.fingerprint()

    tree, _ = opened.scanner.baseline()
    Recorder(opened.repository, opened.store, opened.trees).record("app.py", b"1\n")
    opened.scanner.changed(tree)

    assert opened.repo.fingerprint() == before


def test_no_hook_or_program_of_the_user_is_run(repo: UserRepo, tmp_path: Path) -> None:
    """Hooks, fsmonitor, signing, external diff, text conversion, pager, editor, credential helpers."""
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\nexit 1\n")
    trap.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("reference-transaction", "post-index-change", "pre-commit", "post-rewrite", "pre-auto-gc"):
        (hooks / name).symlink_to(trap)
    repo.write(".gitattributes", b"* diff=trap\n")
    for key in ("core.fsmonitor", "gpg.program", "diff.external", "diff.trap.textconv", "core.pager",
                "core.editor", "credential.helper", "core.sshCommand"):  # fmt: skip
        repo.git("config", key, str(trap))
    for key in ("commit.gpgSign", "tag.gpgSign"):
        repo.git("config", key, "true")
    repo.git("config", "core.hooksPath", str(hooks))
    (tmp_path / "sprung").unlink(missing_ok=True)

    with OpenStore.open(repo) as opened:
        tree, _ = opened.scanner.baseline()
        recorder = Recorder(opened.repository, opened.store, opened.trees)
        recorder.record("app.py", b"1\n")
        opened.scanner.changed(tree)
        opened.repository.refs.update("refs/heads/mine", recorder.tip or tree, None, "made")
        pack(opened.repository.git, opened.store, young_seconds=-1)
        opened.repository.checked_out()

    assert not (tmp_path / "sprung").exists()


def test_inherited_variables_are_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_TRACE", "GIT_CONFIG_COUNT", "GIT_EXTERNAL_DIFF"):
        monkeypatch.setenv(name, "steering")
    monkeypatch.setenv("GIT_EXEC_PATH", "/usr/lib/git-core")

    passed = {name: value for name, value in scrubbed_environment().items() if name.startswith("GIT_")}

    assert "steering" not in passed.values()
    assert passed["GIT_EXEC_PATH"] == "/usr/lib/git-core"
    assert passed["GIT_OPTIONAL_LOCKS"] == "0"


@pytest.mark.parametrize("state", ["unborn", "detached", "rebase", "merge", "bisect", "cherry-pick"])
def test_recording_works_during_any_git_operation(repo: UserRepo, state: str) -> None:
    repo.git("reset", "-q", "--hard")
    repo.git("checkout", "-q", "-b", "side", "HEAD~1")
    repo.commit("side", **{"app.py": b"side\n"})
    repo.git("checkout", "-q", "main")
    start(repo, state)
    before = repo.fingerprint()

    with OpenStore.open(repo) as opened:
        tree, _ = opened.scanner.baseline()
        assert opened.contents(tree) == opened.on_disk()
        Recorder(opened.repository, opened.store, opened.trees).record("app.py", b"1\n")
        expected = None if state in ("unborn", "detached") else state
        assert opened.repository.operation() == expected

    assert repo.fingerprint() == before
    assert repo.read_file(TIMELINE, "app.py") == b"1\n"
    assert repo.fsck() == ""


def start(repo: UserRepo, state: str) -> None:
    match state:
        case "unborn":
            repo.git("checkout", "-q", "--orphan", "fresh")
        case "detached":
            repo.git("checkout", "-q", "--detach")
        case "bisect":
            repo.git("bisect", "start", "HEAD", "HEAD~1")
        case _:
            subprocess.run(["git", state, "side"], cwd=repo.path, capture_output=True)
