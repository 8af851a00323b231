"""Turn a captured screen or a permission request of Claude Code into a prompt."""
