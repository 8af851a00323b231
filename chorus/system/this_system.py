"""Which operating system this is. Only `chorus/system` asks this."""

import sys

IS_LINUX = sys.platform == "linux"
