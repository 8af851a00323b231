"""`chorus pr` prints a lane as a pull request, and `chorus note` writes what goes into it."""

from tests.commands.conftest import Shell
from tests.repos import UserRepo


def test_a_lane_is_printed_as_a_pull_request(worked: UserRepo, chorus: Shell) -> None:
    lane = chorus("lanes", "--json").json()[0]["name"]
    number = chorus("log", "--json", "--open").json()[-1]["n"]
    written = chorus("note", f"{number}:1", "say", "why")
    assert (written.code, written.out.split(":")[-1].strip()) == (0, "draft")
    assert chorus("note", f"{number}:0", "x").code == 2
    assert chorus("notes").out.startswith("1 draft: action")
    assert chorus("notes", "send").code == 6, "the session has ended"

    printed = chorus("pr", lane)
    assert (printed.code, printed.err) == (0, "")
    assert "## What was asked, and what was done" in printed.out
    assert "- [ ] say why" in printed.out
    title = chorus("pr", lane, "--title").out.strip()
    assert chorus("pr", lane, "--json").json() == {"lane": lane, "title": title, "body": printed.out}
    assert chorus("pr", "chorus/none").code == 3

    assert chorus("notes", "done", "1").out.startswith("1 addressed")
    assert chorus("notes", "drop", "1").out == "dropped note 1\n"
    assert chorus("notes", "drop", "1").code == 3
    assert chorus("notes", "drop").code == 2
    assert chorus("notes").code == 3
