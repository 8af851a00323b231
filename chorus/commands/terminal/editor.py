"""Texts written in the user's editor, by git's rules: which one, how it is run, what counts as nothing."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chorus.errors import ChorusError, ExitCode, NotFound

# The name by which editors know what they are editing.
FILE_NAME = "COMMIT_EDITMSG"


class EditorFailed(ChorusError):
    """There is no editor, or it failed."""

    hint = "Set core.editor, GIT_EDITOR, VISUAL or EDITOR, or give the message with -m."


class EmptyMessage(NotFound):
    exit_code = ExitCode.NOT_FOUND
    hint = "Write at least one line that is no comment."


def edit_messages(commits: Sequence[Mapping[str, Any]], onto: str, folder: Path) -> list[dict[str, Any]]:
    """The message of each commit, as the person wants it."""
    said = []
    for place, commit in enumerate(commits, 1):
        numbers = ", ".join(map(str, commit["actions"]))
        about = [
            f"Commit {place} of {len(commits)}, onto {onto}: action {numbers}.",
            "Lines that begin with this sign are left out; an empty message lands nothing.",
            "What leads from a line back to its action is added below.",
        ]
        text = edit_text(commit["message"], about, folder)
        if not text:
            raise EmptyMessage("the message is empty; nothing was landed")
        said.append({"actions": commit["actions"], "message": text})
    return said


def edit_text(text: str, about: Sequence[str], folder: Path) -> str:
    """What the editor leaves of the text, without comments."""
    place = folder / FILE_NAME
    comments = _git(folder, "stripspace", "--comment-lines", stdin="\n".join(about))
    place.write_text(f"{text}\n\n{comments}", encoding="utf-8")
    editor = _git(folder, "var", "GIT_EDITOR").strip()
    # As git runs it: a shell's words, with the file after them.
    done = subprocess.run(["/bin/sh", "-c", f'{editor} "$@"', editor, str(place)])
    if done.returncode:
        raise EditorFailed(f"the editor {editor!r} failed with {done.returncode}; nothing was landed")
    written = place.read_bytes().decode("utf-8", "surrogateescape")
    return _git(folder, "stripspace", "--strip-comments", stdin=written).strip("\n")


def _git(folder: Path, *words: str, stdin: str = "") -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, input=stdin.encode("utf-8", "surrogateescape"), capture_output=True
    )
    if done.returncode:
        raise EditorFailed(done.stderr.decode(errors="replace").strip())
    return done.stdout.decode("utf-8", "surrogateescape")
