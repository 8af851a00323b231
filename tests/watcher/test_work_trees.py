"""Work trees that are removed or moved while the watcher runs."""

import shutil
import subprocess

import psutil

from chorus.model.api.json_api import StatusJson
from chorus.store.maintenance.user_copies import FILE_NAME as COPIED_TIPS
from chorus.wire.client import connect
from chorus.wire.home import Home
from tests.repos import UserRepo
from tests.waiting import wait_for
from tests.watcher.hook_events import SECONDS, Session
from tests.watcher.started import home

__all__ = ["home"]  # a fixture


def status(home: Home) -> StatusJson:
    with connect(home) as watcher:
        return watcher.ask("status")


def holds(home: Home) -> tuple[int, int]:
    """Threads and open files of the watcher."""
    process = psutil.Process(int(home.lock.read_text()))
    return process.num_threads(), process.num_fds()


def test_a_removed_work_tree_is_closed_and_watched_again_once_it_is_back(repo: UserRepo, home: Home) -> None:
    place = repo.path.parent / "linked"
    repo.git("worktree", "add", "-q", str(place), "-b", "linked")
    main, linked = Session("main", home, repo.path), Session("linked", home, place)
    main.bash("m1", "echo 1 > src/main.py")
    copied = repo.path / ".git/chorus" / COPIED_TIPS
    wait_for(copied.exists, what="the first copy", seconds=SECONDS, every=0.05)
    threads, files = holds(home)
    linked.bash("l1", "echo 1 > src/main.py")
    repo.git("worktree", "remove", "--force", str(place))

    linked.bash("l2", "true", cwd=repo.path.parent)
    main.bash("m2", "echo 2 > src/main.py")
    assert main.recorded() == [("committed", ["src/main.py"])] * 2

    def let_go() -> bool:
        # Copying runs on a worker that stays, and may have started a second one; a work tree has two threads.
        now = holds(home)
        return now[0] <= threads + 1 and now[1] <= files

    wait_for(let_go, what="the watcher lets go of it", seconds=SECONDS, every=0.05)
    found = status(home)
    assert (found["work_trees"], found["problems"]) == ([str(repo.path)], [])

    repo.git("worktree", "add", "-q", str(place), "linked")
    linked.bash("l3", "echo 3 > src/main.py")
    assert linked.recorded()[-1] == ("committed", ["src/main.py"])
    (place / "app.py").write_text("by hand\n")
    wait_for(
        lambda: linked.recorded()[-1] == ("outside", ["app.py"]), what="seen", seconds=SECONDS, every=0.05
    )


def test_a_moved_work_tree_is_known_by_its_new_path_only(repo: UserRepo, home: Home) -> None:
    place = repo.path.parent / "linked"
    repo.git("worktree", "add", "-q", str(place), "-b", "linked")
    Session("linked", home, place).bash("l1", "echo 1 > src/main.py")
    repo.git("worktree", "move", str(place), f"{place}2")

    moved = Session("linked", home, place.with_name("linked2"))
    moved.bash("l2", "echo 2 > src/main.py")
    assert moved.recorded() == [("committed", ["src/main.py"])] * 2
    shutil.copytree(moved.work_tree, place)  # another directory with its name
    assert status(home)["work_trees"] == [str(moved.work_tree)]


def test_a_repository_made_in_the_place_of_another_is_not_taken_for_it(repo: UserRepo, home: Home) -> None:
    place = repo.path.parent / "linked"
    repo.git("worktree", "add", "-q", str(place), "-b", "linked")
    linked = Session("linked", home, place)
    linked.bash("l1", "echo 1 > src/main.py")
    before = timelines(home)
    (place / ".git").unlink()
    subprocess.run(["git", "init", "-q"], cwd=place, check=True)
    linked.bash("l2", "echo 2 > src/main.py")
    assert timelines(home) == before


def timelines(home: Home) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (home.root / "timeline").iterdir() if path.is_file()}
