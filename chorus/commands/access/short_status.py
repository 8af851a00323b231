"""The short status of one repository, or of all, for a status line."""


def render_short(prompts: int, actions: int) -> str:
    """Return a text such as `2 waiting · 5 open`, or an empty text if both counts are zero."""
    parts = [f"{number} {word}" for number, word in ((prompts, "waiting"), (actions, "open")) if number]
    return " · ".join(parts)
