"""The hook program is silent and quick, and loses no event. Tested against the real spool."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from chorus.agents.hook_event import HookEvent
from chorus.agents.hook_spool import Spool
from tests.imitation.bsd_programs import write_programs
from tests.lab.hooks import HOOK, run_hook, send, start_hook
from tests.lab.terminal import wait_until
from tests.waiting import wait_for

EVENT = {"hook_event_name": "PreToolUse", "tool_use_id": "t1"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "proj"
    (project / ".git").mkdir(parents=True)
    return project


@pytest.fixture
def spool(project: Path) -> Iterator[Spool]:
    """A spool that is open and not read: a watcher that hangs."""
    spool = Spool(project / ".git" / "chorus" / "spool")
    spool.open()
    yield spool
    spool.close(asleep=True)


class FakeWatcher(threading.Thread):
    """A watcher that releases every event at once, with a fixed answer."""

    def __init__(self, spool: Spool, answer: dict[str, Any] | None = None) -> None:
        super().__init__(daemon=True)
        self.spool, self.answer = spool, answer
        self.seen: list[HookEvent] = []
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.0005):
            for event in self.spool.take():
                self.seen.append(event)
                self.spool.release(event, self.answer)
                self.spool.forget(event)

    def __enter__(self) -> "FakeWatcher":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.join()


def files(project: Path) -> list[Path]:
    return sorted((project / ".git" / "chorus" / "spool").glob("[0-9]*"))


def test_a_repository_where_chorus_was_never_used_is_left_alone(project: Path) -> None:
    assert run_hook(project, EVENT) == b""
    assert list((project / ".git").iterdir()) == []


def test_a_directory_that_is_not_a_repository_is_left_alone(tmp_path: Path) -> None:
    assert run_hook(tmp_path, EVENT) == b""
    assert run_hook(Path("/"), EVENT) == b""
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def slow_sleep(tmp_path: Path) -> dict[str, str]:
    """An environment in which every pause takes a second, so that a busy machine does not decide a test."""
    directory = tmp_path / "slow"
    directory.mkdir()
    (directory / "sleep").write_text("#!/bin/sh\nexec /bin/sleep 1\n")
    (directory / "sleep").chmod(0o755)
    return {"PATH": f"{directory}:{os.environ['PATH']}"}


def test_an_event_reaches_the_watcher_before_the_client_continues(
    project: Path, spool: Spool, slow_sleep: dict[str, str]
) -> None:
    with FakeWatcher(spool) as watcher:
        environment = {**slow_sleep, "TMUX": "/tmp/s,9,0", "TMUX_PANE": "%3"}
        assert run_hook(project, EVENT, environment=environment) == b""

    assert [event.value for event in watcher.seen] == [EVENT]
    event = watcher.seen[0]
    assert (event.client_pid, event.pane, event.tmux_socket) == (77, "%3", "/tmp/s")
    assert files(project) == []


RUN_HOOK = "import subprocess, sys; subprocess.run(sys.argv[1:])"


@pytest.mark.parametrize(("name", "is_client"), [("claude", True), ("editor", False)])
def test_a_client_without_claude_pid_is_the_process_that_runs_the_hook(
    project: Path, spool: Spool, tmp_path: Path, name: str, is_client: bool
) -> None:
    # An interpreter of this name: for a script, macOS says the name of its interpreter.
    client = tmp_path / name
    client.symlink_to(sys.executable)
    environment = {"PATH": os.environ["PATH"], "CLAUDE_PROJECT_DIR": str(project)}
    with FakeWatcher(spool) as watcher:
        started = subprocess.Popen([client, "-c", RUN_HOOK, HOOK], stdin=subprocess.PIPE, env=environment)
        started.communicate(json.dumps(EVENT).encode(), timeout=30)

    assert [event.client_pid for event in watcher.seen] == [started.pid if is_client else None]


@dataclass(frozen=True, slots=True)
class WaitingHook:
    """A hook that has written its event and waits until the test creates the file `go`."""

    process: subprocess.Popen[bytes]
    event: HookEvent
    go: Path

    def finish(self) -> bytes:
        self.go.touch()
        out, err = self.process.communicate(timeout=10)
        assert (self.process.returncode, err) == (0, b"")
        return out


@pytest.fixture
def waiting_hook(project: Path, spool: Spool, tmp_path: Path) -> WaitingHook:
    directory, go = tmp_path / "gated", tmp_path / "go"
    directory.mkdir()
    (directory / "sleep").write_text(f"#!/bin/sh\nuntil [ -e {go} ]; do /bin/sleep 0.01; done\n")
    (directory / "sleep").chmod(0o755)
    hook = start_hook(project, environment={"PATH": f"{directory}:{os.environ['PATH']}"})
    send(hook, EVENT)
    taken: list[HookEvent] = []

    def look() -> bool:
        taken.extend(spool.take())
        return bool(taken)

    wait_until(look, what="the event")
    return WaitingHook(hook, taken[0], go)


def test_the_client_does_not_continue_before_the_watcher_has_taken_the_event(
    spool: Spool, waiting_hook: WaitingHook
) -> None:
    assert waiting_hook.process.poll() is None
    assert spool.is_hook_waiting(waiting_hook.event)

    spool.release(waiting_hook.event)

    assert not spool.is_hook_waiting(waiting_hook.event)
    assert waiting_hook.finish() == b""


@pytest.fixture
def pauses(tmp_path: Path) -> Path:
    """A directory for PATH whose `sleep` only logs its argument."""
    directory = tmp_path / "bin"
    directory.mkdir()
    sleep = directory / "sleep"
    sleep.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/pauses\n')
    sleep.chmod(0o755)
    return directory


def test_a_watcher_that_hangs_delays_one_event_and_loses_none(
    project: Path, spool: Spool, pauses: Path, tmp_path: Path
) -> None:
    environment = {"PATH": f"{pauses}:{os.environ['PATH']}"}
    run_hook(project, {"n": 1}, environment=environment)
    waited = (tmp_path / "pauses").read_text().split()
    run_hook(project, {"n": 2}, environment=environment)

    assert 0.2 < sum(map(float, waited)) < 0.3
    assert (tmp_path / "pauses").read_text().split() == waited
    late = spool.take()
    assert [event.value["n"] for event in late] == [1, 2]
    assert not any(spool.is_hook_waiting(event) for event in late)


def test_what_is_over_is_waited_for_only_if_there_is_something_to_say(
    project: Path, spool: Spool, pauses: Path, tmp_path: Path
) -> None:
    environment = {"PATH": f"{pauses}:{os.environ['PATH']}"}
    run_hook(project, {"n": 1}, "chorus", "after", environment=environment)
    assert not (tmp_path / "pauses").exists()
    assert [event.value["n"] for event in spool.take()] == [1]

    spool.expect_answers(True)
    run_hook(project, {"n": 2}, "chorus", "after", environment=environment)
    assert (tmp_path / "pauses").exists()
    spool.expect_answers(False)
    with FakeWatcher(spool, {"said": "it"}) as watcher:
        assert run_hook(project, {"n": 3}, "chorus", "after", environment=environment) == b""
        wait_until(lambda: len(watcher.seen) == 2, what="both events")


def test_an_edit_of_a_client_that_is_alone_waits_for_nothing(
    project: Path, spool: Spool, pauses: Path, tmp_path: Path
) -> None:
    environment = {"PATH": f"{pauses}:{os.environ['PATH']}"}
    spool.set_alone(frozenset({77}))
    run_hook(project, {"n": 1}, "chorus", "edit", environment=environment)
    assert not (tmp_path / "pauses").exists()
    run_hook(project, {"n": 2}, "chorus", environment=environment)  # a command
    run_hook(project, {"n": 3}, "chorus", "edit", environment={**environment, "CLAUDE_PID": "78"})
    spool.set_alone(frozenset({78}))
    run_hook(project, {"n": 4}, "chorus", "edit", environment=environment)

    assert (tmp_path / "pauses").exists()
    assert [event.value["n"] for event in spool.take()] == [2, 3, 4]


def test_an_edit_waits_while_the_report_of_the_last_one_is_not_recorded(project: Path, spool: Spool) -> None:
    spool.set_alone(frozenset({77}))
    run_hook(project, {"n": 1}, "chorus", "after")
    run_hook(project, {"n": 2}, "chorus", "edit")
    last, this = spool.take()
    spool.release(last)
    spool.forget(this)
    run_hook(project, {"n": 3}, "chorus", "edit")
    (this,) = spool.take()
    assert [last.value["n"], this.value["n"]] == [1, 3]
    spool.forget(last)
    spool.forget(this)
    run_hook(project, {"n": 4}, "chorus", "edit")
    assert spool.take() == []


def test_without_a_watcher_nobody_is_alone(project: Path, spool: Spool) -> None:
    spool.set_alone(frozenset({77}))
    (project / ".git/chorus/spool/watcher").unlink()
    (project / ".git/chorus/spool/asleep").touch()
    run_hook(project, EVENT, "chorus", "edit")
    assert len(files(project)) == 1

    spool.recreate()
    spool.set_alone(frozenset({77}))
    spool.close(asleep=True)
    assert not list((project / ".git/chorus/spool").glob("alone.*"))
    spool.open()


def test_a_ping_shows_whether_the_watcher_works(
    project: Path, spool: Spool, pauses: Path, tmp_path: Path
) -> None:
    environment = {"PATH": f"{pauses}:{os.environ['PATH']}"}
    assert run_hook(project, {}, "chorus", "ping", environment=environment) == b""
    assert sum(map(float, (tmp_path / "pauses").read_text().split())) < 0.2
    with FakeWatcher(spool) as watcher:
        assert run_hook(project, {}, "chorus", "ping") == b"works\n"
    assert watcher.seen == []
    (project / ".git/chorus/spool/watcher").write_text("")
    (project / ".git/chorus/spool/asleep").touch()
    assert run_hook(project, {}, "chorus", "ping") == b"none\n"
    assert list((project / ".git/chorus/spool").glob("ping*")) == []


def test_a_watcher_that_recovers_is_waited_for_again(
    project: Path, spool: Spool, slow_sleep: dict[str, str]
) -> None:
    run_hook(project, {"n": 1})
    assert (project / ".git/chorus/spool/late").exists()

    with FakeWatcher(spool) as watcher:
        wait_until(lambda: len(watcher.seen) == 1, what="the watcher works again")
        run_hook(project, {"n": 2}, environment=slow_sleep)
        assert len(watcher.seen) == 2


def test_the_hook_of_a_permission_prompt_waits_for_a_busy_watcher(project: Path, spool: Spool) -> None:
    run_hook(project, EVENT)
    assert (project / ".git/chorus/spool/late").exists()
    hook = start_hook(project)
    send(hook, {"hook_event_name": "PermissionRequest", "tool_name": "Bash"})
    place = project / ".git/chorus/spool"
    wait_until(lambda: bool(list(place.glob(f"{hook.pid}.*"))), what="its event")

    # Each of these ends at once while the watcher is marked late; without the mark they wait their full time.
    for _ in range(2):
        (place / "late").unlink()
        run_hook(project, EVENT)
    asked = next(event for event in spool.take() if event.value.get("tool_name"))
    assert spool.is_hook_waiting(asked)
    held = spool.hold(asked)
    held.answer({"x": 1})

    assert hook.communicate() == (b'{"x":1}\n', b"")
    held.close()


def test_an_answer_that_comes_while_the_hook_looks_at_its_event_is_printed(
    project: Path, spool: Spool, tmp_path: Path
) -> None:
    (project / ".git/chorus/spool/late").touch()
    directory, looks, go = tmp_path / "gated", tmp_path / "looks", tmp_path / "go"
    directory.mkdir()
    gate = f"touch {looks}; until [ -e {go} ]; do sleep 0.01; done"
    (directory / "head").write_text(f'#!/bin/sh\n{gate}\nexec {shutil.which("head")} "$@"\n')
    (directory / "head").chmod(0o755)
    hook = start_hook(project, environment={"PATH": f"{directory}:{os.environ['PATH']}"})
    send(hook, {"hook_event_name": "PermissionRequest"})
    wait_until(looks.exists, what="the hook looks at its event")

    (event,) = spool.take()
    spool.release(event, {"behavior": "allow"})
    go.touch()

    assert hook.communicate(timeout=30) == (b'{"behavior":"allow"}\n', b"")


@pytest.mark.parametrize("pid", [None, "", "4194305", "x"], ids=["none", "empty", "dead", "nonsense"])
def test_without_a_watcher_the_event_stays_on_disk_and_the_client_continues(
    project: Path, spool: Spool, pauses: Path, tmp_path: Path, pid: str | None
) -> None:
    pid_file = project / ".git/chorus/spool/watcher"
    pid_file.unlink()
    if pid is not None:
        pid_file.write_text(f"{pid}\n")

    run_hook(project, EVENT, "true", environment={"PATH": f"{pauses}:{os.environ['PATH']}"})

    assert not (tmp_path / "pauses").exists()
    assert [event.value for event in spool.take()] == [EVENT]


def test_only_the_first_event_without_a_watcher_starts_one(project: Path, spool: Spool) -> None:
    (project / ".git/chorus/spool/watcher").unlink()
    calls = project / "calls"
    starter = project / "starter"
    starter.write_text(f'#!/bin/sh\necho "$@" >> {calls}\n')
    starter.chmod(0o755)

    for n in range(3):
        run_hook(project, {"n": n}, str(starter))

    wait_until(calls.exists, what="the starter runs")
    assert calls.read_text() == f"hooks wake {project}/.git\n"
    assert len(files(project)) == 3


def starts(project: Path, spool_files: dict[str, str]) -> int:
    """How often one event without a watcher starts one, with these files in the spool."""
    (project / ".git/chorus/spool/watcher").unlink(missing_ok=True)
    calls, starter = project / "calls", project / "starter"
    calls.write_text("")
    starter.write_text(f"#!/bin/sh\necho called >> {calls}\n")
    starter.chmod(0o755)
    for name, text in spool_files.items():
        (project / ".git/chorus/spool" / name).write_text(text)
    run_hook(project, EVENT, str(starter))
    with suppress(AssertionError):
        wait_for(calls.read_text, seconds=1)
    return len(calls.read_text().splitlines())


@pytest.mark.parametrize("mark", ["0", "", "nonsense", "99999999999"], ids=["old", "empty", "odd", "future"])
def test_a_watcher_killed_while_it_starts_is_started_again(project: Path, spool: Spool, mark: str) -> None:
    """The mark of the one that started it does not count for ever."""
    assert starts(project, {"waking": f"{mark}\n", "../watcher.lock": "4194305\n"}) == 1


def test_a_watcher_that_holds_its_lock_and_is_not_ready_is_not_started_again(
    project: Path, spool: Spool
) -> None:
    assert starts(project, {"waking": "0\n", "../watcher.lock": f"{os.getpid()}\n"}) == 0


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="a zombie shows only in /proc")
def test_a_killed_watcher_that_is_a_zombie_counts_as_gone(project: Path, spool: Spool) -> None:
    dead = subprocess.Popen(["true"])
    os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)  # it ends, and stays a zombie
    (project / ".git/chorus/spool/watcher").write_text(f"{dead.pid}\n")
    woken = project / "woken"
    program = project / "wake"
    program.write_text(f'#!/bin/sh\necho "$@" > {woken}\n')
    program.chmod(0o755)
    run_hook(project, EVENT, str(program))
    wait_until(woken.exists, what="a watcher is started")
    dead.wait()


def test_a_watcher_that_is_ending_when_the_mod_finds_nobody_is_replaced(project: Path, spool: Spool) -> None:
    """A killed process closes its socket a moment before it is gone."""
    woken, program = project / "woken", project / "wake"
    program.write_text(f'#!/bin/sh\necho "$@" > {woken}\n')
    program.chmod(0o755)
    ending = subprocess.Popen(["sleep", "0.05"])
    (project / ".git/chorus/spool/watcher").write_text(f"{ending.pid}\n")
    reaper = threading.Thread(target=ending.wait)
    reaper.start()
    run_hook(project, EVENT, str(program), "wake")
    reaper.join()
    wait_until(woken.exists, what="a watcher is started")


def test_a_stopped_watcher_is_not_started_by_a_hook(project: Path) -> None:
    spool = Spool(project / ".git" / "chorus" / "spool")
    spool.open()
    spool.close(asleep=True)
    starter = project / "starter"
    starter.write_text(f"#!/bin/sh\ntouch {project}/called\n")
    starter.chmod(0o755)

    run_hook(project, EVENT, str(starter))
    assert not (project / "called").exists()

    spool.open()
    spool.close(asleep=False)
    run_hook(project, EVENT, str(starter))
    wait_until((project / "called").exists, what="the starter runs")


def test_an_answer_of_the_watcher_is_printed_as_one_line(
    project: Path, spool: Spool, slow_sleep: dict[str, str]
) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": 'a "b"\n\\ 日本'}}
    with FakeWatcher(spool, answer) as watcher:
        out = run_hook(project, EVENT, environment=slow_sleep)

    assert json.loads(out) == answer
    assert out.count(b"\n") == 1
    assert spool.take_printed_answers() == {watcher.seen[0].name: True}


def test_a_held_hook_waits_for_the_decision_and_prints_it(spool: Spool, waiting_hook: WaitingHook) -> None:
    held = spool.hold(waiting_hook.event)
    waiting_hook.go.touch()
    with pytest.raises(subprocess.TimeoutExpired):
        waiting_hook.process.wait(timeout=0.5)

    held.answer({"decision": "allow"})

    assert json.loads(waiting_hook.finish()) == {"decision": "allow"}
    held.close()


def test_a_held_hook_that_is_released_prints_nothing(
    project: Path, spool: Spool, waiting_hook: WaitingHook
) -> None:
    held = spool.hold(waiting_hook.event)
    waiting_hook.go.touch()
    with pytest.raises(subprocess.TimeoutExpired):
        waiting_hook.process.wait(timeout=0.5)

    held.close()

    assert waiting_hook.finish() == b""
    assert list((project / ".git/chorus/spool/answers").iterdir()) == []


def test_a_held_hook_ends_if_the_watcher_died_before_the_hook_read_the_answer(
    project: Path, spool: Spool, waiting_hook: WaitingHook
) -> None:
    os.mkfifo(project / ".git/chorus/spool/answers" / waiting_hook.event.name)  # a pipe that nobody has open
    spool.release(waiting_hook.event)

    assert waiting_hook.finish() == b""


def test_the_spool_says_whether_an_event_has_come_that_was_not_taken(project: Path, spool: Spool) -> None:
    assert not spool.has_new()
    hook = start_hook(project)
    send(hook, EVENT)
    wait_until(spool.has_new, what="the event")
    taken: list[HookEvent] = []

    def take() -> bool:
        taken.extend(spool.take())  # complete ones only
        return bool(taken)

    wait_until(take, what="the whole event")
    (event,) = taken
    assert not spool.has_new()  # taken, and its hook still waits
    spool.release(event)
    assert hook.communicate(timeout=10) == (b"", b"")
    directory = project / ".git/chorus/spool"
    moved = directory.rename(directory.with_name("moved"))
    assert not spool.has_new()
    moved.rename(directory)


def test_thirty_six_hooks_at_once_write_large_events_completely(project: Path, spool: Spool) -> None:
    with FakeWatcher(spool) as watcher:
        hooks = [start_hook(project) for _ in range(36)]
        payloads = [json.dumps({"n": n, "x": "é" * 200_000}, ensure_ascii=False).encode() for n in range(36)]
        for hook, payload in zip(hooks, payloads, strict=True):
            threading.Thread(target=hook.communicate, args=(payload,), daemon=True).start()
        for hook in hooks:
            assert hook.wait(timeout=60) == 0
        wait_until(lambda: len(watcher.seen) == 36, what="all events")

    assert sorted(event.value["n"] for event in watcher.seen) == list(range(36))
    assert all(event.value["x"] == "é" * 200_000 for event in watcher.seen)
    assert not spool.problems


def test_an_event_of_several_megabytes_is_written_completely(project: Path, spool: Spool) -> None:
    event = {"content": 'line \\ " 日本\n' * 300_000}
    run_hook(project, event)

    assert [found.value for found in spool.take()] == [event]


def test_a_file_of_an_earlier_process_with_the_same_id_is_not_overwritten(
    project: Path, spool: Spool
) -> None:
    """Process ids are reused; a wrapper creates the files under the id the hook will have."""
    directory = project / ".git" / "chorus" / "spool"
    claim = f'for n in 0 1 2; do echo old > "{directory}/$$.$n"; done; exec "{HOOK}" true'
    environment = {"CLAUDE_PROJECT_DIR": str(project), "PATH": os.environ["PATH"]}
    subprocess.run(["sh", "-c", claim], input=b'{"n": 1}', env=environment, check=True)

    assert [path.read_text() for path in files(project)][:3] == ["old\n"] * 3
    assert [event.value for event in spool.take()] == [{"n": 1}]


@pytest.mark.parametrize("where", ["sub/dir", "a b/'c' \"d\" $e", "new\nline", "日本"])
def test_a_hook_run_in_a_subdirectory_finds_its_repository(project: Path, spool: Spool, where: str) -> None:
    below = project / where
    below.mkdir(parents=True)
    run_hook(below, {"n": 1}, "true")
    run_hook(below, {"n": 2}, "true", environment={"CLAUDE_PROJECT_DIR": ""})

    assert [event.value["n"] for event in spool.take()] == [1, 2]


@pytest.mark.parametrize("name", ["plain", "with blanks", "new\nline", "$(touch x)`id`;*"])
def test_a_repository_with_an_odd_name_works(tmp_path: Path, slow_sleep: dict[str, str], name: str) -> None:
    project = tmp_path / name
    (project / ".git").mkdir(parents=True)
    spool = Spool(project / ".git" / "chorus" / "spool")
    spool.open()
    with FakeWatcher(spool) as watcher:
        run_hook(project, EVENT, environment=slow_sleep)
    spool.close(asleep=True)

    assert len(watcher.seen) == 1


def test_a_linked_work_tree_uses_the_spool_of_its_repository(
    project: Path, spool: Spool, tmp_path: Path
) -> None:
    shutil.rmtree(project / ".git")
    for command in (["init", "-q"], ["commit", "-qm", "first", "--allow-empty"]):
        subprocess.run(["git", *command], cwd=project, check=True)
    linked = tmp_path / "linked tree"
    subprocess.run(["git", "worktree", "add", "-q", "-b", "other", str(linked)], cwd=project, check=True)
    spool.open()

    run_hook(linked, EVENT)

    assert [event.value for event in spool.take()] == [EVENT]


def test_a_work_tree_with_a_relative_link_uses_it_too(project: Path, spool: Spool, tmp_path: Path) -> None:
    (project / ".git/worktrees/x").mkdir(parents=True)
    (project / ".git/worktrees/x/commondir").write_text("../..\n")
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / ".git").write_text("gitdir: ../proj/.git/worktrees/x")  # no newline at the end

    run_hook(linked, EVENT)

    assert [event.value for event in spool.take()] == [EVENT]


def test_a_directory_that_cannot_be_written_to_stops_nothing(project: Path, spool: Spool) -> None:
    directory = project / ".git" / "chorus" / "spool"
    if os.getuid() == 0:  # root may write anywhere, so a file is in the way instead
        shutil.rmtree(directory)
        directory.write_text("")
    else:
        directory.chmod(0o500)
    try:
        assert run_hook(project, EVENT) == b""
    finally:
        if directory.is_dir():
            directory.chmod(0o700)
        else:
            directory.unlink()
            spool.open()


def test_with_an_empty_path_no_event_is_lost(project: Path, spool: Spool) -> None:
    run_hook(project, EVENT, environment={"PATH": "/nonexistent"})

    assert [event.value for event in spool.take()] == [EVENT]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a directory to another user")
def test_a_spool_of_another_user_is_not_written_to(project: Path, spool: Spool) -> None:
    os.chown(project / ".git" / "chorus" / "spool", 65534, 65534)

    run_hook(project, EVENT, "true")

    assert files(project) == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a directory to another user")
def test_a_link_of_another_user_to_a_directory_of_ours_is_not_followed(
    project: Path, spool: Spool, tmp_path: Path
) -> None:
    chorus = project / ".git" / "chorus"
    (chorus / "spool").rename(tmp_path / "ours")
    (chorus / "spool").symlink_to(tmp_path / "ours")
    os.chown(chorus, 65534, 65534)

    run_hook(project, EVENT, "true")

    assert files(project) == []


def test_a_directory_put_into_the_place_of_the_spool_meanwhile_gets_nothing(
    project: Path, spool: Spool, tmp_path: Path
) -> None:
    chorus = project / ".git" / "chorus"
    (chorus / "spool" / "watcher").unlink()
    os.mkfifo(chorus / "spool" / "watcher")
    hook = start_hook(project)
    with (chorus / "spool" / "watcher").open("w"):  # the hook has looked whose directory it is
        chorus.rename(tmp_path / "moved")
        (chorus / "spool").mkdir(parents=True)
    hook.communicate(json.dumps(EVENT).encode(), timeout=30)

    assert files(project) == []
    assert len(list((tmp_path / "moved" / "spool").glob("[0-9]*"))) == 1


def test_a_spool_that_nobody_empties_is_limited(project: Path, spool: Spool, tmp_path: Path) -> None:
    (project / ".git/chorus/spool/watcher").unlink()
    text = HOOK.read_text()
    assert "-gt 10000" in text
    small = tmp_path / "chorus-hook"
    small.write_text(text.replace("-gt 10000", "-gt 3"))
    for _ in range(6):
        environment = {"CLAUDE_PROJECT_DIR": str(project), "PATH": os.environ["PATH"]}
        subprocess.run(["sh", small, "true"], input=b"{}", env=environment, check=True)

    assert len(files(project)) == 4


def test_a_hook_ends_when_the_watcher_dies_while_it_waits(project: Path, spool: Spool) -> None:
    stand_in = subprocess.Popen(["sleep", "60"])
    (project / ".git/chorus/spool/watcher").write_text(f"{stand_in.pid}\n")
    hook = start_hook(project)
    send(hook, EVENT)
    wait_until(lambda: bool(files(project)), what="the event is there")

    stand_in.kill()
    stand_in.wait()

    assert hook.communicate(timeout=5) == (b"", b"")
    assert hook.returncode == 0
    assert len(files(project)) == 1


def test_the_hook_program_is_plain_posix_shell() -> None:
    for shell in filter(shutil.which, ["dash", "bash", "busybox"]):
        words = {"bash": ["bash", "--posix", "-n"], "busybox": ["busybox", "sh", "-n"]}.get(
            shell, [shell, "-n"]
        )
        subprocess.run([*words, HOOK], check=True)


WATCHER_PROGRAM = """
import os, select, sys
from pathlib import Path
from chorus.agents.hook_spool import Spool
spool, log = Spool(Path(sys.argv[1])), open(sys.argv[2], "a")
spool.open()
while True:
    select.select([spool], [], [], 0.02)
    for event in spool.take():
        spool.release(event)
        print(event.value["n"], file=log, flush=True)
        spool.forget(event)
"""


def test_no_event_is_lost_while_the_watcher_is_killed_again_and_again(project: Path, tmp_path: Path) -> None:
    spool, log = project / ".git" / "chorus" / "spool", tmp_path / "log"
    command = [sys.executable, "-c", WATCHER_PROGRAM, str(spool), str(log)]
    log.touch()
    spool.mkdir(parents=True)
    for killed in range(6):
        watcher = subprocess.Popen(command, cwd=HOOK.parent.parent)
        hooks = [start_hook(project, "true") for _ in range(8)]
        for n, hook in enumerate(hooks):
            send(hook, {"n": killed * 8 + n})
            if n == killed:
                wait_until((spool / "watcher").exists, what="a watcher")
        watcher.kill()
        watcher.wait()
        for hook in hooks:
            assert hook.communicate(timeout=10) == (b"", b"")
            assert hook.returncode == 0

    watcher = subprocess.Popen(command, cwd=HOOK.parent.parent)
    wait_until(lambda: len(set(log.read_text().split())) == 48, what="every event was read")
    watcher.kill()
    watcher.wait()
    assert not list(spool.glob("[0-9]*")) + list((spool / "aside").iterdir())


@pytest.fixture(params=["dash", "bash --posix", "busybox sh", "zsh --emulate sh", "ksh", "mksh", "yash"])
def shell(request: pytest.FixtureRequest) -> list[str]:
    words: list[str] = request.param.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]} on this machine")
    return words


def run_in(shell: list[str], project: Path, directory: Path, *arguments: str) -> bytes:
    """Run the hook program in a shell, with the programs of `directory` first on PATH."""
    path = f"{directory}:{os.environ['PATH']}"
    environment = {"CLAUDE_PROJECT_DIR": str(project), "CLAUDE_PID": "77", "PATH": path}
    done = subprocess.run(
        [*shell, HOOK, *arguments], input=b'{"n": 1}', env=environment, capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def test_other_shells_run_the_hook_program(
    project: Path, spool: Spool, tmp_path: Path, shell: list[str]
) -> None:
    programs = write_programs(tmp_path / "bsd", whole_seconds=True)
    with FakeWatcher(spool, {"x": 1}) as watcher:
        # Without fractions of a second, a busy watcher may be too late for a pause.
        assert run_in(shell, project, programs) in (b'{"x":1}\n', b"")
        wait_for(lambda: watcher.seen, what="the event was taken")
    assert [event.value for event in watcher.seen] == [{"n": 1}]
    assert watcher.seen[0].client_pid == 77


def test_other_shells_start_one_watcher_and_keep_the_event(
    project: Path, tmp_path: Path, shell: list[str]
) -> None:
    (project / ".git/chorus/spool").mkdir(parents=True)
    programs = write_programs(tmp_path / "bsd")
    chorus, started = tmp_path / "chorus", tmp_path / "started"
    chorus.write_text(f'#!/bin/sh\necho "$@" >>{started}\n')
    chorus.chmod(0o755)
    for _ in range(2):
        assert run_in(shell, project, programs, str(chorus)) == b""
    wait_for(started.exists, what="a watcher is started")
    assert len(files(project)) == 2
    assert started.read_text().splitlines() == [f"hooks wake {project}/.git"]


def test_other_shells_print_the_answer_to_a_held_permission_request(
    project: Path, spool: Spool, tmp_path: Path, shell: list[str]
) -> None:
    # A watcher that was late is waited for by permission requests alone.
    (project / ".git/chorus/spool/late").touch()
    programs = write_programs(tmp_path / "bsd")
    environment = {
        "CLAUDE_PROJECT_DIR": str(project),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "CLAUDE_PID": "77",
    }
    hook = subprocess.Popen(
        [*shell, HOOK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    send(hook, {"hook_event_name": "PermissionRequest"})
    wait_until(lambda: bool(files(project)), what="its event")
    with FakeWatcher(spool, {"behavior": "allow"}):
        assert hook.communicate(timeout=30) == (b'{"behavior":"allow"}\n', b"")
