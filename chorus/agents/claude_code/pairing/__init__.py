"""Turn events into outcomes.

`Pairing` takes the events of any number of sources, and pairs them by `tool_use_id`. The sources may repeat
each other, and the events may come in any order. Events that `Pairing` does not understand are counted, and
raise nothing.
"""

from chorus.agents.claude_code.pairing.pairing import Pairing
from chorus.model.action import Action, Call, ChangeReport, FileReport, ReportHunk, Status, WriteScope

__all__ = ["Action", "Call", "ChangeReport", "FileReport", "Pairing", "ReportHunk", "Status", "WriteScope"]
