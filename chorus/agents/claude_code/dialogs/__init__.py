"""Read Claude Code's dialogs: from a captured screen, or a permission request, to a prompt."""
