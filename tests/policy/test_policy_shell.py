"""No change to a command makes it easier to allow."""

import random
import re
from pathlib import Path

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from chorus.policy.shell import parse_shell
from chorus.policy.shell_syntax import UNKNOWN, Word
from tests.bench.policy import run
from tests.policy.policy_table import ALLOW, ASK, ASK_RATHER_THAN_DENY, DENY
from tests.policy.test_policy import bash
from tests.shells import harmless, scripts

# Commands that only parse together with others: alone they are asked about, though they are harmless.
FITS_IN_COMPANY = "CI=1 > /dev/null"
STRICT = [command for command in (*ASK, *ASK_RATHER_THAN_DENY, *DENY) if command != FITS_IN_COMPANY]
# Ways to run a command inside something else.
WRAPPERS = [
    "COMMAND", " COMMAND ", "(COMMAND)", "{ COMMAND\n}", "ls; COMMAND", "ls && COMMAND", "ls || COMMAND",
    "ls | COMMAND", "COMMAND; ls", "COMMAND\nls", "ls\nCOMMAND", "ls & COMMAND", "! COMMAND", "time COMMAND",
    "env COMMAND", "nohup COMMAND", "command COMMAND", "nice -n 5 COMMAND", "timeout 5 COMMAND",
    "env CI=1 COMMAND", "echo $(COMMAND)", 'echo "$(COMMAND)"', "echo `COMMAND`", "cat <(COMMAND)",
    "if true; then COMMAND\nfi", "for i in a; do COMMAND\ndone", "while COMMAND\ndo ls; done",
    "f() { COMMAND\n}", "sh -c QUOTED", "bash -lc QUOTED", "ls > /dev/null; COMMAND", "CI=1 COMMAND",
    "xargs COMMAND", "find . -exec COMMAND \\;", "# c\nCOMMAND", "ls # c\nCOMMAND", "cd src && COMMAND",
    "[ -f a ] && COMMAND", "sudo COMMAND", "eval QUOTED",
]  # fmt: skip
NOISE = st.text(alphabet=list(" \t\n;&|()<>{}[]$`'\"\\#!*?~=/.-abcEx0"), max_size=4)


def wrapped(wrapper: str, command: str) -> str:
    quoted = "'" + command.replace("'", "'\\''") + "'"
    return wrapper.replace("QUOTED", quoted).replace("COMMAND", command)


@given(st.sampled_from(STRICT), st.lists(st.sampled_from(WRAPPERS), max_size=3))
@settings(max_examples=600, deadline=None)
def test_wrapping_an_asked_or_denied_command_never_allows_it(command: str, wrappers: list[str]) -> None:
    for wrapper in wrappers:
        # An incomplete command becomes another one if the next line completes it.
        assume(not (command.rstrip().endswith(("|", "&&")) and wrapper.startswith("COMMAND\n")))
        command = wrapped(wrapper, command)
    assert bash(command).decision != "allow", command


@given(
    st.sampled_from(STRICT),
    st.sampled_from([*ALLOW, *STRICT]),
    st.sampled_from([";", "&&", "||", "|", "\n", " & "]),
)
@settings(max_examples=400, deadline=None)
def test_another_command_beside_it_never_allows_an_asked_or_denied_command(
    command: str, other: str, between: str
) -> None:
    # A command with an open quote, a comment or a here-document swallows what follows it, but not what is
    # on a line before it.
    assert bash(f"{other}{between}{command}").decision != "allow" or swallows(other)


def swallows(command: str) -> bool:
    open_quote = any(command.count(quote) % 2 for quote in "'\"")
    return "#" in command or "<<" in command or open_quote


@given(st.sampled_from(DENY), st.integers(0, 80), NOISE)
@settings(max_examples=600, deadline=None)
def test_noise_in_a_denied_command_allows_only_what_does_not_run_it(
    command: str, at: int, noise: str
) -> None:
    changed = command[:at] + noise + command[at:]
    if bash(changed).decision == "allow":
        words = [word.text for simple in parse_shell(changed).commands for word in simple.words[:1]]
        assert not {"rm", "git", "shutdown", "sudo"} & set(words) or "push" not in changed


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_text_gets_a_verdict(text: str) -> None:
    assert bash(text).decision in {"allow", "ask", "deny"}


def test_a_command_that_is_found_harmless_does_no_harm_in_bash(tmp_path: Path) -> None:
    """A small, fixed part of the benchmark."""
    for folder in ("bin", "work"):
        (tmp_path / folder).mkdir()
    for name, text in (("ok", "exit 0"), ("evil", f": > {tmp_path}/EVIL")):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (tmp_path / "bin" / name).chmod(0o755)
    kept = [script for script in scripts(random.Random(7), 3000) if harmless(parse_shell(script))]
    assert len(kept) > 50
    for script in kept:
        run(script, tmp_path)
        assert not (tmp_path / "EVIL").exists(), script


def test_a_word_is_unknown_as_soon_as_a_part_of_it_is() -> None:
    assert Word("a") + Word("b") == Word("ab")
    assert not (Word("a") + UNKNOWN).known


def test_a_very_long_command_is_not_analysed() -> None:
    assert "longer than" in parse_shell("ls " + "a" * 10_000).not_analysed[0]
    assert any(
        "nested too deeply" in reason for reason in parse_shell("( " * 400 + "ls" + " )" * 400).not_analysed
    )


def test_every_word_of_a_plain_command_is_known() -> None:
    (command,) = parse_shell("git  commit -m 'a b' \"c d\" e\\ f g\"h\"'i'").commands
    assert [word.text for word in command.words] == ["git", "commit", "-m", "a b", "c d", "e f", "ghi"]
    assert re.fullmatch("ghi", command.words[-1].text)
