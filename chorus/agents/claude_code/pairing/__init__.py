"""Events in, actions out.

Receives typed events from any number of sources, in any order across sources, with repeats. Gives what
happened: sessions and turns, calls opened, actions closed, and corrections when a later source knows
better. Pairs by tool_use id alone. Never raises on what it is fed, and never guesses: what is not
understood is counted in `unknown` and `problems`.
"""

from chorus.agents.claude_code.pairing.pairing import Pairing
from chorus.model.action import Action, Call, ChangeReport, FileReport, ReportHunk, Status, WriteScope

__all__ = ["Action", "Call", "ChangeReport", "FileReport", "Pairing", "ReportHunk", "Status", "WriteScope"]
