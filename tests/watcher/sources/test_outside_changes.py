"""When changes between calls are recorded as outside."""

import asyncio
from dataclasses import dataclass, field
from typing import cast

from chorus.model.outcomes import ActionClosed
from chorus.model.session import SessionTable
from chorus.watcher.sources.outside_changes import OutsideChanges
from chorus.watcher.sources.transcript_source import TranscriptSource
from chorus.watcher.work_trees import WatchedTree, WatchedTrees
from tests.history.agent_at_work import bash
from tests.repos import UserRepo
from tests.watcher.test_work_tree_windows import facts, opened


@dataclass
class Trees:
    """One watched tree, and a count of how often it was looked at."""

    tree: WatchedTree
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    looks: int = 0

    @property
    def all(self) -> dict[object, WatchedTree]:
        return {self.tree.root: self.tree}

    def present(self) -> list[WatchedTree]:
        return [self.tree]

    def publish_changes(self) -> None:
        self.looks += 1


@dataclass
class Transcripts:
    """No transcript has anything new."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def pipeline(self) -> "Transcripts":
        return self

    async def read(self) -> None:
        pass


async def until_looked(trees: Trees, times: int) -> None:
    async with asyncio.timeout(60):
        while trees.looks < times:
            trees.changed.set()
            await asyncio.sleep(0.01)


async def test_nothing_is_outside_while_a_command_may_be_writing(repo: UserRepo) -> None:
    tree = WatchedTree(repo.path, wake=lambda: None)
    tree.start()
    trees, transcripts = Trees(tree), Transcripts()
    source = OutsideChanges(
        cast(WatchedTrees, trees), SessionTable(), cast(TranscriptSource, transcripts), lambda call: False
    )
    running = asyncio.create_task(source.run())
    await until_looked(trees, 2)
    done = bash("toolu_1")
    await tree.feed([opened(done)], source="hook", is_waiting=lambda: True)
    repo.write("made.txt", b"by the command\n")
    await until_looked(trees, trees.looks + 3)
    assert [fact for fact in facts(tree) if "made.txt" in fact[2]] == []
    await tree.feed([ActionClosed(done)], source="hook", is_waiting=lambda: True)
    assert facts(tree)[-1] == ("committed", "toolu_1", ("made.txt",))
    repo.write("later.txt", b"by the user\n")
    async with asyncio.timeout(60):
        while facts(tree)[-1] != ("outside", None, ("later.txt",)):
            await until_looked(trees, trees.looks + 1)
    running.cancel()
    tree.close()


async def test_a_change_of_the_user_before_an_answer_is_recorded_before_it_is_given(repo: UserRepo) -> None:
    tree = WatchedTree(repo.path, wake=lambda: None)
    tree.start()
    trees, transcripts = Trees(tree), Transcripts()
    source = OutsideChanges(
        cast(WatchedTrees, trees), SessionTable(), cast(TranscriptSource, transcripts), lambda call: True
    )
    done = bash("toolu_1")
    await tree.feed([opened(done)], source="hook", is_waiting=lambda: True)
    repo.write("mine.txt", b"by the user\n")
    await source.record_before_answer()
    assert facts(tree)[-1] == ("outside", None, ("mine.txt",))
    tree.close()
