"""Turn events into outcomes.

`Pairing` receives typed events from any number of sources. Events may be repeated, and those of different
sources may come in any order. It returns outcomes: sessions and turns, calls opened, actions finished, and
corrections when a later source knows better. It pairs events by `tool_use_id`. A permission request of a hook
has none: it is paired with the newest call of its agent that has the same tool and, if possible, the same
input. `Pairing` never raises, whatever it is fed: events that it does not understand are counted in `unknown`
and `problems`.
"""

from chorus.agents.claude_code.pairing.pairing import Pairing
from chorus.model.action import Action, Call, ChangeReport, FileReport, ReportHunk, Status, WriteScope

__all__ = ["Action", "Call", "ChangeReport", "FileReport", "Pairing", "ReportHunk", "Status", "WriteScope"]
