"""The terminal of the double: that of the demo's stand-in, with what the newest client also switches on."""

from chorus.demo.stand_in import terminal

# Bracketed paste, focus events, title, alternate screen, mouse reports and a hidden cursor.
ENTER = (
    "\x1b[?2004h\x1b[?1004h\x1b]0;✳ Claude Code\x07\x1b[?1049h\x1b[2J\x1b[H"
    "\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1006h\x1b[?25l"
)
LEAVE = (
    "\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?1004l\x1b[?1049l\x1b[?2004l\x1b[0m\x1b]0;\x07\x1b[?25h"
)


class Terminal(terminal.Terminal):
    enter, leave = ENTER, LEAVE

    def __init__(self) -> None:
        super().__init__()
        self.columns, self.rows = 80, 24

    def measure(self) -> tuple[int, int]:
        self.columns, self.rows = super().measure()
        return self.columns, self.rows
