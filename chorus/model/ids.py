"""The names things go by. Each is a plain string on the wire and a type of its own here."""

from typing import NewType

SessionId = NewType("SessionId", str)
ToolUseId = NewType("ToolUseId", str)
TurnId = NewType("TurnId", str)
AgentId = NewType("AgentId", str)
LaneName = NewType("LaneName", str)
PaneId = NewType("PaneId", str)

# A git object's name, in hexadecimal.
Oid = NewType("Oid", str)

# Relative to the work tree, separated by "/", undecodable bytes kept as surrogate escapes.
RepoPath = NewType("RepoPath", str)
