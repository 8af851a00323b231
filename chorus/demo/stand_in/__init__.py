"""A small stand-in for Claude Code that plays the demo's story: no account, no network.

On the outside it behaves as the client does: it runs on a screen in tmux, starts the hooks given with
`--settings`, asks before it runs an unknown command, edits files and keeps a transcript. It has only what the
story needs.
"""
