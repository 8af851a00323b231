"""A brute-force reference for whose line is whose, and random histories to compare it with.

Every line that is ever written has a text of its own, and a place it keeps for good. Each view of a file (the
disk, each session's lane, the branch, the user's index) is a set of places with the text each holds there, so
what an action, a revert or a landing does to a view is decided place by place: no diff, no merge. The order
of two places is known if a version of the file once had both.
"""

import difflib
import itertools
import random
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from chorus.history.recorder import Recorder
from chorus.model.action import ChangeReport, FileReport, ReportHunk
from chorus.model.ids import RepoPath
from chorus.review import operations
from chorus.review.landing.apply import LandConflict, refuse_empty
from chorus.review.landing.fit import fit_landing
from chorus.review.landing.plan import plan_landing
from chorus.review.landing.selection import LandingRequest
from chorus.review.revert.apply import NothingToRevert
from chorus.review.revert.conflict import RevertConflict
from chorus.review.verify import verify
from tests.history.agent_at_work import Agent, action, bash, entry_of
from tests.repos import UserRepo
from tests.review.landing_steps import land

FILES = ("a.txt", "b.txt")
SESSIONS = ("one", "two")
LINES = 7
# In memory where that is possible: a disk would spend the time on flushing.
MEMORY = Path("/dev/shm")

Place = int
View = dict[Place, bytes]
Version = tuple[View, bool]  # and whether the last line ends with a newline


class PlaceChange(NamedTuple):
    """What one place held before and after; None: no line."""

    place: Place
    old: bytes | None
    new: bytes | None


class FileChange(NamedTuple):
    """A change of one file. `newline`: whether the last line ends with one, before and after."""

    places: tuple[PlaceChange, ...]
    newline: tuple[bool, bool]

    def reversed(self) -> "FileChange":
        places = tuple(PlaceChange(c.place, c.new, c.old) for c in self.places)
        return FileChange(places, (self.newline[1], self.newline[0]))


@dataclass
class FileModel:
    """One file in every view."""

    views: dict[str, View] = field(default_factory=dict)
    newline: dict[str, bool] = field(default_factory=dict)
    order: list[Place] = field(default_factory=list)
    seen: list[list[Place]] = field(default_factory=list)  # the places of each version that was on disk
    places_by_text: dict[bytes, Place] = field(default_factory=dict)

    def texts(self, view: str) -> list[bytes]:
        return [self.views[view][place] for place in self.order if place in self.views[view]]

    def content(self, view: str) -> bytes:
        return join(self.texts(view), newline=self.newline[view])

    def observe(self, data: bytes) -> FileChange:
        """Take a version of the file from the disk: what changed since the last, place by place.

        Of a run of lines that were replaced, the first old line became the first new one, and so on.
        """
        disk = self.views.setdefault("disk", {})
        newline = (self.newline.get("disk", True), data.endswith(b"\n"))
        lines = split(data)
        changes: list[PlaceChange] = []
        live = [place for place in self.order if place in disk]
        kept = set(lines) & {disk[place] for place in live}
        old: list[Place] = []
        new: list[bytes] = []
        before: Place | None = None
        stream: list[Place | None] = [*live, None]
        for text in [*lines, None]:
            if text is not None and text not in kept:
                new.append(text)
                continue
            while stream[0] is not None and disk[stream[0]] != text:
                old.append(stream.pop(0))  # type: ignore[arg-type]  # it is not None here
            changes += self._replace(old, new, before)
            before = stream.pop(0) if stream[0] is not None else None
            old, new = [], []
        self.apply("disk", FileChange(tuple(changes), newline))
        self.newline["disk"] = newline[1]
        self.seen.append([place for place in self.order if place in disk])
        return FileChange(tuple(changes), newline)

    def _replace(
        self, old: Sequence[Place], new: Sequence[bytes], before: Place | None
    ) -> Iterator[PlaceChange]:
        disk = self.views["disk"]
        last = old[-1] if old else before
        for place, text in itertools.zip_longest(old, new):
            if place is not None:
                yield PlaceChange(place, disk[place], text)
                if text is not None:
                    self.places_by_text[text] = place
            else:
                made = len(self.order)
                self.order.insert(0 if last is None else self.order.index(last) + 1, made)
                self.places_by_text[text] = made
                yield PlaceChange(made, None, text)
                last = made

    def go_back(self, version: View, *, newline: bool) -> None:
        """Put an earlier version on disk."""
        self.views["disk"] = dict(version)
        self.newline["disk"] = newline
        self.seen.append([place for place in self.order if place in version])

    def apply(self, view: str, change: FileChange) -> list[bytes]:
        """Put a change into a view; return the lines of others that it needed there."""
        places = self.views[view]
        context = []
        for place, old, new in change.places:
            held = places.get(place)
            if held != old and (held != new or new is None):
                context.append(old or b"")
            put(places, place, new)
        if change.newline[0] != change.newline[1]:
            if self.newline[view] != change.newline[0]:
                context.append(b"(the newline at the end)")
            self.newline[view] = change.newline[1]
        return context

    def conflicts(self, view: str, change: FileChange) -> list[Place]:
        """The places that hold neither what the change starts from nor what it leaves."""
        return [place for place, old, new in change.places if self.views[view].get(place) not in (old, new)]

    def misplaced(self, view: str, data: bytes) -> str | None:
        """How this content differs from the view; None if it does not."""
        found = split(data)
        expected = self.texts(view)
        if sorted(found) != sorted(expected):
            return f"lines {sorted(found)} instead of {sorted(expected)}"
        places = [self.places_by_text[text] for text in found]
        for version in self.seen:
            order = [place for place in places if place in version]
            if order != [place for place in version if place in places]:
                return f"order {found} instead of {expected}"
        if found and data.endswith(b"\n") != self.newline[view]:
            return f"newline at the end of {data!r}"
        return None


def put(view: View, place: Place, text: bytes | None) -> None:
    if text is None:
        view.pop(place, None)
    else:
        view[place] = text


def split(data: bytes) -> list[bytes]:
    return data.removesuffix(b"\n").split(b"\n") if data else []


def join(lines: Sequence[bytes], *, newline: bool) -> bytes:
    return b"\n".join(lines) + (b"\n" if newline and lines else b"")


@dataclass
class Done:
    """An action of the reference: of a session, or a revert or redo of one."""

    n: int
    id: str
    session: str
    changes: dict[str, FileChange]
    reverts: "Done | None" = None
    landed: bool = False


class Mismatch(AssertionError):
    pass


class History:
    """One random history, played in a repository and in the reference at once."""

    def __init__(self, template: Path, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.serial = itertools.count()
        self.is_fresh = self.rng.random() < 0.3
        self.repo = UserRepo.copy(template / ("fresh" if self.is_fresh else "started"), folder / "repo")
        self.files = {name: FileModel() for name in FILES}
        self.raw: dict[str, bytes] = {}
        self.versions: dict[str, list[tuple[bytes, View]]] = {name: [] for name in FILES}
        self.done: list[Done] = []
        self.story: list[str] = []
        for name, file in self.files.items():
            self.raw[name] = (self.repo.path / name).read_bytes()
            file.observe(self.raw[name])
            for view in ("main", "index"):
                file.views[view] = dict(file.views["disk"])
                file.newline[view] = file.newline["disk"]
        if self.is_fresh:
            self.user_edits()
        self.recorder = Recorder.open(self.repo.path)
        self.recorder.start()
        self.observe(*FILES)

    STEPS = (
        ("user_edits", 26),
        ("agent_edits", 40),
        ("agent_edits_late", 10),
        ("agent_runs_a_command", 12),
        ("user_reverts", 14),
        ("user_redoes", 8),
        ("user_rewinds", 5),
        ("user_stages", 8),
        ("user_commits", 3),
        ("user_lands", 8),
        ("chorus_restarts", 2),
    )

    def play(self, steps: int) -> None:
        names, weights = zip(*self.STEPS, strict=True)
        for name in self.rng.choices(names, weights, k=steps):
            getattr(self, name)()
            self.check()
        self.look()
        self.observe(*FILES)
        self.check()
        self.land_lane(self.rng.choice(SESSIONS), dry_run=True)
        if self.is_fresh:
            problems = verify(self.recorder)
            self.expect(not problems, f"verify: {problems}")
        self.recorder.close()

    def expect(self, holds: bool, what: str) -> None:
        if not holds:
            raise Mismatch(what + "\n  " + "\n  ".join(self.story))

    # Changes of files.

    def change_lines(self, name: str, who: str) -> None:
        """Replace, insert or delete lines at one or two places, often beside the last change."""
        lines = split(self.raw[name])
        spots = self.rng.choice([1, 1, 1, 2])
        ends = len(lines)
        newline = self.raw[name].endswith(b"\n")
        for _ in range(spots):
            if ends < 0:
                break
            at = self.rng.randint(0, ends)
            removed = min(self.rng.choice([0, 1, 1, 1, 2]), ends - at)
            if len(lines) - removed < 3:
                removed = 0
            added = self.rng.choice([0, 1, 1, 1, 2, 3]) if removed else self.rng.choice([1, 1, 2])
            lines[at : at + removed] = [b"%s%d" % (who.encode(), next(self.serial)) for _ in range(added)]
            ends = at - 2
        if self.rng.random() < 0.06:
            newline = not newline
        self.raw[name] = join(lines, newline=newline)
        (self.repo.path / name).write_bytes(self.raw[name])

    def look(self) -> None:
        """Record what changed so far as outside. With paths: a scan would cost two processes each time."""
        self.recorder.record_outside([str(self.repo.path / name) for name in FILES])

    def observe(self, *names: str) -> dict[str, FileChange]:
        changes = {name: self.files[name].observe(self.raw[name]) for name in names}
        for name in names:
            self.versions[name].append((self.raw[name], dict(self.files[name].views["disk"])))
        return {n: c for n, c in changes.items() if c.places or c.newline[0] != c.newline[1]}

    # Steps.

    def user_edits(self) -> None:
        name = self.rng.choice(FILES)
        self.change_lines(name, "u")
        self.story.append(f"user edits {name}: {self.raw[name]!r}")

    def agent_edits(self) -> None:
        session, name = self.rng.choice(SESSIONS), self.rng.choice(FILES)
        place = self.repo.path / name
        self.recorder.record_before_call([str(place)])
        self.observe(name)
        self.change_lines(name, session[0])
        done = action(f"toolu_{next(Agent.numbers)}", place, session=session)
        self.recorder.record_named_paths([done])
        self.took(done.id, session, name)

    def agent_edits_late(self) -> None:
        """Nobody looked before the call: only its report separates it from the user's change."""
        session, name = self.rng.choice(SESSIONS), self.rng.choice(FILES)
        place = self.repo.path / name
        self.observe(name)  # what the user did up to here is one change, seen with the call
        before = self.raw[name].decode()
        self.change_lines(name, session[0])
        after = self.raw[name].decode()
        if before.endswith("\n") and after.endswith("\n"):
            file = FileReport(str(place), before=before, hunks=patch(before, after))
        else:
            file = FileReport(str(place), before=before, after=after)
        report = ChangeReport((file,), (str(place),))
        done = action(f"toolu_{next(Agent.numbers)}", place, session=session, report=report)
        self.recorder.record_named_paths([done])
        self.took(done.id, session, name)

    def agent_runs_a_command(self) -> None:
        session = self.rng.choice(SESSIONS)
        self.look()
        self.observe(*FILES)
        names = self.rng.sample(FILES, self.rng.choice([1, 2]))
        for name in names:
            self.change_lines(name, session[0])
        done = bash(f"toolu_{next(Agent.numbers)}", session=session)
        self.recorder.record_window(done, [str(self.repo.path / name) for name in names])
        self.took(done.id, session, *names)

    def took(self, identity: str, session: str, *names: str, reverts: Done | None = None) -> None:
        """The action that made the present files was recorded: put it on its lane in the reference too."""
        changes = self.observe(*names)
        entry = entry_of(self.recorder, identity)
        if not changes:
            self.expect(entry.status == "noop", f"{identity} changed nothing, but is {entry.status}")
            return
        self.expect(entry.n is not None and entry.status == "committed", f"{identity} is {entry.status}")
        self.story.append(f"{entry.n}: {session} {[(n, self.raw[n]) for n in changes]}")
        context = []
        for file in self.files.values():
            if session not in file.views:
                file.views[session] = dict(file.views["main"])
                file.newline[session] = file.newline["main"]
        for name, change in changes.items():
            context += self.files[name].apply(session, change)
        self.expect(
            bool(context) == bool(entry.context),
            f"context of {entry.n}: {entry.context} instead of {context}",
        )
        self.done.append(Done(entry.n or 0, identity, session, changes, reverts))

    def user_reverts(self) -> None:
        candidates = [done for done in self.done if done.n not in self.reverted() and done.reverts is None]
        if candidates:
            self.revert_one(self.rng.choice(candidates[-6:]), redo=False)

    def user_redoes(self) -> None:
        candidates = [
            done for done in self.done if done.n not in self.reverted() and done.reverts is not None
        ]
        if candidates:
            self.revert_one(self.rng.choice(candidates[-4:]), redo=True)

    def revert_one(self, target: Done, *, redo: bool) -> None:
        self.look()
        self.observe(*FILES)
        back = {name: change.reversed() for name, change in target.changes.items()}
        blocked = [
            place for name, change in back.items() for place in self.files[name].conflicts("disk", change)
        ]
        self.story.append(f"revert {target.n} {'(redo)' if redo else ''}")
        expected = dict(self.raw)
        before = self.copy("disk")
        probe = {name: dict(file.views["disk"]) for name, file in self.files.items()}
        for name, change in back.items():
            for place, _, new in change.places:
                put(probe[name], place, new)
        changed = probe != {name: file.views["disk"] for name, file in self.files.items()}
        turned = any(
            change.newline[0] != change.newline[1] and self.files[name].newline["disk"] != change.newline[1]
            for name, change in back.items()
        )
        try:
            made = self.apply_revert(target, redo=redo)
        except RevertConflict as refusal:
            self.expect(bool(blocked), f"revert of {target.n} refused: {refusal}")
            self.expect(self.on_disk() == expected, "a refused revert wrote")
            return
        except NothingToRevert as refusal:
            self.expect(
                not blocked and not changed and not turned, f"nothing to revert of {target.n}: {refusal}"
            )
            self.expect(self.on_disk() == expected, "a refused revert wrote")
            return
        self.expect(not blocked, f"revert of {target.n} went through")
        self.raw = self.on_disk()
        for name, change in back.items():
            self.files[name].apply("disk", change)
            wrong = self.files[name].misplaced("disk", self.raw[name])
            self.expect(wrong is None, f"revert of {target.n} in {name}: {wrong}")
        changes = {}
        for name, change in back.items():
            self.reorder(name)
            was = before[name]
            own = [PlaceChange(p, was[0].get(p), new) for p, _, new in change.places if was[0].get(p) != new]
            changes[name] = FileChange(tuple(own), (was[1], self.files[name].newline["disk"]))
            self.files[name].apply(target.session, changes[name])
        self.done.append(Done(entry_of(self.recorder, made).n or 0, made, target.session, changes, target))

    def reverted(self) -> set[int]:
        """The actions that are reverted now, by a revert that is not reverted itself."""
        found: set[int] = set()
        for done in reversed(self.done):
            if done.reverts is not None and done.n not in found:
                found.add(done.reverts.n)
        return found

    def reorder(self, name: str) -> None:
        file = self.files[name]
        places = [file.places_by_text[text] for text in split(self.raw[name])]
        where = {place: index for index, place in enumerate(places)}
        slots = [index for index, place in enumerate(file.order) if place in where]
        for slot, place in zip(slots, places, strict=True):
            file.order[slot] = place
        file.seen.append(places)

    def apply_revert(self, target: Done, *, redo: bool) -> str:
        known = {entry.id for entry in self.recorder.entries()}
        run = operations.redo if redo else operations.revert
        run(self.recorder, operations.Selection([str(target.n)]))
        (made,) = [entry for entry in self.recorder.entries() if entry.id and entry.id not in known]
        assert made.id
        return made.id

    def user_rewinds(self) -> None:
        name = self.rng.choice(FILES)
        self.look()
        self.observe(*FILES)
        file = self.files[name]
        data, view = self.rng.choice(self.versions[name][-8:])
        here = [done for done in self.done if self.is_whole(done)]
        self.raw[name] = data
        (self.repo.path / name).write_bytes(data)
        file.go_back(view, newline=data.endswith(b"\n"))
        self.look()
        self.story.append(f"rewind {name}: {data!r}")
        undone = self.undone()
        for done in here:
            if done.reverts is None and not done.landed and self.is_gone(done):
                self.expect(done.n in undone, f"{done.n} is gone, but not undone")

    def is_whole(self, done: Done) -> bool:
        """Whether the disk holds everything the action left."""
        return done.n not in self.reverted() and all(
            self.files[name].views["disk"].get(each.place) == each.new
            for name, change in done.changes.items()
            for each in change.places
        )

    def is_gone(self, done: Done) -> bool:
        """Whether the disk holds everything as it was before the action, which changed some lines."""
        changes = [(name, each) for name, change in done.changes.items() for each in change.places]
        return bool(changes) and all(
            self.files[name].views["disk"].get(each.place) == each.old for name, each in changes
        )

    def undone(self) -> set[int]:
        return {entry.n for entry in self.recorder.entries() if entry.status == "undone" and entry.n}

    def user_stages(self) -> None:
        """Stage a file as it is, or unstage it."""
        name = self.rng.choice(FILES)
        self.look()
        self.observe(*FILES)
        if self.rng.random() < 0.75:
            self.repo.git("add", name)
            self.copy_view(name, "disk", "index")
            self.story.append(f"add {name}")
        else:
            self.repo.git("reset", "-q", "--", name)
            self.copy_view(name, "main", "index")
            self.story.append(f"reset {name}")

    def user_commits(self) -> None:
        """Commit everything, or only what is staged."""
        self.look()
        self.observe(*FILES)
        everything = self.rng.random() < 0.7
        self.repo.git("commit", "-q", "--allow-empty", "-m", "mine", *(["-a"] if everything else []))
        for name in FILES:
            if everything:
                self.copy_view(name, "disk", "index")
            self.copy_view(name, "index", "main")
        self.look()
        self.story.append("commit" + " -a" * everything)

    def copy_view(self, name: str, source: str, target: str) -> None:
        file = self.files[name]
        file.views[target], file.newline[target] = dict(file.views[source]), file.newline[source]

    def user_lands(self) -> None:
        self.land_lane(self.rng.choice(SESSIONS), dry_run=self.rng.random() < 0.5)

    def land_lane(self, session: str, *, dry_run: bool) -> None:
        """Land what the lane has, or only see what would land; compare with the reference."""
        self.look()
        self.observe(*FILES)
        agent = Agent(self.repo, self.recorder, session)
        own = self.find_unlanded(session)
        if not own:
            return
        what = f"landing of {session} {[done.n for done in own]}"
        self.story.append(what + (" (dry run)" if dry_run else ""))
        try:
            if dry_run:
                found_left, contents = self.fit_only(agent)
            else:
                result = land(agent)
                found_left = {each.number for each in result.left}
                contents = {name: self.repo.git("show", f"main:{name}").encode() for name in FILES}
        except LandConflict as refusal:
            left, _, _ = self.fit(own, {done.n for done in own})
            self.expect(bool(left), f"{what} refused: {refusal}")
            return
        left, main, index = self.fit(own, found_left)
        self.expect(found_left == left, f"{what} left {found_left} instead of {left}")
        for name, file in self.files.items():
            file.views["landing"], file.newline["landing"] = main[name]
            wrong = file.misplaced("landing", contents[name])
            self.expect(wrong is None, f"{what}, {name}: {wrong}")
            if not dry_run:
                file.views["main"], file.newline["main"] = main[name]
                file.views["index"], file.newline["index"] = index[name]
                wrong = file.misplaced("index", self.repo.git("show", f":{name}").encode())
                self.expect(wrong is None, f"{what}, index, {name}: {wrong}")
        if not dry_run:
            self.look()  # HEAD has moved
            for done in own:
                done.landed = done.landed or done.n not in left

    def find_unlanded(self, session: str) -> list[Done]:
        """What is neither landed nor reverted nor undone; of reverts, those of what has landed."""
        reverted = self.reverted()
        undone = self.undone()
        return [
            done
            for done in self.done
            if done.session == session
            and not done.landed
            and done.n not in reverted
            and done.n not in undone
            and (done.reverts is None or done.reverts.landed)
        ]

    def fit(
        self, own: Sequence[Done], found_left: set[int]
    ) -> tuple[set[int], dict[str, Version], dict[str, Version]]:
        """The actions that do not fit the branch; the branch and the index afterwards.

        Where the branch holds what a later action left (the user committed it, or the line never was there),
        either is right: `found_left` decides.
        """
        staged: set[int] = set()
        while True:
            left = set(staged)
            main = self.copy("main")
            written: dict[int, set[tuple[str, Place]]] = {}
            for done in own:
                if done.n not in left:
                    put_places = self.put_action(done, main, found_left)
                    if put_places is None:
                        left.add(done.n)
                    else:
                        written[done.n] = put_places
            index = self.copy("index")
            blocked = self.put_into_index(main, index)
            if not blocked:
                return left, main, index
            more = {
                n for n, places in written.items() if any(p in blocked.get(name, ()) for name, p in places)
            }
            self.expect(bool(more), f"nobody changed {blocked}")
            staged |= more

    def copy(self, view: str) -> dict[str, Version]:
        return {name: (dict(file.views[view]), file.newline[view]) for name, file in self.files.items()}

    def put_action(
        self, done: Done, main: dict[str, Version], found_left: set[int]
    ) -> set[tuple[str, Place]] | None:
        """Put an action on the branch; return where it wrote, or None if it does not fit.

        Where a later one is there already, it stays, also what it removed.
        """
        todo: list[tuple[str, PlaceChange]] = []
        for name, change in done.changes.items():
            there = self.find_later_on(main[name][0], done, name)
            for each in change.places:
                held = main[name][0].get(each.place)
                if held not in (each.old, each.new) and (
                    done.n in found_left or held not in self.texts_after(done, name, each.place)
                ):
                    return None
                is_replaced = any(PlaceChange(each.place, each.new, held) in later for later in there)
                if held == each.old and not is_replaced:
                    todo.append((name, each))
        for name, each in todo:
            put(main[name][0], each.place, each.new)
        for name, change in done.changes.items():
            if change.newline[0] != change.newline[1]:
                main[name] = (main[name][0], change.newline[1])
        return {(name, each.place) for name, each in todo}

    def find_later_on(self, view: View, done: Done, name: str) -> list[tuple[PlaceChange, ...]]:
        """The changes of later actions that replaced a line of this one, and that the view has as a whole."""
        own = {(c.place, c.new) for c in done.changes[name].places if c.new is not None}
        reverted = self.reverted()
        later = [
            d.changes[name].places
            for d in self.done
            if d.n > done.n and name in d.changes and d.reverts is None and d.n not in reverted
        ]
        return [
            places
            for places in later
            if any((c.place, c.old) in own and c.new is not None for c in places)
            and all(view.get(c.place) == c.new for c in places)
        ]

    def texts_after(self, done: Done, name: str, place: Place) -> set[bytes | None]:
        """What later actions left at a place."""
        later = [d for d in self.done if d.n > done.n and name in d.changes]
        return {c.new for d in later for c in d.changes[name].places if c.place == place}

    def put_into_index(self, main: dict[str, Version], index: dict[str, Version]) -> dict[str, set[Place]]:
        """Put what lands into the index; return the places at which the user staged something else."""
        blocked: dict[str, set[Place]] = {}
        for name, file in self.files.items():
            before, after = file.views["main"], main[name][0]
            for place in before.keys() | after.keys():
                old, new = before.get(place), after.get(place)
                if old == new:
                    continue
                if index[name][0].get(place) not in (old, new):
                    blocked.setdefault(name, set()).add(place)
                put(index[name][0], place, new)
            if file.newline["main"] != main[name][1]:
                index[name] = (index[name][0], main[name][1])
        return blocked

    def fit_only(self, agent: Agent) -> tuple[set[int], dict[str, bytes]]:
        recorder, workspace = self.recorder, self.recorder.workspace
        lane = next(lane for lane in recorder.lanes.all() if lane.session == agent.session)
        plan = plan_landing(recorder, LandingRequest(lane.name))
        start = workspace.refs.read("refs/heads/main")
        fit = fit_landing(workspace, plan, start, check_index=True)
        refuse_empty(plan, fit)
        contents = {}
        for name in FILES:
            found = workspace.trees.lookup(fit.tree, RepoPath(name))
            assert found is not None
            contents[name] = workspace.store.read_blob(found.oid)
        return {each.number for each in fit.left}, contents

    def chorus_restarts(self) -> None:
        self.recorder.close()
        self.recorder = Recorder.open(self.repo.path)

    # What must hold.

    def on_disk(self) -> dict[str, bytes]:
        return {name: (self.repo.path / name).read_bytes() for name in FILES}

    def check(self) -> None:
        self.expect(self.on_disk() == self.raw, "the work tree was disturbed")
        undone = self.undone()
        for done in self.done:
            if done.n in undone:
                own = [(name, c.place, c.new) for name, change in done.changes.items() for c in change.places]
                there = [
                    self.files[name].views["disk"].get(place) == text for name, place, text in own if text
                ]
                self.expect(not (there and all(there)), f"{done.n} is undone, but there")
        workspace = self.recorder.workspace
        for session in SESSIONS:
            lanes = [lane for lane in self.recorder.lanes.all() if lane.session == session]
            for lane in lanes:
                tip = workspace.refs.read(lane.ref)
                assert tip is not None
                tree = workspace.store.read_commit(tip).tree
                for name, file in self.files.items():
                    found = workspace.trees.lookup(tree, RepoPath(name))
                    assert found is not None
                    wrong = file.misplaced(session, workspace.store.read_blob(found.oid))
                    self.expect(wrong is None, f"lane of {session}, {name}: {wrong}")


def patch(before: str, after: str) -> tuple[ReportHunk, ...]:
    """The client's patch of a change, without context lines."""
    old, new = before.splitlines(), after.splitlines()
    found = []
    for kind, start, end, new_start, new_end in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if kind != "equal":
            lines = [
                *(f"-{line}" for line in old[start:end]),
                *(f"+{line}" for line in new[new_start:new_end]),
            ]
            found.append(
                ReportHunk(
                    start + (end > start),
                    end - start,
                    new_start + (new_end > new_start),
                    new_end - new_start,
                    lines,
                )
            )
    return tuple(found)


def make_line_template(path: Path) -> Path:
    """Two repositories to copy: one in which nothing is recorded yet, and one whose timeline has begun."""
    repo = UserRepo(path / "fresh")
    repo.path.mkdir(parents=True)
    repo.git("init", "-q", "-b", "main", "--template=")
    for name in FILES:
        repo.write(name, b"".join(b"%s%d\n" % (name[:1].encode(), number) for number in range(LINES)))
    repo.git("add", "-A")
    repo.git("commit", "-qm", "base")
    started = UserRepo.copy(repo.path, path / "started")
    with Recorder.open(started.path) as recorder:
        recorder.start()
    return path


@contextmanager
def scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="chorus-lines-", dir=MEMORY if MEMORY.is_dir() else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def play_history(template: Path, seed: int, steps: int = 14) -> None:
    with scratch() as folder:
        History(template, folder, seed).play(steps)
