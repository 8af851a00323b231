"""A double of Claude Code for tests: it behaves like the client, but a script speaks instead of a model.

Run it with `python -m tests.client_double`. It draws the same dialogs, prints the same stream, runs the same
hooks, writes the same transcript and edits files the same way. It needs no account, no network and only the
standard library. README.md describes its scripts.
"""
