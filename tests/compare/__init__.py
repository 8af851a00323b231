"""Compare Chorus with other tools that record or undo an agent's edits: same edits and repositories, one run.

`make compare` installs the other tools from PyPI and npm into `.compare`. No test does.
"""
