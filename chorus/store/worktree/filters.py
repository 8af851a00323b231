"""Convert bytes between the work tree and git: line ends, `ident`, encodings and filter programs.

Paths without conversion are recognised without a process. If a filter fails, the bytes come back unchanged
with a warning.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from chorus.model.ids import Oid, RepoPath
from chorus.store.git_process import error_text, join_names, split_names
from chorus.store.objects.object_store import ObjectStore
from chorus.store.repository import Repository
from chorus.store.worktree.rule_files import MAX_CACHED_ANSWERS, RuleFiles, RuleStamp

ATTRIBUTES = ("text", "crlf", "eol", "ident", "filter", "working-tree-encoding")
UNSPECIFIED = "unspecified"
# A filter that takes longer on one file waits for a network or the user.
FILTER_TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Converted:
    """`warning`: why the bytes are not converted as git would."""

    data: bytes
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Conversion:
    """Which conversions apply to a path, into git (CRLF to LF) and out of it (LF to CRLF)."""

    line_ends_in: bool = False
    line_ends_out: bool = False
    ident: bool = False
    encoding: bool = False
    driver: bool = False

    @property
    def may_keep_size(self) -> bool:
        """Whether the bytes may change while their number stays the same."""
        return self.encoding or self.driver

    def changes_in(self, raw: bytes) -> bool:
        return self.may_keep_size or (self.line_ends_in and b"\r\n" in raw) or (self.ident and b"$Id:" in raw)

    def changes_out(self, data: bytes) -> bool:
        return self.may_keep_size or (self.line_ends_out and b"\n" in data) or (self.ident and b"$Id" in data)


NOTHING = Conversion()


class Filters:
    def __init__(self, repository: Repository, store: ObjectStore) -> None:
        self._repository = repository
        self._store = store
        everywhere = [
            repository.common_dir / "info" / "attributes",
            repository.config.rule_file("core.attributesfile", "attributes"),
        ]
        self._rules = RuleFiles(repository, ".gitattributes", everywhere)
        self._known: dict[RepoPath, tuple[RuleStamp, Conversion]] = {}

    def to_git(self, path: RepoPath, raw: bytes) -> Converted:
        """The normalised form: what `git add` would store."""
        if not self.conversions([path])[path].changes_in(raw):
            return Converted(raw)
        done = self._repository.git.attempt(
            "-c",
            "core.safecrlf=false",
            "hash-object",
            "-w",
            "--stdin",
            f"--path={path}",
            stdin=raw,
            extra=self._store.writing_environment(),
            limit_seconds=FILTER_TIMEOUT_SECONDS,
        )
        if done.returncode:
            return Converted(raw, f"{path} is not converted: {error_text(done)}")
        return Converted(
            self._store.read_blob(Oid(done.stdout.decode().strip())), filter_warning(path, done.stderr)
        )

    def to_worktree(self, path: RepoPath, data: bytes) -> Converted:
        """What a checkout would write."""
        if not self.conversions([path])[path].changes_out(data):
            return Converted(data)
        blob = self._store.write_blob(data)
        done = self._repository.git.attempt(
            "cat-file", "--filters", f"--path={path}", blob, limit_seconds=FILTER_TIMEOUT_SECONDS
        )
        if done.returncode:
            return Converted(data, f"{path} is written without conversion: {error_text(done)}")
        return Converted(done.stdout, filter_warning(path, done.stderr))

    def conversions(self, paths: Iterable[RepoPath]) -> dict[RepoPath, Conversion]:
        """The conversion of each path. Answers are cached."""
        wanted = list(paths)
        known = self._known
        if len(known) > MAX_CACHED_ANSWERS:
            known.clear()
        marks = dict(self._rules.stamp_paths(wanted))
        new = {path: marks[path] for path in wanted if path not in known or known[path][0] != marks[path]}
        found = self._ask(new)
        known.update((path, (mark, found.get(path, NOTHING))) for path, mark in new.items())
        return {path: known[path][1] for path in wanted}

    def converted(self, paths: Iterable[RepoPath]) -> dict[RepoPath, Conversion]:
        """The paths with a conversion, of any number of paths. Answers are not cached."""
        return self._ask(dict(self._rules.stamp_paths(paths)))

    def _ask(self, marks: Mapping[RepoPath, RuleStamp]) -> dict[RepoPath, Conversion]:
        """Ask git about them. Not needed without `core.autocrlf` and any attributes file above the path."""
        always = self._autocrlf() != "false"
        paths = [path for path, mark in marks.items() if always or any(mark[1:])]
        if not paths:
            return {}
        output = self._repository.git.run("check-attr", "-z", "--stdin", *ATTRIBUTES, stdin=join_names(paths))
        fields = iter(split_names(output))
        values: dict[RepoPath, dict[str, str]] = {}
        for path, name, value in zip(fields, fields, fields, strict=True):
            values.setdefault(path, {})[name] = value
        found = {path: self._conversion(these) for path, these in values.items()}
        return {path: conversion for path, conversion in found.items() if conversion != NOTHING}

    def _conversion(self, values: dict[str, str]) -> Conversion:
        text = values["text"] if values["text"] != UNSPECIFIED else values["crlf"]
        eol = values["eol"]
        autocrlf = self._autocrlf()
        line_ends = text != "unset" and (text != UNSPECIFIED or eol != UNSPECIFIED or autocrlf != "false")
        native_crlf = autocrlf == "true" or self._repository.config.get("core.eol") == "crlf"
        return Conversion(
            line_ends_in=line_ends,
            line_ends_out=line_ends and (eol == "crlf" or (eol == UNSPECIFIED and native_crlf)),
            ident=values["ident"] == "set",
            encoding=values["working-tree-encoding"] not in (UNSPECIFIED, "unset", "set"),
            driver=self._has_driver(values["filter"]),
        )

    def _autocrlf(self) -> str:
        if (self._repository.config.get("core.autocrlf") or "").lower() == "input":
            return "input"
        return "true" if self._repository.config.get_bool("core.autocrlf", default=False) else "false"

    def _has_driver(self, name: str) -> bool:
        settings = ("clean", "smudge", "process", "required")
        return any(self._repository.config.get(f"filter.{name}.{setting}") for setting in settings)


def filter_warning(path: RepoPath, stderr: bytes) -> str | None:
    """The error git printed although it succeeded: a filter that is not required failed."""
    lines = stderr.decode(errors="replace").splitlines()
    failure = next((line for line in lines if line.startswith(("error:", "fatal:"))), None)
    return f"{path} is not converted: {failure}" if failure else None
