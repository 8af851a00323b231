"""Chorus beside others that keep or undo an agent's edits: same edits, same repositories, one run.

`make compare` installs them from PyPI and npm into `.compare`. No test does.
"""
