"""A user's repository to test on: real git, real files, and a fingerprint of all that is the user's.

Call `make_template` once and `UserRepo.copy` per test: a copy takes 1 ms, `git init` and a commit 18.
`read_commits`, `read_files`, `read_file` and `read_refs` read with GitPython, an independent reader.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from git import Repo as GitPythonRepo

# What Chorus may write to. Everything else in a repository belongs to the user.
OWN_REFS = ("refs/chorus/", "refs/heads/chorus/")
OWN_PLACES = (
    "chorus",
    "objects",
    "logs/refs/chorus",
    "logs/refs/heads/chorus",
    "refs/chorus",
    "refs/heads/chorus",
)

FILES = {
    "README.md": b"# demo\n",
    "app.py": b"x = 1\n",
    "src/main.py": b"def main():\n    return 0\n",
    "src/deep/er/file.txt": b"one\ntwo\nthree\n",
    "run.sh": b"#!/bin/sh\necho hi\n",
    ".gitignore": b"*.log\n.env\nbuild/\n",
}


class SeenCommit(NamedTuple):
    """A commit as GitPython reads it."""

    oid: str
    summary: str
    author: str
    committer: str
    trailers: dict[str, list[str]]


class UserRepo:
    """A work tree with some commits, and git run in it as its user would."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def copy(cls, template: Path, path: Path) -> "UserRepo":
        shutil.copytree(template, path, symlinks=True)
        return cls(path)

    @property
    def git_dir(self) -> Path:
        return self.path / self.git("rev-parse", "--git-dir").strip()

    def git(self, *arguments: str, stdin: bytes = b"", **variables: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            input=stdin,
            capture_output=True,
            env=os.environ | variables,
        )
        assert done.returncode == 0, f"git {arguments}: {done.stderr.decode(errors='replace')}"
        return os.fsdecode(done.stdout)

    def write(self, path: str, data: bytes) -> Path:
        place = self.path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        return place

    def commit(self, message: str, **files: bytes) -> str:
        for path, data in files.items():
            self.write(path, data)
        self.git("add", "-A")
        self.git("commit", "-qm", message)
        return self.git("rev-parse", "HEAD").strip()

    @contextmanager
    def open_gitpython(self) -> Iterator["GitPythonRepo"]:
        import git  # noqa: PLC0415  takes 100 ms, and few tests need it

        with git.Repo(self.path) as repo:
            yield repo

    def read_commits(self, revisions: str) -> list[SeenCommit]:
        """The commits of a revision or range, newest first."""
        with self.open_gitpython() as repo:
            return [
                SeenCommit(
                    commit.hexsha,
                    str(commit.summary),
                    str(commit.author),
                    str(commit.committer),
                    commit.trailers_dict,
                )
                for commit in repo.iter_commits(revisions)
            ]

    def read_files(self, revision: str) -> dict[str, bytes]:
        """Every file of a revision."""
        from git import Blob  # noqa: PLC0415  slow to load

        with self.open_gitpython() as repo:
            blobs = [item for item in repo.commit(revision).tree.traverse() if isinstance(item, Blob)]
            return {str(blob.path): blob.data_stream.read() for blob in blobs}

    def read_file(self, revision: str, path: str) -> bytes:
        with self.open_gitpython() as repo:
            return bytes((repo.commit(revision).tree / path).data_stream.read())

    def read_refs(self, prefix: str = "refs/") -> dict[str, str]:
        """Object ids by name."""
        with self.open_gitpython() as repo:
            found = {ref.path: ref.object.hexsha for ref in repo.refs}
            return {str(name): oid for name, oid in found.items() if str(name).startswith(prefix)}

    def fsck(self) -> str:
        """The problems `git fsck --strict` reports: none in a healthy repository."""
        done = subprocess.run(
            ["git", "fsck", "--strict", "--no-dangling", "--no-progress"],
            cwd=self.path,
            capture_output=True,
            text=True,
        )
        lines = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("notice:")]
        return "\n".join([*lines, *([f"exit {done.returncode}"] if done.returncode else [])])

    def fingerprint(self) -> dict[str, Any]:
        """Everything that watching must not change. Reading it changes nothing either."""
        refs = self.git("for-each-ref", "--format=%(refname) %(objectname) %(symref)").splitlines()
        files = snapshot(self.git_dir).items()
        return {
            "status": self.git("--no-optional-locks", "status", "--porcelain=v2", "--branch", "-z"),
            "refs": [line for line in refs if not line.startswith(OWN_REFS)],
            "git dir": {
                # git itself gives a shared index a new date each time it reads it.
                name: (0, 0, state[2]) if name.startswith("sharedindex.") else state
                for name, state in files
                if not name.startswith(OWN_PLACES)
            },
            "work tree": {
                name: state for name, state in snapshot(self.path).items() if name.split("/")[0] != ".git"
            },
        }


def snapshot(root: Path) -> dict[str, tuple[int, int, bytes]]:
    """Mode, modification time and bytes of every file below `root`."""
    found = {}
    for directory, _, files in os.walk(os.fsencode(root)):
        for file in files:
            place = os.path.join(directory, file)  # noqa: PTH118  names that are no text
            state = os.lstat(place)
            data = os.readlink(place) if os.path.islink(place) else read_plain(place)  # noqa: PTH114, PTH115  names that are no text
            found[os.fsdecode(os.path.relpath(place, os.fsencode(root)))] = (
                state.st_mode,
                state.st_mtime_ns,
                data,
            )
    return found


def read_plain(place: bytes) -> bytes:
    if not os.path.isfile(place):  # noqa: PTH113  names that are no text
        return b""
    with open(place, "rb") as file:  # noqa: PTH123  names that are no text
        return file.read()


def make_template(path: Path) -> Path:
    """Two commits on `main`, a tag, a stash, staged, unstaged and untracked work."""
    path.mkdir()
    repo = UserRepo(path)
    repo.git("init", "-q", "-b", "main")
    for name, data in FILES.items():
        repo.write(name, data)
    (path / "run.sh").chmod(0o755)
    (path / "link").symlink_to("app.py")
    repo.commit("first")
    repo.commit("second", **{"app.py": b"x = 1\ny = 2\n"})
    repo.git("tag", "v1")
    repo.write("app.py", b"x = stashed\n")
    repo.git("stash", "-q")
    repo.write("README.md", b"# demo\n\nstaged\n")
    repo.git("add", "README.md")
    repo.write("src/main.py", b"def main():\n    return 1\n")
    repo.write("notes.txt", b"untracked\n")
    repo.write("debug.log", b"ignored\n")
    return path
