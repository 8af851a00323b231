"""Imitations of what other systems do, for tests on Linux. Each says what it imitates and what not."""

import os

# Where tmux puts its sockets: `.ci/imitated` names a directory behind a link, as /tmp is on macOS.
SOCKETS = {"TMUX_TMPDIR": value} if (value := os.environ.get("IMITATE_SOCKETS")) else {}
