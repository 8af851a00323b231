"""What every event has, and the two members that stand for what is not understood.

The client, its transcripts, its hooks and older descriptions of them spell one fact in several ways
(`session_id`, `sessionId`). A model here gives the fact one field and reads every spelling. Types are
strict: a value of the wrong kind makes the event malformed, it is never converted. Fields that only
decorate are `Loose`: of the wrong kind they count as absent.
"""

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, final

from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, GetPydanticSchema, InstanceOf
from pydantic_core import core_schema

from chorus.agents.interface import Source
from chorus.model.ids import AgentId, SessionId, ToolUseId, TurnId

# The key under which the parser hands a model where its data came from. No JSON can smuggle one in:
# the parser sets it last.
SOURCE_KEY = "chorus:source"

# A dictionary taken as it is: neither copied nor looked into, however large.
JsonObject: TypeAlias = InstanceOf[dict]  # type: ignore[type-arg]  # keys of decoded JSON are strings

_ABSENT_IF_WRONG = GetPydanticSchema(
    lambda kind, handler: core_schema.with_default_schema(handler(kind), default=None, on_error="default")
)
LooseText = Annotated[str | None, _ABSENT_IF_WRONG]
LooseNumber = Annotated[int | None, _ABSENT_IF_WRONG]
LooseFlag = Annotated[bool | None, _ABSENT_IF_WRONG]
LooseObject = Annotated[JsonObject | None, _ABSENT_IF_WRONG]


# Both directions of a pipe are one source: what it says of a call, it says once.
_PIPES = {Source.CONTROL_IN: Source.STREAM, Source.CONTROL_OUT: Source.STREAM}


def spelled(*names: str | AliasPath) -> AliasChoices:
    return AliasChoices(*names)


class Model(BaseModel):
    """Frozen, strict, blind to what it does not name."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", protected_namespaces=())


class Known(Model):
    """An event that is understood."""

    source: Source = Field(validation_alias=SOURCE_KEY)
    # A transcript's line may have both: then `session_id` is the session the client was started with.
    session: SessionId | None = Field(None, validation_alias=spelled("sessionId", "session_id"))
    agent: AgentId | None = Field(None, validation_alias=spelled("agent_id", "agentId"))
    parent: ToolUseId | None = Field(
        None, validation_alias=spelled("parent_tool_use_id", "parentToolUseId", "parentToolUseID")
    )
    prompt: TurnId | None = Field(None, validation_alias=spelled("prompt_id", "promptId"))
    sidechain: LooseFlag = Field(None, validation_alias="isSidechain")
    uuid: LooseText = None
    time: LooseText = Field(None, validation_alias="timestamp")
    cwd: LooseText = None

    @property
    def teller(self) -> Source:
        """The source without the direction."""
        return _PIPES.get(self.source, self.source)


@final
@dataclass(frozen=True, slots=True)
class Unknown:
    """A type this version does not know. A newer client must never stop the pipeline."""

    type: str
    source: Source


@final
@dataclass(frozen=True, slots=True)
class Malformed:
    """A known type whose content is not what it should be. Counted and shown, never guessed at."""

    kind: str
    reason: str
    source: Source


Raw: TypeAlias = dict[str, Any]
