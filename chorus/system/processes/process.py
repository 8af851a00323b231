"""A running process as a value."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Process:
    """A process. It is identified by `pid` and `started` together, because process ids are reused."""

    pid: int
    started: str  # to compare, or for `start_time`: clock ticks since boot (Linux), or a hash
    name: str
    arguments: tuple[str, ...]
    group: int
    foreground_group: int  # of its terminal; -1 without one
