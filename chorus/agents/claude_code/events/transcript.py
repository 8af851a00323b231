"""Transcript lines that are neither the user's nor the assistant's."""

from pydantic import AliasPath, Field

from chorus.agents.claude_code.events.base import Known, LooseText


class Summary(Known):
    """A title for a conversation that ended at `leaf`."""

    leaf: LooseText = Field(None, validation_alias="leafUuid")


class QueueOperation(Known):
    """A message waits, or stops waiting, for the running turn to end."""

    operation: str
    text: LooseText = Field(None, validation_alias="content")


class Attachment(Known):
    """Something handed to the model beside the messages."""

    kind: str = Field(validation_alias=AliasPath("attachment", "type"))
    text: LooseText = Field(None, validation_alias=AliasPath("attachment", "prompt"))
    origin: LooseText = Field(None, validation_alias=AliasPath("attachment", "origin", "kind"))


class Bookkeeping(Known):
    """The client's own notes: modes, titles, snapshots, costs."""

    type: str
