"""Which operating system this is. Only the modules that choose between `linux/` and `macos/` use this."""

import sys

IS_LINUX = sys.platform == "linux"
