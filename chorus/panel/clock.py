"""A moment as the agent writes it, as the time of day here."""

from datetime import datetime


def render_time(iso: str) -> str:
    """Hours and minutes, or nothing for what is not a moment."""
    try:
        moment = datetime.fromisoformat(iso)
    except ValueError:
        return ""
    return moment.astimezone().strftime("%H:%M")
