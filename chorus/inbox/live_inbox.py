"""Every repository in the user's registry, followed live."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress

from chorus.inbox.live_repository import LiveRepository
from chorus.inbox.repositories import NoSuchRepository, main_work_tree, name_repositories
from chorus.inbox.sender import send_request
from chorus.model.api.json_api import InboxRepositoryJson
from chorus.wire.home import Home
from chorus.wire.registry import UnsafeRegistry, list_registered, repository_key

# How often the registry is read for new repositories.
LOOK_SECONDS = 1.0


class LiveInbox:
    """Follows all repositories of the user. `changed` is called whenever one of them changes."""

    def __init__(
        self, changed: Callable[[], None], list_homes: Callable[[], list[Home]] | None = None
    ) -> None:
        self._changed = changed
        self._list_homes = list_homes or list_registered
        self._followed: dict[str, tuple[LiveRepository, asyncio.Task[None]]] = {}
        self.problem: str | None = None

    def repositories(self) -> dict[str, InboxRepositoryJson]:
        """Return what is known about each repository, by its key.

        Sorted by name, but repositories without a watcher come last.
        """
        live = {key: repository for key, (repository, _) in self._followed.items()}
        names = name_repositories([repository.path for repository in live.values()])
        shown = {key: repository.as_json(names[repository.path]) for key, repository in live.items()}
        order = sorted(shown.items(), key=lambda item: (item[1]["state"] == "stopped", item[1]["name"]))
        return dict(order)

    async def run(self) -> None:
        """Follow every repository until this task is cancelled."""
        try:
            while True:
                self._look()
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            for _, task in self._followed.values():
                task.cancel()
            for _, task in self._followed.values():
                with suppress(asyncio.CancelledError):
                    await task

    async def request(self, key: str, do: str, arguments: Mapping[str, object]) -> object:
        """Send a request to the watcher of the repository with this key."""
        if key not in self._followed:
            raise NoSuchRepository(
                "the repository no longer exists", hint="Choose a repository that is still listed."
            )
        return await send_request(self._followed[key][0].home, do, arguments)

    def _look(self) -> None:
        known_problem = self.problem
        try:
            homes = {repository_key(home): home for home in self._list_homes()}
            self.problem = None
        except UnsafeRegistry as error:
            homes, self.problem = {}, f"{error} {error.hint}"
        if self.problem != known_problem:
            self._changed()
        for key in self._followed.keys() - homes.keys():
            self._followed.pop(key)[1].cancel()
            self._changed()
        for key in homes.keys() - self._followed.keys():
            repository = LiveRepository(homes[key], main_work_tree(homes[key]), self._changed)
            self._followed[key] = (repository, asyncio.create_task(repository.follow()))
            self._changed()
