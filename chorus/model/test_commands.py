"""Recognise commands that run tests, for a pull request's list of what was tested."""

import re

# Names that run tests by themselves, and those that need the word for it.
_RUNNERS = r"pytest|py\.test|tox|nox|unittest|jest|vitest|mocha|rspec|phpunit|ctest|behave|playwright"
_TEST = re.compile(
    rf"(?:^|[\s;&|/])(?:{_RUNNERS})(?=\s|$)"
    r"|\b(?:make|just|npm|pnpm|yarn|bun|deno|go|cargo|mvn|gradle|gradlew|dotnet|mix|sbt|bazel|swift|rake)"
    r"(?:\s+\S+){0,3}?\s+(?:run\s+)?(?:test|tests|check|verify)(?=[\s:;&|-]|$)"
)


def is_test_command(command: str) -> bool:
    """Whether a command looks as if it ran tests."""
    return _TEST.search(command) is not None
