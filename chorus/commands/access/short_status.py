"""The few characters for a status line, of one repository or of all."""


def render_short(prompts: int, actions: int) -> str:
    """`2 waiting · 5 open`, or nothing if there is nothing to do."""
    parts = [f"{number} {word}" for number, word in ((prompts, "waiting"), (actions, "open")) if number]
    return " · ".join(parts)
