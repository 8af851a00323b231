"""Files of JSON lines: one object per line, only ever appended to."""

import json
from collections.abc import Iterable, Iterator
from typing import Any


def parse_json_lines(lines: Iterable[bytes | str]) -> Iterator[dict[str, Any]]:
    """Yield the object in each line, and skip lines without one, such as a line cut short by a crash."""
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value
