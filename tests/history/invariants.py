"""What must hold after anything that is recorded."""

from collections.abc import Iterator
from contextlib import contextmanager

from chorus.history.recorder import Recorder
from chorus.review.verify import verify
from tests.history.agent_at_work import on_disk, replayed
from tests.repos import UserRepo

# Not an error: git prints this where nothing is committed yet.
UNBORN = "notice: HEAD points to an unborn branch (main)"


def assert_whole(repo: UserRepo, recorder: Recorder, *, raw: bool = True) -> None:
    """The timeline is the disk, the lanes are their actions, git finds nothing wrong.

    `raw` is False where something on disk is left out of the timeline on purpose.
    """
    assert verify(recorder) == []
    if raw:
        assert replayed(recorder) == on_disk(repo)
    assert repo.fsck() in ("", UNBORN)


@contextmanager
def untouched(repo: UserRepo) -> Iterator[None]:
    """Assert that the block changes nothing that belongs to the user."""
    before = repo.fingerprint()
    yield
    assert repo.fingerprint() == before
