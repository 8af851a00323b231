"""The text of one JSON object in, its value out.

Receives bytes. Gives the dictionary, or None for anything that is not exactly one JSON object. Never raises.
"""

import json
from typing import Any, NoReturn

import orjson


def parse_object(text: bytes) -> dict[str, Any] | None:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def parse_odd_object(text: bytes) -> dict[str, Any] | None:
    """The slower standard decoder, for what orjson refuses although it is JSON.

    That is a lone surrogate escape, which the client prints when a string was cut inside a character
    pair, and a number too large for a double.
    """
    try:
        value = json.loads(text.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)  # NaN and Infinity are Python's, not JSON's
