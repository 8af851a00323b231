"""Convert bytes of the work tree as `git add` does: line ends, `ident`, encodings and filter programs.

If a filter program fails, the bytes are returned without the program's conversion, and with a warning.
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
# A filter program that takes longer on one file probably waits for a network or the user.
FILTER_TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Converted:
    """The converted bytes. `warning`: why a conversion failed."""

    data: bytes
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Conversion:
    """The conversions that git applies to the bytes of a path when it stores them."""

    line_ends: bool = False  # CRLF to LF
    ident: bool = False
    encoding: bool = False
    driver: bool = False

    @property
    def may_keep_size(self) -> bool:
        """True if the conversion may change the bytes without changing their number."""
        return self.encoding or self.driver

    def changes_in(self, raw: bytes) -> bool:
        return self.may_keep_size or (self.line_ends and b"\r\n" in raw) or (self.ident and b"$Id:" in raw)


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

    def conversions(self, paths: Iterable[RepoPath]) -> dict[RepoPath, Conversion]:
        wanted = list(paths)
        known = self._known
        if len(known) > MAX_CACHED_ANSWERS:
            known.clear()
        stamps = dict(self._rules.stamp_paths(wanted))
        new = {path: stamps[path] for path in wanted if path not in known or known[path][0] != stamps[path]}
        found = self._ask(new)
        known.update((path, (stamp, found.get(path, NOTHING))) for path, stamp in new.items())
        return {path: known[path][1] for path in wanted}

    def converted(self, paths: Iterable[RepoPath]) -> dict[RepoPath, Conversion]:
        """The conversions of the paths that have one. Nothing is cached, so any number of paths is fine."""
        return self._ask(dict(self._rules.stamp_paths(paths)))

    def _ask(self, stamps: Mapping[RepoPath, RuleStamp]) -> dict[RepoPath, Conversion]:
        """Ask git for the conversions of these paths. Paths without a conversion are left out."""
        always = self._autocrlf()
        paths = [path for path, stamp in stamps.items() if always or any(stamp[1:])]
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
        is_text = text != UNSPECIFIED or values["eol"] != UNSPECIFIED or self._autocrlf()
        return Conversion(
            line_ends=text != "unset" and is_text,
            ident=values["ident"] == "set",
            encoding=values["working-tree-encoding"] not in (UNSPECIFIED, "unset", "set"),
            driver=self._has_driver(values["filter"]),
        )

    def _autocrlf(self) -> bool:
        config = self._repository.config
        is_input = (config.get("core.autocrlf") or "").lower() == "input"
        return is_input or config.get_bool("core.autocrlf", default=False)

    def _has_driver(self, name: str) -> bool:
        settings = ("clean", "smudge", "process", "required")
        return any(self._repository.config.get(f"filter.{name}.{setting}") for setting in settings)


def filter_warning(path: RepoPath, stderr: bytes) -> str | None:
    """A warning if git printed an error although it succeeded: a filter that is not required failed."""
    lines = stderr.decode(errors="replace").splitlines()
    failure = next((line for line in lines if line.startswith(("error:", "fatal:"))), None)
    return f"{path} is not converted: {failure}" if failure else None
