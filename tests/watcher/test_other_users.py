"""Another user of the machine can neither read what is recorded nor hinder the watcher."""

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.agents.claude_code.mod.files import copy_mod
from chorus.history.recorder import Recorder
from chorus.web.access_log import AccessLog, access_log_path
from chorus.wire.client import connect
from chorus.wire.home import find_home
from chorus.wire.watcher_process import connect_or_start, stop
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo
from tests.waiting import wait_for

NOBODY = 65534
SECRET = b"password-of-the-owner"
HOOK = Path(__file__).parents[2] / "hooks" / "chorus-hook"

# What another user tries, with the standard library alone: read every file, lock every lock, connect, write.
PROBE = r"""
import fcntl, json, os, socket, sys, zlib
git_dir, secret, user, group = sys.argv[1], sys.argv[2].encode(), int(sys.argv[3]), int(sys.argv[4])
# All that there is below these directories, listed while we may.
walked = [(folder, names, files) for place in sys.argv[5:] for folder, names, files in os.walk(place)]
os.setgroups([])
os.setgid(group)
os.setuid(user)  # only now: the interpreter may be where that user cannot read it
done = []
def attempt(what, function):
    try:
        if function():
            done.append(what)
    except OSError:
        pass
def holds_secret(path):
    data = open(path, "rb").read()
    try:
        data += zlib.decompress(data)
    except zlib.error:
        pass
    return secret in data
def lock(path):
    fcntl.flock(open(path, "rb"), fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True
def reach(directory):
    os.chdir(directory)
    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect("watcher.sock")
    return True
def create(path):
    open(path, "xb").close()
    return True
for folder, names, files in os.walk(git_dir):
    for name in files:
        attempt(f"read {folder}/{name}", lambda: holds_secret(f"{folder}/{name}"))
root = f"{git_dir}/chorus"
for folder, names, files in walked:
    attempt(f"list {folder}", lambda: os.listdir(folder) or True)
    attempt(f"create in {folder}", lambda: create(f"{folder}/x"))
    for name in files:
        attempt(f"read {folder}/{name}", lambda: os.open(f"{folder}/{name}", os.O_RDONLY | os.O_NONBLOCK))
        attempt(f"write {folder}/{name}", lambda: os.open(f"{folder}/{name}", os.O_WRONLY | os.O_NONBLOCK))
        attempt(f"lock {folder}/{name}", lambda: lock(f"{folder}/{name}"))
attempt("reach the socket", lambda: reach(root))
print(json.dumps([done, sum(len(files) for _, _, files in walked)]))
"""


@pytest.fixture
def shared_repo(template_repo: Path) -> Iterator[UserRepo]:
    """A repository shared with a group, in a directory anybody may enter; no umask protects anything."""
    directory = Path(tempfile.mkdtemp(prefix="chorus-shared-"))
    directory.chmod(0o755)
    before = os.umask(0)
    repo = UserRepo.copy(template_repo, directory / "repo")
    repo.git("config", "core.sharedRepository", "group")
    for folder, _, _ in os.walk(repo.path):
        Path(folder).chmod(0o2775)
    yield repo
    os.umask(before)
    stop(find_home(repo.path))
    shutil.rmtree(directory)


def work(repo: UserRepo) -> None:
    """Use everything that writes: timeline, lane, marks, watcher, hook, packs."""
    with Recorder.open(repo.path) as recorder:
        agent = Agent(repo, recorder)
        repo.write("secret.key", b"old\n").chmod(0o600)
        agent.edit("secret.key", SECRET + b"\n", lead_text=SECRET.decode())
        agent.bash(lambda: repo.write("secret.key", SECRET * 2), command=SECRET.decode())
    with connect_or_start(find_home(repo.path)) as watcher:
        watcher.ask("keep", cwd=str(repo.path), actions=["1"])
        watcher.ask("note", cwd=str(repo.path), action="1", text=SECRET.decode())
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(repo.path),
             "transcript_path": str(repo.path.parent / "t.jsonl"), "prompt": SECRET.decode()}  # fmt: skip
    subprocess.run([HOOK], input=json.dumps(event).encode(), cwd=repo.path, check=True)
    with connect(find_home(repo.path)) as watcher:
        wait_for(lambda: watcher.ask("status")["sessions"])
    AccessLog(access_log_path()).write("in", browser=1, address=SECRET.decode())
    copy_mod(os.environ)


def others_can_open(root: Path) -> list[str]:
    found = []
    for folder, names, files in os.walk(root):
        for name in (*names, *files):
            mode = Path(folder, name).lstat().st_mode
            if mode & 0o077 and not stat.S_ISLNK(mode):
                found.append(f"{oct(stat.S_IMODE(mode))} {Path(folder, name).relative_to(root)}")
    return found


def test_everything_is_private_with_any_umask_and_sharing(shared_repo: UserRepo) -> None:
    work(shared_repo)
    chorus = [sys.executable, "-m", "chorus"]
    subprocess.run([*chorus, "gc"], cwd=shared_repo.path, check=True, capture_output=True)
    root = find_home(shared_repo.path).root
    assert others_can_open(root) == []
    assert not root.stat().st_mode & 0o077
    for log in (shared_repo.git_dir / "logs" / "refs" / "heads" / "chorus").iterdir():
        assert not log.stat().st_mode & 0o077


def test_what_was_created_for_all_is_corrected_by_the_next_start(shared_repo: UserRepo) -> None:
    work(shared_repo)
    home = find_home(shared_repo.path)
    stop(home)
    for folder, names, files in os.walk(home.root):
        for name in (*names, *files):
            Path(folder, name).chmod(0o777)
    home.root.chmod(0o777)
    connect_or_start(home).close()
    assert others_can_open(home.root) == []
    assert not home.root.stat().st_mode & 0o077


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to run a process as another user")
@pytest.mark.parametrize("group", [NOBODY, 0], ids=["a stranger", "a member of the group"])
def test_another_user_can_neither_read_nor_hinder(
    shared_repo: UserRepo, group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = shared_repo.path.parent
    monkeypatch.setenv("XDG_STATE_HOME", str(shared / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(shared / "data"))
    work(shared_repo)
    private = (find_home(shared_repo.path).root, shared / "state" / "chorus", shared / "data" / "chorus")
    who = (SECRET.decode(), str(NOBODY), str(group))
    done = subprocess.run(
        [sys.executable, "-c", PROBE, shared_repo.git_dir, *who, *private],
        cwd="/",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    succeeded, files = json.loads(done.stdout)
    assert succeeded == []
    assert files > 20
    assert all(any(place.rglob("*")) for place in private)
    with connect(find_home(shared_repo.path)) as watcher:
        assert watcher.ask("hello")["pid"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a directory to another user")
def test_a_directory_prepared_by_another_user_is_not_used(shared_repo: UserRepo) -> None:
    root = find_home(shared_repo.path).root
    root.mkdir(0o777)
    os.chown(root, NOBODY, NOBODY)
    done = subprocess.run(
        [sys.executable, "-m", "chorus", "drop", "--all"],
        cwd=shared_repo.path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 6
    assert "belongs to another user (uid 65534)" in done.stderr
    assert list(root.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to run a process as another user")
def test_another_user_can_read_what_the_owner_commits(shared_repo: UserRepo) -> None:
    """git finds the recorded blob in the side store, which is private, and does not write it again."""
    work(shared_repo)
    shared_repo.git("add", "secret.key")
    shared_repo.git("commit", "-qm", "mine")
    command = ["git", "-c", "safe.directory=*", "show", "HEAD:secret.key"]

    def read_as_nobody() -> bytes:
        return subprocess.run(command, cwd=shared_repo.path, user=NOBODY, capture_output=True).stdout

    assert wait_for(read_as_nobody, what="the blob is copied") == SECRET * 2
