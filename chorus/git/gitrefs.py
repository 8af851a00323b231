"""Refs in a storage that is not files (reftable): the same as `Refs`, each step through git."""

from chorus.core.ids import Oid
from chorus.git.refs import NO_OID, Refs, one_line


class GitRefs(Refs):
    def read(self, name: str) -> Oid | None:
        return Oid(self._git.text("rev-parse", "--verify", "--quiet", name, accept=(0, 1))) or None

    def read_symbolic(self, name: str) -> str | None:
        return self._git.text("symbolic-ref", "--quiet", name, accept=(0, 1)) or None

    def list(self, prefix: str) -> dict[str, Oid]:
        lines = self._git.text("for-each-ref", "--format=%(objectname) %(refname)", prefix).splitlines()
        return {name: Oid(oid) for oid, name in (line.split(" ", 1) for line in lines)}

    def update(self, name: str, new: Oid, expected: Oid | None, reason: str) -> None:
        self.update_by_git(name, "-m", one_line(reason), name, new, expected or NO_OID)
