"""Give an answer to Claude Code: as keys in its pane, or as the reply to a permission request."""
