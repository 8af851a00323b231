"""Pydantic validators and JSON schemas for the records of `json_api` and `requests`."""

import types
from functools import cache
from typing import Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import typing_extensions
from pydantic import ConfigDict, TypeAdapter
from pydantic.json_schema import JsonSchemaValue

from chorus.model.api import json_api
from chorus.model.api.requests import REQUESTS

# The records of the public contract, by the name their schema is published under.
PUBLISHED: dict[str, type] = {
    "log": json_api.LogEntryJson,
    "show": json_api.ActionJson,
    "lanes": json_api.LaneJson,
    "prompts": json_api.PromptJson,
    "status": json_api.StatusJson,
    "inbox": json_api.InboxJson,
    "revert": json_api.RevertJson,
    "keep": json_api.KeepJson,
    "land": json_api.LandJson,
    "answer": json_api.AnswerJson,
    "blame": json_api.BlameLineJson,
    "audit": json_api.AuditEntryJson,
    "doctor": json_api.DoctorJson,
    "inspect": json_api.InspectJson,
    "gc": json_api.GcJson,
}


def validator(record: type) -> TypeAdapter[Any]:
    return TypeAdapter(_supported(record))


@cache
def arguments_validator(request: str) -> TypeAdapter[Any]:
    """Return the strict validator of a request's arguments, which rejects unknown arguments."""
    record = _supported(REQUESTS[request])
    record.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)
    return TypeAdapter(record)


def render_schema() -> JsonSchemaValue:
    schemas = {name: validator(record).json_schema() for name, record in PUBLISHED.items()}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": schemas}


def _supported(annotation: Any) -> Any:  # noqa: ANN401  annotations are of every type
    """Return the annotation with each `TypedDict` of `typing` rebuilt with `typing_extensions`.

    Before Python 3.12, pydantic rejects those of `typing`.
    """
    if is_typeddict(annotation):
        hints = get_type_hints(annotation, include_extras=True)
        fields = {name: _supported(hint) for name, hint in hints.items()}
        return typing_extensions.TypedDict(annotation.__name__, fields)  # type: ignore[operator]  # a functional form
    arguments = get_args(annotation)
    origin = get_origin(annotation)
    if origin is NotRequired:
        return typing_extensions.NotRequired[_supported(arguments[0])]
    if origin in (Union, types.UnionType):
        return Union[tuple(_supported(each) for each in arguments)]  # noqa: UP007  built at run time
    if origin is list:
        return list[_supported(arguments[0])]  # type: ignore[misc]  # built at run time
    return annotation
