"""Commit objects as values. Header fields that Chorus does not use, such as the signature, are not kept."""

import re
from dataclasses import dataclass
from functools import lru_cache

from chorus.model.ids import Oid


@dataclass(frozen=True, slots=True)
class Signature:
    """A name with a time: seconds since the epoch and the time zone."""

    name: str
    email: str
    seconds: int
    zone: str = "+0000"


@dataclass(frozen=True, slots=True)
class Commit:
    tree: Oid
    parents: tuple[Oid, ...]
    author: Signature
    committer: Signature
    message: str
    encoding: str | None = None  # of the message; None: UTF-8

    @property
    def first_parent(self) -> Oid | None:
        return next(iter(self.parents), None)


# git strips these from names and addresses, because they would end the field.
UNSAFE = re.compile(r"[<>\n\0]")
SIGNATURE = re.compile(r"(?P<name>.*?) ?<(?P<email>[^>]*)>(?: (?P<seconds>-?\d+))?(?: (?P<zone>[+-]\d+))?")


@lru_cache(maxsize=64)
def render_signature(who: Signature) -> str:
    """Render `NAME <EMAIL> SECONDS ZONE`, as in commits and reflogs."""
    name = UNSAFE.sub("", who.name).strip() or "unknown"
    return f"{name} <{UNSAFE.sub('', who.email).strip()}> {who.seconds} {who.zone}"


def parse_signature(text: str) -> Signature:
    """Parse a signature leniently: old commits may contain signatures that git no longer writes."""
    found = SIGNATURE.match(text)
    if found is None:
        return Signature(text, "", 0)
    return Signature(found["name"], found["email"], int(found["seconds"] or 0), found["zone"] or "+0000")


def render_commit(commit: Commit) -> bytes:
    parents = "".join(f"parent {parent}\n" for parent in commit.parents)
    author, committer = render_signature(commit.author), render_signature(commit.committer)
    # git ends a commit at a NUL, so one in a message would hide the rest of it.
    message = commit.message.replace("\0", "")
    encoding = f"encoding {commit.encoding}\n" if commit.encoding else ""
    text = f"tree {commit.tree}\n{parents}author {author}\ncommitter {committer}\n{encoding}\n{message}"
    return text.encode("utf-8", "surrogateescape")


def parse_commit(data: bytes) -> Commit:
    header, _, message = data.partition(b"\n\n")
    fields: dict[str, list[str]] = {}
    for line in header.decode("utf-8", "surrogateescape").split("\n"):
        key, _, value = line.partition(" ")
        fields.setdefault(key, []).append(value)
    return Commit(
        tree=Oid(fields["tree"][0]),
        parents=tuple(Oid(parent) for parent in fields.get("parent", [])),
        author=parse_signature(fields["author"][0]),
        committer=parse_signature(fields["committer"][0]),
        message=message.decode("utf-8", "surrogateescape"),
        encoding=fields["encoding"][0] if "encoding" in fields else None,
    )
