"""The recorded screens and what each of them asks.

`fixtures/screens/expected.json` lists every distinct prompt once, with the screens that show it.
After recording new screens, `python -m tests.screens` rewrites the table; its diff is what to review.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from chorus.agents.claude_code.dialogs.reader import read_screen
from chorus.agents.claude_code.dialogs.rules import PromptRules, read_prompt_rules
from chorus.model.prompt import screen_reading_json

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "fixtures"
EXPECTED = FIXTURES / "screens" / "expected.json"
RULES_FILE = ROOT / "chorus" / "agents" / "claude_code" / "dialogs" / "rules.toml"


def shipped_rules() -> PromptRules:
    return read_prompt_rules()


def screen_names() -> list[str]:
    """Every recorded screen, relative to fixtures/."""
    folders = [FIXTURES / "recordings" / "tui", *sorted((FIXTURES / "screens").glob("2.*"))]
    return [str(path.relative_to(FIXTURES)) for folder in folders for path in sorted(folder.glob("*.txt"))]


def screen_text(name: str) -> str:
    return (FIXTURES / name).read_text(encoding="utf-8")


def without_ids(value: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a prompt that the user sees, without its ids."""
    return {key: value[key] for key in ("kind", "tool", "title", "question", "options") if key in value}


def expectations() -> Iterator[tuple[str, dict[str, Any]]]:
    for group in json.loads(EXPECTED.read_text(encoding="utf-8")):
        for name in group["screens"]:
            yield name, group["prompt"]


def main() -> None:
    rules = shipped_rules()
    groups: dict[str, list[str]] = {}
    for name in screen_names():
        value = without_ids(screen_reading_json(read_screen(screen_text(name), rules).found))
        groups.setdefault(json.dumps(value, ensure_ascii=False), []).append(name)
    table = [{"prompt": json.loads(text), "screens": names} for text, names in groups.items()]
    EXPECTED.write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
