"""Why something is malformed, in one short line."""

from pydantic import ValidationError

LONGEST_REASON = 200  # a reason is read by people, and may quote what was found


def first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(map(str, fault["loc"]))
    return f"{place}: {fault['msg']}"[:LONGEST_REASON]
