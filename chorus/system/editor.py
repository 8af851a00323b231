"""The user's editor: the command that opens a file, and the editing of commit messages."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chorus.errors import ChorusError, NotFound

if TYPE_CHECKING:
    from chorus.model.api.json_api import LandedCommitJson
    from chorus.model.api.requests import LandMessage

# Editors recognise a commit message by this name.
FILE_NAME = "COMMIT_EDITMSG"
# Editors that take the line to start at as `+N`.
LINE_EDITORS = frozenset({"vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "micro", "kak", "joe"})


class EditorFailed(ChorusError):
    hint = "Set core.editor, GIT_EDITOR, VISUAL or EDITOR, or give the message with -m."


class EmptyMessage(NotFound):
    hint = "Write at least one line that is not a comment."


def editor_command(environment: Mapping[str, str], path: Path, line: int) -> list[str]:
    """Return the command that opens `path`, at `line` if the editor is one of `LINE_EDITORS`."""
    command = shlex.split(environment.get("VISUAL") or environment.get("EDITOR") or "vi") or ["vi"]
    at = [f"+{line}"] if Path(command[0]).name in LINE_EDITORS else []
    return [*command, *at, str(path)]


def edit_messages(commits: Sequence[LandedCommitJson], onto: str, directory: Path) -> list[LandMessage]:
    """Let the user edit each commit's message in turn."""
    messages: list[LandMessage] = []
    for number, commit in enumerate(commits, 1):
        word = "action" if len(commit["actions"]) == 1 else "actions"
        actions = ", ".join(map(str, commit["actions"]))
        comments = [
            f"Commit {number} of {len(commits)}, onto {onto}: {word} {actions}.",
            "Lines that start with this character are ignored; an empty message lands nothing.",
            "The trailers that link each line to its action are added below the message.",
        ]
        text = edit_text(commit["message"], comments, directory)
        if not text:
            raise EmptyMessage("the message is empty; nothing was landed")
        messages.append({"actions": commit["actions"], "message": text})
    return messages


def edit_text(text: str, comments: Sequence[str], directory: Path) -> str:
    """Let the user edit the text. Return the result without comments."""
    path = directory / FILE_NAME
    footer = _git(directory, "stripspace", "--comment-lines", stdin="\n".join(comments))
    path.write_text(f"{text}\n\n{footer}", encoding="utf-8")
    editor = _git(directory, "var", "GIT_EDITOR").strip()
    # As git runs it: a shell command line, with the file as its last argument.
    done = subprocess.run(["/bin/sh", "-c", f'{editor} "$@"', editor, str(path)])
    if done.returncode:
        raise EditorFailed(f"the editor {editor!r} exited with code {done.returncode}; nothing was landed")
    written = path.read_bytes().decode("utf-8", "surrogateescape")
    return _git(directory, "stripspace", "--strip-comments", stdin=written).strip("\n")


def _git(directory: Path, *arguments: str, stdin: str = "") -> str:
    done = subprocess.run(
        ["git", *arguments],
        cwd=directory,
        input=stdin.encode("utf-8", "surrogateescape"),
        capture_output=True,
    )
    if done.returncode:
        raise EditorFailed(done.stderr.decode(errors="replace").strip())
    return done.stdout.decode("utf-8", "surrogateescape")
