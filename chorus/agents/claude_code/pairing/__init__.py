"""Turn events into outcomes.

`Pairing` takes the events of any number of sources, which may repeat each other and come in any order, and
pairs them by `tool_use_id`. Events that it does not understand are counted, and raise nothing.
"""

from chorus.agents.claude_code.pairing.pairing import Pairing
from chorus.model.action import Action, Call, ChangeReport, FileReport, ReportHunk, Status, WriteScope

__all__ = ["Action", "Call", "ChangeReport", "FileReport", "Pairing", "ReportHunk", "Status", "WriteScope"]
