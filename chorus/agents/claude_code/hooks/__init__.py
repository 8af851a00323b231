"""Claude Code's hooks: the hook program, the events it writes, and the spool it writes them to."""
