"""The chain of timeline commits, as `git log` prints it.

Receives where it begins. Gives its records: all of them, oldest first, or one by one from the newest end, at
the cost of those that are taken. Never writes.
"""

import gc
import os
import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from chorus.history.records import Record, parse_record
from chorus.model.ids import Oid
from chorus.store.git_process import Git, GitFailed

PREFIX = "refs/chorus/timeline/"
# Object, tree, seconds, message.
FORMAT = "%H %T %ct%n%B"
LOG = ("log", "--first-parent", "-z", "--encoding=UTF-8", f"--format={FORMAT}")
# What is read of git's output at a time: some 80 records.
CHUNK_BYTES = 2**16


class Recorded(NamedTuple):
    """A record and the timeline commit that holds it. `seconds`: when it was written."""

    oid: Oid
    tree: Oid
    seconds: int
    record: Record


class ChainUnreadable(GitFailed):
    """The chain alone gives no answer: it is not there, cannot be printed to its end, or says too little."""


def read_chain(git: Git, tip: Oid) -> list[Recorded]:
    """Every record, oldest first: parsed while git still reads what is older."""
    with without_collecting():
        try:
            return [parse_logged(item.decode()) for item in read_items(git, tip)][::-1]
        except ChainUnreadable:
            # Once more, for git's own words about it.
            items = git.run(*LOG, tip, "--").decode().split("\0")[:-1]
            return [parse_logged(item) for item in items][::-1]


@contextmanager
def without_collecting() -> Iterator[None]:
    """Nothing of a history that is being read is garbage: looking for some takes a third of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def read_items(git: Git, ref: str) -> Generator[bytes, None, None]:
    """Record after record, unparsed, from the newest on. Who has enough closes it: git is ended then."""
    process = git.start(*LOG, ref, "--")
    try:
        yield from _split(process)
        if process.wait():
            raise ChainUnreadable(f"`git log {ref}` failed with exit code {process.returncode}")
    finally:
        process.kill()
        process.communicate()


def _split(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    assert process.stdout is not None
    rest = b""
    while chunk := os.read(process.stdout.fileno(), CHUNK_BYTES):
        *items, rest = (rest + chunk).split(b"\0")
        yield from items


def parse_logged(item: str) -> Recorded:
    header, _, message = item.partition("\n")
    oid, tree, seconds = header.split(" ")
    return Recorded(Oid(oid), Oid(tree), int(seconds), parse_record(message))
