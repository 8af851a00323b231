"""A stand-in for the client: seen from outside it is Claude Code, but a script speaks instead of a model.

Run it with `python -m tests.client_double`. It draws the same dialogs, prints the same stream, runs
the same hooks, writes the same transcript and edits files the same way. It needs no account, no
network and nothing but the standard library.
"""
