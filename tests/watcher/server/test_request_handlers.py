"""Requests are checked against their records before they are handled."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from chorus.errors import UsageError
from chorus.model.api.requests import REQUESTS
from chorus.model.api.schema import arguments_validator
from chorus.watcher.server.request_handlers import RequestHandlers, answer_from_arguments
from chorus.wire.protocol import Message, Request


def required_keys(record: Any) -> frozenset[str]:
    return frozenset(record.__required_keys__)


async def echo(arguments: Mapping[str, Any]) -> object:
    return dict(arguments)


HANDLERS = RequestHandlers(dict.fromkeys(REQUESTS, echo))


async def test_checked_arguments_reach_the_handler() -> None:
    arguments: Message = {"actions": ["toolu_1", 7], "cwd": None, "dry_run": True}
    assert await HANDLERS.handle(Request(1, "redo", arguments)) == arguments


@pytest.mark.parametrize(
    ("do", "arguments", "message"),
    [
        ("fly", {}, "unknown request: 'fly'"),
        ("show", {}, "show: action: field required"),
        ("show", {"action": []}, "show: action"),
        ("log", {"limits": 3}, "log: limits: extra inputs are not permitted"),
        ("log", {"limit": "3"}, "log: limit: input should be a valid integer"),
        ("hello", {"cwd": "/"}, "hello: cwd: extra inputs are not permitted"),
        (
            "answer",
            {"prompt": "p", "fingerprint": "f", "decision": "maybe"},
            "answer: decision: input should be",
        ),
    ],
)
async def test_a_bad_request_is_refused_with_one_sentence(
    do: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        await HANDLERS.handle(Request(1, do, arguments))
    assert "\n" not in str(caught.value)


def test_choosing_an_option_needs_its_key() -> None:
    with pytest.raises(UsageError, match="needs an option"):
        answer_from_arguments({"prompt": "p", "fingerprint": "f", "decision": "option"})


@pytest.mark.parametrize("name", [name for name, record in REQUESTS.items() if required_keys(record)])
def test_a_request_without_its_required_arguments_is_refused(name: str) -> None:
    with pytest.raises(ValidationError) as caught:
        arguments_validator(name).validate_python({})
    assert {one["loc"][0] for one in caught.value.errors()} == required_keys(REQUESTS[name])
