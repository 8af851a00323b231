import sys

from chorus.cli import main

sys.exit(main())
