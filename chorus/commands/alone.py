"""What a history says when no agent runs: the same answers, read by this process itself.

Imported only then: with an agent, a command costs little more than asking it. What the newest part of a
history can answer is read from that end; the rest of Chorus is loaded only for what needs it.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from chorus.history.chain import ChainUnreadable, without_collecting
from chorus.history.log import showing
from chorus.history.log.filter import Filter
from chorus.history.log.newest import Newest
from chorus.model.ids import RepoPath
from chorus.store.git_process import Git
from chorus.store.places import read_places


def log(**wanted: Any) -> list[dict[str, Any]]:  # noqa: ANN401  the fields of Filter
    asked = Filter(**wanted)
    with suppress(ChainUnreadable), Newest.open(Path.cwd()) as newest, without_collecting():
        return newest.log(asked, locate)
    from chorus.history.log import queries  # noqa: PLC0415
    from chorus.history.recorder import Recorder  # noqa: PLC0415

    with Recorder.open(Path.cwd()) as recorder:
        return queries.log(recorder, asked)


def add_paths(entries: list[dict[str, Any]]) -> None:
    places = read_places(Git(Path.cwd()))
    showing.add_paths(Git(Path(places.work_tree)), f"{places.git_dir}/chorus", entries)


def actions(names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """One after the other, each when it is asked for."""
    shown = 0
    with suppress(ChainUnreadable), Newest.open(Path.cwd()) as newest:
        for name in names:
            with without_collecting():
                found = newest.show(name)
            shown += 1
            yield found
        return
    from chorus.history.log import queries  # noqa: PLC0415
    from chorus.history.recorder import Recorder  # noqa: PLC0415

    with Recorder.open(Path.cwd()) as recorder:
        for name in names[shown:]:
            yield queries.show(recorder, name)


def lanes() -> list[dict[str, Any]]:
    with suppress(ChainUnreadable), Newest.open(Path.cwd()) as newest, without_collecting():
        return newest.lanes()
    from chorus.history.log import queries  # noqa: PLC0415
    from chorus.history.recorder import Recorder  # noqa: PLC0415

    with Recorder.open(Path.cwd()) as recorder:
        return queries.lanes(recorder)


def lines(path: str, line: int | None) -> list[dict[str, Any]]:
    from chorus.history.log.past import SiftedPast  # noqa: PLC0415
    from chorus.history.site import Site  # noqa: PLC0415
    from chorus.review.blame import blame  # noqa: PLC0415  see above

    with (
        suppress(ChainUnreadable),
        closing(Site.open(Path.cwd())) as site,
        Newest.open(Path.cwd()) as newest,
        without_collecting(),
    ):
        return blame(SiftedPast(site, newest), path, line)
    from chorus.history.log.known_past import KnownPast  # noqa: PLC0415  see above
    from chorus.history.recorder import Recorder  # noqa: PLC0415

    with Recorder.open(Path.cwd()) as recorder:
        return blame(KnownPast(recorder), path, line)


def locate(path: str) -> RepoPath | None:
    from chorus.history.site import Site  # noqa: PLC0415  see above

    with closing(Site.open(Path.cwd())) as site:
        return site.locate(path)
