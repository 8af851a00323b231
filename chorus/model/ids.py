"""Types of ids. Each is a plain string at run time."""

from typing import NewType

SessionId = NewType("SessionId", str)
ToolUseId = NewType("ToolUseId", str)
TurnId = NewType("TurnId", str)
AgentId = NewType("AgentId", str)
LaneName = NewType("LaneName", str)
PaneId = NewType("PaneId", str)

# The name of a git object, in hexadecimal.
Oid = NewType("Oid", str)

# A path relative to the work tree, with "/", and undecodable bytes as surrogate escapes.
RepoPath = NewType("RepoPath", str)
