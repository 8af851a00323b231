"""The base of all events, and the two types for events that are not understood.

Sources spell the same field in several ways (`session_id`, `sessionId`), and a model reads them into one
field. Types are strict: a value of the wrong type makes the event malformed. In a `Loose` field, such a value
counts as absent instead.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeAlias, final

from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    GetPydanticSchema,
    InstanceOf,
    ValidationError,
)
from pydantic_core import core_schema

from chorus.agents.interface import Source
from chorus.model.ids import AgentId, SessionId, ToolUseId, TurnId

# A dictionary taken as it is, neither copied nor validated, however large.
JsonObject: TypeAlias = InstanceOf[dict]  # type: ignore[type-arg]  # keys of decoded JSON are strings

_ABSENT_IF_WRONG = GetPydanticSchema(
    lambda kind, handler: core_schema.with_default_schema(handler(kind), default=None, on_error="default")
)
LooseText = Annotated[str | None, _ABSENT_IF_WRONG]
LooseNumber = Annotated[int | None, _ABSENT_IF_WRONG]
LooseFloat = Annotated[float | None, _ABSENT_IF_WRONG]
LooseFlag = Annotated[bool | None, _ABSENT_IF_WRONG]
LooseObject = Annotated[JsonObject | None, _ABSENT_IF_WRONG]


# Both directions of a pipe are one source, which shows each call once.
_PIPES = {Source.CONTROL_IN: Source.STREAM, Source.CONTROL_OUT: Source.STREAM}


def spelled(*names: str | AliasPath) -> AliasChoices:
    return AliasChoices(*names)


class Model(BaseModel):
    """A frozen, strict pydantic model that ignores unknown fields."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", protected_namespaces=())


class Known(Model):
    """An event of a known type."""

    # Set by the parser for each event. Not a field: no JSON can set it, and validation would take longer.
    source: ClassVar[Source]
    # A transcript's line may have both fields: then `session_id` is the session the client was started with.
    session: SessionId | None = Field(None, validation_alias=spelled("sessionId", "session_id"))
    agent: AgentId | None = Field(None, validation_alias=spelled("agent_id", "agentId"))
    parent: ToolUseId | None = Field(
        None, validation_alias=spelled("parent_tool_use_id", "parentToolUseId", "parentToolUseID")
    )
    prompt_id: TurnId | None = Field(None, validation_alias=spelled("prompt_id", "promptId"))
    sidechain: LooseFlag = Field(None, validation_alias="isSidechain")
    uuid: LooseText = None
    time: LooseText = Field(None, validation_alias="timestamp")
    cwd: LooseText = None

    @property
    def base_source(self) -> Source:
        return _PIPES.get(self.source, self.source)


@final
@dataclass(frozen=True, slots=True)
class Unknown:
    """An event of an unknown type."""

    type: str
    source: Source


@final
@dataclass(frozen=True, slots=True)
class Malformed:
    """An event with invalid content."""

    kind: str
    reason: str
    source: Source


Raw: TypeAlias = dict[str, Any]


# A reason is shown to the user, and may quote the value.
MAX_REASON_LENGTH = 200


def first_error(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(map(str, first["loc"]))
    return f"{field}: {first['msg']}"[:MAX_REASON_LENGTH]
