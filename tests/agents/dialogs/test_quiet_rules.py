"""What the user's config calls quiet needs no answer: with options that can be read, or without."""

from pathlib import Path

from chorus.agents import load_agent
from chorus.model.prompt import NoPrompt, UnknownPrompt

MENU = Path(__file__).parents[3] / "fixtures" / "recordings" / "tui" / "rewind_menu.txt"


def test_a_menu_with_options_can_be_quiet() -> None:
    screen = MENU.read_text(encoding="utf-8")
    prompts = load_agent().prompts
    assert isinstance(prompts.screen_reader().read(screen), UnknownPrompt)
    quiet = prompts.screen_reader({"quiet": ["Enter to continue · Esc to cancel"]})
    assert isinstance(quiet.read(screen), NoPrompt)
