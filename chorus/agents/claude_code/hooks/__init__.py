"""Claude Code's hooks: the hook program, and the settings that make the client run it."""
