"""Whatever kind of file it is, the timeline has its bytes and the lane what git would store."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from chorus.history.recorder import Recorder
from chorus.review.verify import verify
from tests.history.agent_at_work import Agent, action, entry_of, lane_file, on_disk, patch_of, replayed
from tests.history.invariants import assert_whole, untouched
from tests.repos import UserRepo

LINES = [b"line %d\n" % number for number in range(30)]


def crlf(data: bytes) -> bytes:
    return data.replace(b"\n", b"\r\n")


@pytest.mark.parametrize(
    ("config", "attributes"),
    [
        ({"core.autocrlf": "true"}, ""),
        ({"core.autocrlf": "input"}, ""),
        ({}, "* text=auto eol=crlf\n"),
        ({}, "*.txt text\n"),
    ],
)
def test_line_ends_are_raw_on_the_timeline_and_gits_on_the_lane(
    repo: UserRepo, config: dict[str, str], attributes: str
) -> None:
    for key, value in config.items():
        repo.git("config", key, value)
    repo.write(".gitattributes", attributes.encode())
    repo.write("long.txt", crlf(b"".join(LINES)))
    repo.git("add", "-A")
    repo.git("commit", "-qm", "long")
    repo.write("long.txt", crlf(b"user's\n" + b"".join(LINES)))
    with Recorder.open(repo.path) as recorder:
        agent = Agent(repo, recorder)
        after = crlf(b"".join([b"user's\n", *LINES[:20], b"agent's\n", *LINES[20:]]))
        entry = agent.edit("long.txt", after)
        assert patch_of(repo, entry.commit) == ["+agent's"]
        assert replayed(recorder)["long.txt"][1] == after
        assert_whole(repo, recorder)


def test_crlf_without_any_conversion_stays_crlf_on_the_lane(repo: UserRepo, agent: Agent) -> None:
    repo.git("config", "core.autocrlf", "false")
    repo.commit("crlf", **{"dos.txt": crlf(b"".join(LINES))})
    entry = agent.replace("dos.txt", b"line 5\r\n", b"line five\r\n")
    assert patch_of(repo, entry.commit) == ["-line 5\r", "+line five\r"]
    assert_whole(repo, agent.recorder)


def test_a_mixed_file_made_plain_is_recorded_as_it_is(repo: UserRepo, agent: Agent) -> None:
    repo.commit("mixed", **{"mixed.txt": b"one\r\ntwo\nthree\r\n"})
    agent.edit("mixed.txt", b"one\nTWO\nthree\n")
    assert_whole(repo, agent.recorder)


def test_a_filter_runs_for_the_lane_and_its_raw_bytes_are_on_the_timeline(
    repo: UserRepo, tmp_path: Path
) -> None:
    repo.git("config", "filter.shout.clean", "tr a-z A-Z")
    repo.git("config", "filter.shout.smudge", "tr A-Z a-z")
    repo.commit("filtered", **{".gitattributes": b"*.low filter=shout\n", "voice.low": b"quiet\n"})
    with Recorder.open(repo.path) as recorder:
        entry = Agent(repo, recorder).edit("voice.low", b"quieter\n")
        assert lane_file(repo, entry.lane, "voice.low") == b"QUIETER\n"
        assert replayed(recorder)["voice.low"][1] == b"quieter\n"
        assert_whole(repo, recorder)


def test_a_required_filter_that_fails_leaves_raw_bytes_and_is_reported(repo: UserRepo) -> None:
    repo.commit("plain", **{"big.bin": b"content\n"})
    repo.write(".gitattributes", b"*.bin filter=lfs\n")
    repo.git("config", "filter.lfs.clean", "false")
    repo.git("config", "filter.lfs.required", "true")
    with Recorder.open(repo.path) as recorder:
        entry = Agent(repo, recorder).edit("big.bin", b"new content\n")
        assert lane_file(repo, entry.lane, "big.bin") == b"new content\n"
        assert any("big.bin is not converted" in line for line in entry.skipped)


def test_a_change_of_content_and_mode_beside_a_line_of_the_user(repo: UserRepo, agent: Agent) -> None:
    repo.write("app.py", b"one\ntwo\nthree\nfour\n")
    repo.commit("four lines")
    repo.write("app.py", b"one\ntwo\nthree\nthe user's\n")

    def write() -> None:
        repo.write("app.py", b"ONE\ntwo\nthree\nthe user's\n").chmod(0o755)

    entry = agent.bash(write)
    assert repo.git("ls-tree", str(entry.lane), "app.py").startswith("100755")
    assert repo.git("show", f"{entry.lane}:app.py") == "ONE\ntwo\nthree\nfour\n"


def test_a_mode_only_change(repo: UserRepo, agent: Agent) -> None:
    entry = agent.bash(lambda: (repo.path / "app.py").chmod(0o755))
    assert repo.git("ls-tree", str(entry.lane), "app.py").startswith("100755")
    assert lane_file(repo, entry.lane, "app.py") == b"x = 1\ny = 2\n"
    assert_whole(repo, agent.recorder)


@pytest.mark.parametrize(
    ("change", "there", "back"),
    [
        (lambda place: place.chmod(0o755), "app.py: mode", "app.py: mode"),
        (lambda place: place.write_bytes(b"x = 1\ny = 9\n"), "app.py: +1 −1", "app.py: +1 −1"),
        (lambda place: place.write_bytes(b"x = 1\n"), "app.py: +0 −1", "app.py: +1 −0"),
        (lambda place: place.unlink(), "app.py: deleted, +0 −2", "app.py: new, +2 −0"),
        (
            lambda place: (place.unlink(), place.symlink_to("README.md")),
            "app.py: link",
            "app.py: link",
        ),
        (
            lambda place: place.with_name("b.py").write_bytes(b"b\n"),
            "b.py: new, +1 −0",
            "b.py: deleted, +0 −1",
        ),
        (lambda place: place.with_name("b.py").symlink_to("README.md"), "b.py: link", "b.py: link"),
        (lambda place: place.with_name("link").unlink(), "link: link", "link: link"),
    ],
)
def test_the_message_of_a_commit_says_what_kind_of_change_each_file_had(
    repo: UserRepo, agent: Agent, change: Callable[[Path], object], there: str, back: str
) -> None:
    def restore() -> None:
        repo.git("checkout", "-q", "--", "app.py", "link")
        (repo.path / "b.py").unlink(missing_ok=True)

    restore()
    entries = agent.bash(lambda: change(repo.path / "app.py")), agent.bash(restore)
    for entry, line in zip(entries, (there, back), strict=True):
        assert line in repo.git("log", "-1", "--format=%b", str(entry.commit)).splitlines()


def test_a_change_of_mode_that_is_not_recorded_is_found(repo: UserRepo, recorder: Recorder) -> None:
    recorder.start()
    (repo.path / "app.py").chmod(0o755)
    content = (repo.path / "notes.txt").read_bytes()
    (repo.path / "notes.txt").unlink()
    (repo.path / "notes.txt").symlink_to(content.decode())
    assert [problem.where for problem in verify(recorder)] == ["app.py", "notes.txt"]
    recorder.record_outside()
    assert_whole(repo, recorder)
    repo.git("config", "core.fileMode", "false")
    (repo.path / "run.sh").chmod(0o644)
    with Recorder.open(repo.path) as fresh:
        assert verify(fresh) == []


def test_a_symbolic_link_changed_and_one_made_of_a_file(repo: UserRepo, agent: Agent) -> None:
    def change() -> None:
        (repo.path / "link").unlink()
        (repo.path / "link").symlink_to("/etc/passwd")
        (repo.path / "app.py").unlink()
        (repo.path / "app.py").symlink_to("README.md")

    entry = agent.bash(change)
    listed = repo.git("ls-tree", str(entry.lane), "app.py", "link").splitlines()
    assert all(line.startswith("120000") for line in listed)
    assert lane_file(repo, entry.lane, "link") == b"/etc/passwd"
    assert_whole(repo, agent.recorder)


def test_a_file_that_becomes_a_directory_and_back(repo: UserRepo, agent: Agent) -> None:
    def to_directory() -> None:
        (repo.path / "app.py").unlink()
        repo.write("app.py/inner.txt", b"inner\n")

    def to_file() -> None:
        (repo.path / "app.py" / "inner.txt").unlink()
        (repo.path / "app.py").rmdir()
        repo.write("app.py", b"file again\n")

    first = agent.bash(to_directory)
    assert lane_file(repo, first.lane, "app.py/inner.txt") == b"inner\n"
    assert_whole(repo, agent.recorder)
    second = agent.bash(to_file)
    assert lane_file(repo, second.lane, "app.py") == b"file again\n"
    assert_whole(repo, agent.recorder)


def test_a_file_below_one_that_only_the_lane_still_has(repo: UserRepo, agent: Agent) -> None:
    """The user replaced a file by a directory; the agent adds to the directory."""
    (repo.path / "app.py").unlink()
    repo.write("app.py/users.txt", b"user's\n")
    agent.recorder.record_outside()
    entry = agent.edit("app.py/agents.txt", b"agent's\n")
    names = repo.git("ls-tree", "-r", "--name-only", str(entry.lane), "app.py").split()
    assert names == ["app.py/agents.txt"]
    context = repo.git("log", "-1", "--format=%(trailers:key=Chorus-Context,valueonly)", f"{entry.lane}^")
    assert context.strip().endswith(" app.py")
    assert_whole(repo, agent.recorder)


def test_a_file_in_place_of_a_directory_that_only_the_lane_still_has(repo: UserRepo, agent: Agent) -> None:
    subprocess.run(["rm", "-r", str(repo.path / "src")], check=True)
    agent.recorder.record_outside()
    entry = agent.edit("src", b"a file now\n")
    assert lane_file(repo, entry.lane, "src") == b"a file now\n"
    assert_whole(repo, agent.recorder)


def test_a_rename_and_a_case_only_rename(repo: UserRepo, agent: Agent) -> None:
    def change() -> None:
        (repo.path / "app.py").rename(repo.path / "program.py")
        (repo.path / "README.md").rename(repo.path / "readme.MD")

    entry = agent.bash(change)
    renamed = repo.git("diff", "-M", "--name-status", "main", str(entry.lane)).splitlines()
    assert "R100\tapp.py\tprogram.py" in renamed
    assert replayed(agent.recorder) == on_disk(repo)
    assert_whole(repo, agent.recorder)


def test_empty_files_come_and_go(repo: UserRepo, agent: Agent) -> None:
    agent.edit("empty", b"")
    assert_whole(repo, agent.recorder)
    agent.edit("empty", None)
    agent.edit("app.py", b"")
    assert_whole(repo, agent.recorder)


def test_binary_content_is_whole(repo: UserRepo, agent: Agent) -> None:
    repo.commit("binary", **{"data.bin": b"\0\1\2" * 100})
    repo.write("data.bin", b"user\0" * 10)
    agent.recorder.record_outside()
    entry = agent.edit("data.bin", b"agent\0" * 10)
    assert lane_file(repo, entry.lane, "data.bin") == b"agent\0" * 10
    assert_whole(repo, agent.recorder)


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_skipped_and_reported(repo: UserRepo, agent: Agent) -> None:
    agent.recorder.start()
    repo.write("secret.txt", b"x\n").chmod(0)
    agent.recorder.record_named_paths([action("t1", repo.path / "secret.txt")])
    assert entry_of(agent.recorder, "t1").skipped == ("secret.txt cannot be read (Permission denied)",)


def test_a_pipe_is_never_waited_for(repo: UserRepo, agent: Agent) -> None:
    def change() -> None:
        os.mkfifo(repo.path / "pipe")
        repo.write("app.py", b"new\n")

    assert agent.bash(change).paths == ("app.py",)
    agent.recorder.record_named_paths([action("t1", repo.path / "pipe")])
    assert [line.split()[0] for line in entry_of(agent.recorder, "t1").skipped] == ["pipe"]


def test_a_huge_file_is_skipped_and_reported(repo: UserRepo) -> None:
    with Recorder.open(repo.path, cap_bytes=1000) as recorder:
        entry = Agent(repo, recorder).edit("huge.txt", b"x" * 2000)
        assert entry.status == "noop"
        assert entry.skipped == ("huge.txt is larger than the size limit (2000 bytes)",)


def test_a_file_that_grew_too_large_keeps_its_last_content(repo: UserRepo) -> None:
    with Recorder.open(repo.path, cap_bytes=1000) as recorder:
        agent = Agent(repo, recorder)
        agent.edit("grows.txt", b"small\n")
        agent.edit("grows.txt", b"x" * 2000)
        last = agent.edit("grows.txt", b"small again\n")
        assert patch_of(repo, last.commit) == ["-small", "+small again"]
        assert_whole(repo, recorder)


NAMES = [
    b"new\nline", b'quo"te', b"-dash", b":colon", b"sp ace", b"tab\there", b"\xff\xfe", b"caf\xc3\xa9",
    b"*", b"back\\slash", b"#hash", b"trailing ", b"a/-b/:c",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_any_name(repo: UserRepo, agent: Agent, name: bytes) -> None:
    path = os.fsdecode(name)
    first = agent.edit(path, b"one\n")
    assert first.paths == (path,)
    agent.recorder.record_outside()
    agent.bash(lambda: repo.write(path, b"two\n"))
    entry = agent.edit(path, None)
    assert entry.status == "committed"
    with Recorder.open(repo.path) as again:
        assert [e.paths for e in again.entries()] == [(path,)] * 3
        assert_whole(repo, again)


def test_a_change_that_keeps_size_and_time_is_seen(repo: UserRepo, agent: Agent) -> None:
    place = repo.path / "app.py"

    def change() -> None:
        times = place.stat()
        place.write_bytes(b"x = 9\ny = 2\n")
        os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))

    entry = agent.bash(change)
    assert patch_of(repo, entry.commit) == ["-x = 1", "+x = 9"]


def test_the_clients_own_scratch_files_are_never_seen(repo: UserRepo, agent: Agent) -> None:
    def change() -> None:
        repo.write("app.py.tmp.1234.0123456789ab", b"half")
        repo.write("app.py", b"whole\n")

    assert agent.bash(change).paths == ("app.py",)


def test_nothing_inside_the_git_directory_is_recorded(repo: UserRepo, agent: Agent) -> None:
    config = repo.git_dir / "config"
    agent.recorder.start()
    config.write_text(config.read_text() + "[x]\n\ty = 1\n")
    with untouched(repo):
        agent.recorder.record_named_paths([action("t1", config)])
    entry = entry_of(agent.recorder, "t1")
    assert entry.status == "noop"
    assert entry.skipped == (".git/config is inside a git directory",)


def test_a_path_behind_a_link_out_of_the_tree_is_not_followed(
    repo: UserRepo, agent: Agent, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (repo.path / "way").symlink_to(tmp_path / "out")
    agent.recorder.start()
    (tmp_path / "out" / "file.txt").write_text("outside\n")
    agent.recorder.record_named_paths([action("t1", repo.path / "way" / "file.txt")])
    entry = entry_of(agent.recorder, "t1")
    assert entry.status == "noop"
    assert len(entry.skipped) == 1
    assert entry.skipped[0].endswith("is outside the work tree")


def test_a_file_that_vanishes_before_it_is_read_is_gone(repo: UserRepo, agent: Agent) -> None:
    place = repo.path / "app.py"
    agent.recorder.record_before_call([str(place)])
    place.unlink()
    agent.recorder.record_named_paths([action("t1", place)])
    assert entry_of(agent.recorder, "t1").status == "committed"
    assert_whole(repo, agent.recorder)


def test_an_ignored_file_that_git_tracks_is_recorded(repo: UserRepo, agent: Agent) -> None:
    repo.write("kept.log", b"one\n")
    repo.git("add", "-f", "kept.log")
    repo.git("commit", "-qm", "kept")
    entry = agent.edit("kept.log", b"two\n")
    assert lane_file(repo, entry.lane, "kept.log") == b"two\n"
    assert_whole(repo, agent.recorder)
