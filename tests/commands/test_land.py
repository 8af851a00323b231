"""`chorus land`: clean commits on a branch, and nothing else changes."""

import shutil
import subprocess
from pathlib import Path

import pytest

from chorus.history.recorder import Recorder
from chorus.review.landing.messages import CommitMessages
from chorus.review.landing.plan import LaneChanged, plan_landing
from chorus.review.landing.selection import LandingRequest
from chorus.wire import client
from chorus.wire.client import connect
from chorus.wire.home import find_home
from tests.commands.conftest import Shell
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo


def lane_of(chorus: Shell) -> str:
    return str(chorus("lanes", "--json").json()[0]["name"])


def subjects(repo: UserRepo, branch: str = "main") -> list[str]:
    return repo.git("log", "--reverse", "--format=%s", f"v1..{branch}").splitlines()


def install_hook(repo: UserRepo, name: str, script: str) -> None:
    place = repo.path / ".git" / "hooks" / name
    place.parent.mkdir(exist_ok=True)
    place.write_text(f"#!/bin/sh\n{script}\n")
    place.chmod(0o755)


def user_state(repo: UserRepo) -> dict[str, object]:
    print_ = repo.fingerprint()
    return {"work tree": print_["work tree"], "staged": repo.git("diff", "--cached")}


@pytest.mark.parametrize(("by", "count"), [("turn", 1), ("action", 3), ("all", 1)])
def test_a_lane_is_landed_and_the_users_own_work_stays(
    worked: UserRepo, chorus: Shell, by: str, count: int
) -> None:
    before = user_state(worked)
    done = chorus("land", lane_of(chorus), "--by", by, "--json")
    assert done.code == 0, done.err
    commits = done.json()["commits"]
    assert len(commits) == len(subjects(worked)) == count
    assert [n for commit in commits for n in commit["actions"]] == [1, 2, 3]
    assert user_state(worked) == before
    names = worked.git("diff", "--name-only", "v1..main").split()
    assert names == ["app.py", "new.txt", "run.sh"]
    assert worked.git("show", "main:app.py") == "x = 9\ny = 2\n"
    assert worked.git("status", "--porcelain").splitlines() == [
        "M  README.md",
        " M src/main.py",
        "?? notes.txt",
    ]
    assert all(entry["landed"] for entry in chorus("log", "--json").json())
    assert worked.fsck() == ""
    assert not list((worked.path / ".git" / "chorus").glob("landing-*"))


def test_a_landed_commit_has_the_users_message_and_names_its_actions(worked: UserRepo, chorus: Shell) -> None:
    ids = [entry["id"] for entry in chorus("log", "--json").json()]
    chorus("land", lane_of(chorus))
    assert subjects(worked) == ["Make it better"]
    trailers = worked.git("log", "-1", "--format=%(trailers:key=Chorus-Actions,valueonly)").split()
    assert [name.rstrip(",") for name in trailers] == ids
    assert "- I raise x" in worked.git("log", "-1", "--format=%b")
    assert worked.git("log", "-1", "--format=%an %cn").strip() == "Ada User Ada User"


def test_a_given_message_keeps_the_trailers(worked: UserRepo, chorus: Shell) -> None:
    chorus("land", lane_of(chorus), "-m", "Raise x\n\nBecause.")
    assert subjects(worked) == ["Raise x"]
    body = worked.git("log", "-1", "--format=%b")
    assert body.startswith("Because.\n\nChorus-Actions: ")


def test_a_dry_run_shows_the_commits_and_changes_nothing(worked: UserRepo, chorus: Shell) -> None:
    lane = lane_of(chorus)
    before = worked.fingerprint()
    done = chorus("land", lane, "--dry-run", "--by", "action", "--json").json()
    assert [(c["oid"], c["actions"]) for c in done["commits"]] == [(None, [1]), (None, [2]), (None, [3])]
    assert worked.fingerprint() == before
    assert not any(entry["landed"] for entry in chorus("log", "--json").json())


def test_a_commit_msg_hook_runs(worked: UserRepo, chorus: Shell) -> None:
    install_hook(worked, "commit-msg", 'printf "Seen-By: hook\\n" >> "$1"')
    assert chorus("land", lane_of(chorus)).code == 0
    assert "Seen-By: hook" in worked.git("log", "-1", "--format=%B")


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen on this machine")
def test_commits_are_signed_where_the_user_signs(worked: UserRepo, chorus: Shell, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    for name, value in (("gpg.format", "ssh"), ("user.signingKey", str(key)), ("commit.gpgSign", "true")):
        worked.git("config", name, value)
    assert chorus("land", lane_of(chorus), "--by", "action").code == 0
    raw = worked.git("log", "--format=raw", "v1..main")
    assert raw.count("gpgsig -----BEGIN SSH SIGNATURE-----") == 3


def test_the_users_edit_of_the_same_file_stays_out_of_the_commit(repo: UserRepo, chorus: Shell) -> None:
    text = b"".join(b"%d\n" % number for number in range(20))
    repo.git("stash", "-q", "-u")
    repo.commit("numbers", **{"n.txt": text})
    repo.write("n.txt", text.replace(b"18\n", b"mine\n"))
    with Recorder.open(repo.path) as recorder:
        Agent(repo, recorder).replace("n.txt", b"2\n", b"two\n")
    before = repo.fingerprint()["work tree"]
    assert chorus("land", lane_of(chorus)).code == 0
    assert repo.fingerprint()["work tree"] == before
    assert repo.git("show", "main:n.txt").encode() == text.replace(b"2\n", b"two\n", 1)
    assert repo.git("diff", "--cached", "--name-only") == ""
    assert "+mine" in repo.git("diff", "--", "n.txt")


def test_a_failing_hook_leaves_everything_as_it_was(worked: UserRepo, chorus: Shell) -> None:
    lane = lane_of(chorus)
    install_hook(worked, "pre-commit", "echo no good >&2; git diff --cached --name-only >&2; exit 1")
    before = worked.fingerprint()
    done = chorus("land", lane)
    assert done.code == 4
    assert "no good" in done.err
    assert "new.txt" in done.err
    assert "README.md" not in done.err  # staged by the user, no part of this
    assert worked.fingerprint() == before


def test_a_hook_that_fails_at_the_second_commit_undoes_the_first(worked: UserRepo, chorus: Shell) -> None:
    lane = lane_of(chorus)
    install_hook(worked, "pre-commit", "! git diff --cached --name-only | grep -q new.txt")
    before = (worked.git("rev-parse", "main"), (worked.path / ".git" / "index").read_bytes())
    assert chorus("land", lane, "--by", "action").code == 4
    assert (worked.git("rev-parse", "main"), (worked.path / ".git" / "index").read_bytes()) == before
    assert not any(entry["landed"] for entry in chorus("log", "--json").json())


def test_later_commits_build_on_what_a_hook_changed(worked: UserRepo, chorus: Shell) -> None:
    stage = "git update-index --add --cacheinfo 100644,$oid,made.txt"
    once = "[ -e .git/once ] && exit 0\ntouch .git/once"
    hook = f"{once}\noid=$(echo made | git hash-object -w --stdin)\n{stage}"
    install_hook(worked, "pre-commit", hook)
    assert chorus("land", lane_of(chorus), "--by", "action").code == 0
    assert worked.git("show", "main:made.txt") == "made\n"
    assert worked.git("log", "--format=%H", "v1..main", "--", "made.txt").count("\n") == 1


def test_an_action_on_lines_that_the_branch_changed_is_left_open(worked: UserRepo, chorus: Shell) -> None:
    lane = lane_of(chorus)
    worked.git("stash", "-q", "-u")
    worked.commit("mine", **{"app.py": b"x = 100\ny = 2\n"})
    short = worked.git("rev-parse", "--short", "HEAD").strip()
    before = worked.fingerprint()
    done = chorus("land", lane, "1")
    assert done.code == 5
    assert f"action 1: line 1 of app.py was changed on main by {short} mine" in done.err
    lane_commit = chorus("show", "1", "--json").json()["commit"]
    assert f"git cherry-pick {lane_commit[:10]}" in done.err
    assert worked.fingerprint() == before
    # By number: the stash has removed them from disk.
    done = chorus("land", lane, "1", "2", "3")
    assert done.code == 0
    assert "(actions 2, 3)" in done.out
    assert "1 action left open\n  action 1: line 1 of app.py" in done.err
    assert worked.git("show", "main:app.py") == "x = 100\ny = 2\n"
    assert [entry["status"] for entry in chorus("log", "--json").json()][1:] == ["landed", "landed"]
    listed = chorus("log", "--status", "landed", "--json").json()
    assert [entry["n"] for entry in listed] == [2, 3]
    # As the hint says: resolved by hand, it is landed and does not come up again.
    worked.git("checkout", "-q", "--", ".")
    subprocess.run(["git", "cherry-pick", lane_commit], cwd=worked.path, capture_output=True, check=False)
    worked.write("app.py", b"x = 109\ny = 2\n")
    worked.git("add", "app.py")
    worked.git("-c", "core.editor=true", "cherry-pick", "--continue")
    assert chorus("land", lane).code == 3
    assert [entry["status"] for entry in chorus("log", "--json").json()] == ["landed"] * 3


def test_a_branch_with_changes_on_other_lines_is_landed_on(worked: UserRepo, chorus: Shell) -> None:
    lane = lane_of(chorus)
    worked.git("commit", "-qm", "the staged readme")
    assert chorus("land", lane).code == 0
    assert worked.git("show", "main:README.md") == "# demo\n\nstaged\n"
    assert worked.git("show", "main:new.txt") == "hello\n"


def test_changes_the_user_already_committed_are_not_committed_again(worked: UserRepo, chorus: Shell) -> None:
    lane = lane_of(chorus)
    worked.git("commit", "-qm", "by hand", "app.py", "run.sh")
    done = chorus("land", lane, "--by", "action", "--json").json()
    assert [commit["actions"] for commit in done["commits"]] == [[2]]
    assert done["present"] == [1, 3]
    assert chorus("land", lane).code == 3


def test_a_path_with_other_staged_changes_is_refused_by_name(worked: UserRepo, chorus: Shell) -> None:
    lane = lane_of(chorus)
    worked.write("app.py", b"x = 8\ny = 3\n")
    worked.git("add", "app.py")
    before = worked.fingerprint()
    done = chorus("land", lane, "1")
    assert done.code == 5
    assert "action 1: line 1 of app.py has other content staged" in done.err
    assert worked.fingerprint() == before
    staged = worked.git("diff", "--cached", "--", "app.py", "README.md")
    done = chorus("land", lane, "--json").json()
    assert [commit["actions"] for commit in done["commits"]] == [[2, 3]]
    assert [(place["n"], place["line"], place["why"]) for place in done["left"]] == [(1, 1, "staged")]
    assert worked.git("diff", "--cached", "--", "app.py", "README.md") == staged


def test_a_staged_line_beside_a_landed_one_stays_staged(worked: UserRepo, chorus: Shell) -> None:
    lane = lane_of(chorus)
    worked.write("app.py", b"x = 9\ny = 3\n")
    worked.git("add", "app.py")
    assert chorus("land", lane).code == 0
    assert worked.git("show", "main:app.py") == "x = 9\ny = 2\n"
    assert worked.git("show", ":app.py") == "x = 9\ny = 3\n"


def test_reverted_actions_are_left_out(worked: UserRepo, chorus: Shell) -> None:
    lane = lane_of(chorus)
    assert chorus("revert", "1").code == 0
    done = chorus("land", lane, "--json").json()
    assert [commit["actions"] for commit in done["commits"]] == [[2, 3]]
    assert worked.git("diff", "--name-only", "v1..main").split() == ["new.txt", "run.sh"]


def test_a_lane_is_landed_in_parts_and_a_later_revert_too(worked: UserRepo, chorus: Shell) -> None:
    lane = lane_of(chorus)
    assert chorus("land", lane).code == 0
    assert chorus("land", lane).code == 3
    with Recorder.open(worked.path) as recorder:
        Agent(worked, recorder).replace("new.txt", b"hello", b"hello again")
    assert chorus("land", lane, "--json").json()["commits"][0]["actions"] == [4]
    assert chorus("revert", "1").code == 0
    assert chorus("land", lane, "--json").json()["commits"][0]["actions"] == [5]
    assert worked.git("show", "main:app.py") == "x = 1\ny = 2\n"
    assert worked.git("show", "main:new.txt") == "hello again\n"


def test_another_branch_is_landed_on_without_a_checkout(worked: UserRepo, chorus: Shell) -> None:
    lane = lane_of(chorus)
    worked.git("branch", "other", "main~1")
    install_hook(worked, "commit-msg", 'git symbolic-ref HEAD >> "$1"')
    before = worked.fingerprint()
    done = chorus("land", lane, "--onto", "other", "--by", "action", "--dry-run")
    assert done.code == 0, done.err  # app.py had no second line then, but it had the line that changed
    worked.git("branch", "-f", "other", "main")
    done = chorus("land", lane, "--onto", "other")
    assert done.code == 0, done.err
    after = worked.fingerprint()
    assert after["work tree"] == before["work tree"]
    assert after["git dir"]["index"] == before["git dir"]["index"]
    assert worked.git("show", "other:new.txt") == "hello\n"
    assert "refs/heads/other" in worked.git("log", "-1", "--format=%B", "other")
    assert subjects(worked) == []


def test_a_branch_checked_out_elsewhere_is_left_alone(
    worked: UserRepo, chorus: Shell, tmp_path: Path
) -> None:
    worked.git("worktree", "add", "-q", "-b", "there", str(tmp_path / "there"))
    done = chorus("land", lane_of(chorus), "--onto", "there")
    assert done.code == 6
    assert str(tmp_path / "there") in done.err


def test_line_endings_are_landed_as_git_stores_them(repo: UserRepo, chorus: Shell) -> None:
    repo.git("stash", "-q", "-u")
    repo.commit("text", **{".gitattributes": b"*.txt text eol=crlf\n", "a.txt": b"one\r\ntwo\r\n"})
    with Recorder.open(repo.path) as recorder:
        Agent(repo, recorder).replace("a.txt", b"two\r\n", b"three\r\n")
    assert chorus("land", lane_of(chorus)).code == 0
    assert repo.git("show", "main:a.txt") == "one\nthree\n"
    assert repo.git("status", "--porcelain") == ""
    assert (repo.path / "a.txt").read_bytes() == b"one\r\nthree\r\n"


def test_landing_a_missing_lane_exits_with_3(worked: UserRepo, chorus: Shell) -> None:
    assert chorus("land", "chorus/none").code == 3


KILL_WATCHER = 'kill -9 "$(cat "$(git rev-parse --git-common-dir)/chorus/spool/watcher")"'


def landed(chorus: Shell) -> list[bool]:
    """After another agent has started."""
    assert chorus("revert", "99").code == 3
    return [entry["landed"] for entry in chorus("log", "--json").json()]


@pytest.mark.parametrize("onto", ["main", "other"])
def test_a_landing_killed_between_two_commits_is_undone(worked: UserRepo, chorus: Shell, onto: str) -> None:
    lane = lane_of(chorus)
    worked.git("branch", "other")
    before = worked.fingerprint()
    install_hook(worked, "pre-commit", f"[ -e {lane_mark(worked)} ] && {{ {KILL_WATCHER}; exit 1; }}; exit 0")
    install_hook(worked, "post-commit", f"touch {lane_mark(worked)}")
    assert chorus("land", lane, "--onto", onto, "--by", "action").code != 0
    for name in ("pre-commit", "post-commit"):
        (worked.path / ".git" / "hooks" / name).unlink()
    assert landed(chorus) == [False] * 3
    after = worked.fingerprint()
    assert (after["refs"], after["status"]) == (before["refs"], before["status"])
    assert after["git dir"]["index"] == before["git dir"]["index"]
    assert chorus("land", lane, "--onto", onto, "--by", "action").code == 0
    assert len(subjects(worked, onto)) == 3
    assert worked.fsck() == ""


def lane_mark(repo: UserRepo) -> Path:
    return repo.path.parent / "first-commit-made"


def test_a_landing_killed_after_its_last_commit_is_finished(worked: UserRepo, chorus: Shell) -> None:
    lane = lane_of(chorus)
    before = user_state(worked)
    last = '[ "$(git rev-list --count v1..HEAD)" = 3 ]'
    install_hook(worked, "post-commit", f"if {last}; then {KILL_WATCHER}; fi")
    assert chorus("land", lane, "--by", "action").code != 0
    (worked.path / ".git" / "hooks" / "post-commit").unlink()
    assert landed(chorus) == [True] * 3
    assert len(subjects(worked)) == 3
    assert user_state(worked) == before
    assert chorus("land", lane).code == 3
    chorus("drop", "--all")
    assert chorus("gc", "--all").code == 0
    assert worked.fsck() == ""


def test_commits_the_user_made_after_a_killed_landing_stay(worked: UserRepo, chorus: Shell) -> None:
    lane = lane_of(chorus)
    install_hook(worked, "pre-commit", f"[ -e {lane_mark(worked)} ] && {{ {KILL_WATCHER}; exit 1; }}; exit 0")
    install_hook(worked, "post-commit", f"touch {lane_mark(worked)}")
    assert chorus("land", lane, "--by", "action").code != 0
    for name in ("pre-commit", "post-commit"):
        (worked.path / ".git" / "hooks" / name).unlink()
    worked.git("commit", "-q", "--allow-empty", "-m", "mine")
    assert landed(chorus) == [False] * 3
    assert subjects(worked)[-1] == "mine"
    assert chorus("land", lane).code == 0


def test_commits_are_signed_by_gpg_where_the_user_does(
    worked: UserRepo, chorus: Shell, short_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("gpg") is None:
        pytest.skip("no gpg on this machine")
    monkeypatch.setenv("GNUPGHOME", str(short_directory))  # its agent has a socket there
    key = ["--passphrase", "", "--quick-gen-key", "Ada User <ada@example.com>", "ed25519", "sign", "never"]
    subprocess.run(["gpg", "--batch", "--quiet", *key], check=True, capture_output=True)
    worked.git("config", "commit.gpgSign", "true")
    try:
        done = chorus("land", lane_of(chorus), "--by", "action")
        assert done.code == 0, done.err
        for commit in worked.git("rev-list", "v1..main").split():
            worked.git("verify-commit", commit)
    finally:
        subprocess.run(["gpgconf", "--kill", "all"], check=True)


def editor(repo: UserRepo, script: str) -> str:
    place = repo.path.parent / "editor"
    place.write_text(f"#!/bin/sh\n{script}\n")
    place.chmod(0o755)
    return str(place)


def test_messages_are_edited_in_the_editor_git_would_use(worked: UserRepo, chorus: Shell) -> None:
    lane = lane_of(chorus)
    change = editor(
        worked, 'cp "$1" "$0.saw"; printf "Said %s\\n\\nMore.\\n# no\\n" "$(head -n 1 "$1")" > "$1"'
    )
    worked.git("config", "core.editor", change)
    done = chorus("land", lane, "-e", "--by", "action", EDITOR="false", VISUAL="false")
    assert done.code == 0, done.err
    assert subjects(worked)[0] == "Said I raise x"
    message = worked.git("log", "-1", "--format=%B")
    assert "More." in message
    assert "# no" not in message
    assert "Chorus-Actions: toolu_" in message
    assert "# Commit 3 of 3, onto main: action 3." in (worked.path.parent / "editor.saw").read_text()


@pytest.mark.parametrize(("script", "code"), [(': > "$1"', 3), ("exit 1", 4)])
def test_an_empty_message_or_a_failing_editor_lands_nothing(
    worked: UserRepo, chorus: Shell, script: str, code: int
) -> None:
    lane = lane_of(chorus)
    before = worked.fingerprint()
    done = chorus("land", lane, "-e", GIT_EDITOR=editor(worked, script))
    assert done.code == code, done.err
    assert worked.fingerprint() == before
    assert not [
        p.name for p in (worked.path / ".git/chorus").iterdir() if p.name.startswith(("landing-", "message-"))
    ]


def test_actions_made_while_the_message_is_edited_are_landed_another_time(
    worked: UserRepo, chorus: Shell
) -> None:
    lane = lane_of(chorus)
    with Recorder.open(worked.path) as recorder:
        plan = plan_landing(
            recorder, LandingRequest(lane, messages=CommitMessages(messages={(1, 2): "Two of three"}))
        )
        assert [group.numbers for group in plan.groups] == [[1, 2]]
        with pytest.raises(LaneChanged):
            plan_landing(
                recorder, LandingRequest(lane, messages=CommitMessages(messages={(1, 9): "Not there"}))
            )


def test_landing_may_take_longer_than_other_requests(
    worked: UserRepo, chorus: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane = lane_of(chorus)
    go = worked.path.parent / "go"
    install_hook(worked, "pre-commit", f"sleep 1; touch {go}")
    assert chorus("keep", "1").code == 0  # which starts the watcher
    with connect(find_home(worked.path)) as watcher:
        monkeypatch.setattr(client, "ANSWER_TIMEOUT_SECONDS", 0.2)
        done = watcher.ask("land", lane=lane, cwd=str(worked.path))
    assert go.exists()
    assert len(done["commits"]) == 1
