"""Answering a prompt with keys: what was decided, what the pane shows, which key is due."""
