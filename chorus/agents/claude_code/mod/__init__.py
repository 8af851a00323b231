"""The mod: a part of Chorus that runs inside the client and reports tool calls over the watcher's socket.

Its source is `hooks/mod`. The client allows mods from 2.1.287 on, and may switch them off at any time.
"""

# In the environment of a client that was started with the mod: the socket of its watcher.
SOCKET_VARIABLE = "CHORUS_SOCKET"
