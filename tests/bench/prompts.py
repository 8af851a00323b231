"""Read every recorded screen, also cut, with missing rows and wrapped; and time one reading."""

import time

from chorus.agents.claude_code.dialogs.reader import read_screen
from chorus.model.prompt import Prompt
from tests.agents.dialogs import test_dialogs as checks
from tests.screens import screen_text


def main() -> None:
    checked = 0
    for name in checks.DIALOGS:
        checks.test_a_screen_cut_at_any_row_is_the_same_prompt_or_none(name)
        checks.test_a_screen_with_any_row_missing_or_blank_is_the_same_prompt_or_none(name)
        for wrap in (checks.hard, checks.soft):
            checks.test_a_screen_wrapped_again_at_another_width_is_the_same_prompt_or_none(name, wrap)
        checked += 1
    print(f"{checked} screens, cut at every row, without each row, wrapped in 16 ways: no wrong prompt")
    texts = [screen_text(name) for name in checks.EXPECTED]
    started = time.perf_counter()
    prompts = sum(isinstance(read_screen(text, checks.RULES).found, Prompt) for text in texts)
    seconds = time.perf_counter() - started
    print(f"{len(texts)} screens read, {prompts} prompts, {seconds / len(texts) * 1e3:.2f} ms each")
