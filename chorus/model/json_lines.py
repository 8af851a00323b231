"""Files of JSON lines: one object per line, only ever appended to."""

import json
from collections.abc import Iterable, Iterator
from typing import Any


def parse_json_lines(lines: Iterable[bytes | str]) -> Iterator[dict[str, Any]]:
    """The objects in the lines. A line that holds none, or that a crash cut short, is skipped."""
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value
