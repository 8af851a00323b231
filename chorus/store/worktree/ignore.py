"""Ask git which paths it ignores.

Answers are cached as long as the files they depend on are unchanged, so asking again starts no process.
"""

from collections.abc import Iterable

from chorus.model.ids import RepoPath
from chorus.store.git_process import GitFailed, error_text, join_names, split_names
from chorus.store.repository import Repository
from chorus.store.worktree.file_state import Stamp, stamp_of
from chorus.store.worktree.rule_files import MAX_CACHED_ANSWERS, RuleFiles, RuleStamp

HERE = "./"


class Ignores:
    def __init__(self, repository: Repository) -> None:
        self._git = repository.git
        self._index = repository.git_dir / "index"
        everywhere = [
            repository.common_dir / "info" / "exclude",
            repository.config.rule_file("core.excludesfile", "ignore"),
        ]
        self._rules = RuleFiles(repository, ".gitignore", everywhere)
        self._matched: dict[RepoPath, tuple[RuleStamp, bool]] = {}
        self._ignored: dict[RepoPath, tuple[Stamp | None, bool]] = {}

    def ignored(self, paths: Iterable[RepoPath]) -> set[RepoPath]:
        """The paths that an ignore rule matches, except tracked files, which git never ignores.

        The rules are checked before the index. Most paths match no rule, and their answers stay valid when
        the user's index changes.
        """
        wanted = list(paths)
        matched = self._match(wanted) if wanted else []
        return self._untracked(matched) if matched else set()

    def _match(self, paths: list[RepoPath]) -> list[RepoPath]:
        known = self._matched
        if len(known) > MAX_CACHED_ANSWERS:
            known.clear()
        marks = dict(self._rules.stamp_paths(paths))
        new = [path for path in paths if path not in known or known[path][0] != marks[path]]
        hits = self._ask(new, "--no-index")
        known.update((path, (marks[path], path in hits)) for path in new)
        return [path for path in paths if known[path][1]]

    def _untracked(self, matched: list[RepoPath]) -> set[RepoPath]:
        known = self._ignored
        if len(known) > MAX_CACHED_ANSWERS:
            known.clear()
        stamp = stamp_of(self._index)
        new = [path for path in matched if path not in known or known[path][0] != stamp]
        hits = self._ask(new)
        known.update((path, (stamp, path in hits)) for path in new)
        return {path for path in matched if known[path][1]}

    def _ask(self, paths: list[RepoPath], *options: str) -> set[RepoPath]:
        if not paths:
            return set()
        # This command does not take literal paths; a leading "./" keeps ":" from being special.
        stdin = join_names(HERE + path for path in paths)
        extra = {"GIT_LITERAL_PATHSPECS": "0"}
        done = self._git.attempt("check-ignore", "-z", "--stdin", *options, stdin=stdin, extra=extra)
        if done.returncode in (0, 1):
            return {RepoPath(path.removeprefix(HERE)) for path in split_names(done.stdout)}
        if len(paths) > 1:
            # One path that git refuses (behind a link, in a submodule) fails them all: find it.
            middle = len(paths) // 2
            return self._ask(paths[:middle], *options) | self._ask(paths[middle:], *options)
        raise GitFailed(f"cannot check whether git ignores {paths[0]}: {error_text(done)}")
