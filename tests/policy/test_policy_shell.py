"""No change to a command makes it easier to allow."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from chorus.policy.literal import LiteralScript
from chorus.policy.shell import parse_shell
from chorus.policy.wrappers import parse_unwrapped
from tests.policy.policy_table import ALLOW, ASK, ASK_RATHER_THAN_DENY, DENY
from tests.policy.test_policy import bash
from tests.shells import Counts, Scratch, Violation, is_allowed, scripts

STRICT = [*ASK, *ASK_RATHER_THAN_DENY, *DENY]
# Ways to run a command inside something else.
WRAPPERS = [
    "COMMAND", " COMMAND ", "(COMMAND)", "{ COMMAND\n}", "ls; COMMAND", "ls && COMMAND", "ls || COMMAND",
    "ls | COMMAND", "COMMAND; ls", "COMMAND\nls", "ls\nCOMMAND", "ls & COMMAND", "! COMMAND", "time COMMAND",
    "env COMMAND", "nohup COMMAND", "command COMMAND", "nice -n 5 COMMAND", "timeout 5 COMMAND",
    "env CI=1 COMMAND", "echo $(COMMAND)", 'echo "$(COMMAND)"', "echo `COMMAND`", "cat <(COMMAND)",
    "if true; then COMMAND\nfi", "for i in a; do COMMAND\ndone", "while COMMAND\ndo ls; done",
    "f() { COMMAND\n}", "sh -c QUOTED", "bash -lc QUOTED", "ls > /dev/null; COMMAND", "CI=1 COMMAND",
    "xargs COMMAND", "find . -exec COMMAND \\;", "# c\nCOMMAND", "ls # c\nCOMMAND", "cd . && COMMAND",
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
        words = [word for command in parse_shell(changed).commands for word in command[:1]]
        assert not {"rm", "git", "shutdown", "sudo"} & set(words) or "push" not in changed


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_text_gets_a_verdict(text: str) -> None:
    assert bash(text).decision in {"allow", "ask", "deny"}


def test_allowed_commands_run_and_write_nothing_else_in_real_shells(tmp_path: Path) -> None:
    """A small, fixed part of the benchmark."""
    allowed = list(dict.fromkeys(text for text in scripts(random.Random(7), 2000) if is_allowed(text)))
    counts = Counts()
    scratch = Scratch(tmp_path)
    for start in range(0, len(allowed), 100):
        scratch.check(allowed[start : start + 100], counts)
    assert len(allowed) > 300
    assert counts.texts == dict.fromkeys(scratch.shells, len(allowed))
    assert min(counts.programs.values()) > len(allowed)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ok a; evil", "not run"),
        ("ok >f", "changed"),
        ("ok *", "not literal"),
        ("ok `evil`", "not literal"),
    ],
)
def test_the_check_in_real_shells_can_fail(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The policy is replaced by one that reads only the first two words."""
    if message != "not literal":
        script = LiteralScript((("ok", "a" if message == "changed" else "b"),), ())
        monkeypatch.setattr("tests.shells.parse_literal", lambda _: script)
    with pytest.raises(Violation, match=message.replace("not run", "ran|did not run")):
        Scratch(tmp_path).check([text], Counts())


@pytest.mark.parametrize("character", ["\0", "\x01", "\x80", "é", "\u2028", "\uffff", "\U0001f600", "\udc80"])
def test_no_character_stops_the_grammar(character: str) -> None:
    """Its scanner crashes on some characters, and with it would the watcher."""
    for start in ("", "$", "${", "a=", "<<", "`", "[[ ", "((", "{", "#", "[[ a =~ ", "${x/", "@(", "cat <<-"):
        for end in ("", "a", " b", "}", "]]", "\n"):
            parse_shell(start + character + end)
    assert parse_shell(f"rm 'a{character}b' \"{character}\" c{character} $x").commands[0][1:4] == (
        f"a{character}b",
        character,
        f"c{character}",
    )


def test_a_text_that_crashes_the_grammars_scanner_is_harmless() -> None:
    """Given to tree-sitter as it is, this text ends the process."""
    text = "\U0007aa7f{\U000cc7eaxa\ua7a8x\u0f0a\t<\u018a\U00055f8b{\U0008506c"
    program = f"from chorus.policy.shell import parse_shell; parse_shell({text!a})"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_tree_is_read_for_what_it_may_run_write_and_read() -> None:
    script = parse_shell("a 'b' \"c\" \"$d\" e\\ f $'g' x\"y\"'z' > out 2>> $err < in; export A=1 B")
    assert script.commands == [("a", "b", "c", None, "e f", None, "xyz"), ("export", "B")]
    assert script.writes == ["out", None]
    assert script.reads == ["in"]
    assert parse_shell("( " * 400 + "ls" + " )" * 400).commands == [("ls",)]
    assert parse_shell("ls $" + "a" * 10_000).commands == []
    assert parse_shell("git  log 'a b'").commands == [("git", "log", "a b")]


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("env -u X A=b rm x", "rm x"),
        ("timeout -k 5 10 rm x", "rm x"),
        ("sudo -u root env nice -n 5 rm x", "rm x"),
        ("sh -ec 'rm x' y", "rm x"),
        ("bash -l script -c $x", None),
        ("bash -cx 'rm x'", "rm x"),
        ("bash -c -e -- 'rm x' rm y", "rm x"),
        ("bash -co pipefail 'rm x'", "rm x"),
        ("bash +cO extglob 'rm x'", "rm x"),
        ("bash -c $x 'rm x'", None),
        ("bash --rcfile x y 'rm x'", None),
        ("fish --command 'rm x'", "rm x"),
        ("fish --init-command='rm x'", "rm x"),
        ("timeout --signal KILL 10 rm x", "rm x"),
        ("timeout --sig KILL --kill-after 5 10 rm x", "rm x"),
        ("timeout --signal=KILL -vk 5 10 rm x", "rm x"),
        ("timeout --foreground 10 rm x", "rm x"),
        ("sudo --user root rm x", "rm x"),
        ("sudo --login rm x", "rm x"),
        ("sudo -nu $x rm x", "rm x"),
        ("sudo -nuroot -- rm x", "rm x"),
        ("doas -nu root rm x", "rm x"),
        ("nice --adjustment 5 rm x", "rm x"),
        ("nice -10 rm x", "rm x"),
        ("ionice --class 2 --classdata 0 rm x", "rm x"),
        ("stdbuf --output L -i0 rm x", "rm x"),
        ("time --format %e --output x rm x", "rm x"),
        ("xargs --max-args 1 --delimiter , rm x", "rm x"),
        ("xargs -0rn 1 rm x", "rm x"),
        ("xargs --max-lines rm x", "rm x"),
        ("watch --interval 1 rm x", "rm x"),
        ("watch -n 1 'ls; rm x'", "rm x"),
        ("watch -x sh -c 'rm x'", "rm x"),
        ("watch $y 'rm x'", None),
        ("exec -cla x rm x", "rm x"),
        ("chroot --userspec x --groups=y / rm x", "rm x"),
        ("flock --timeout 5 x rm x", "rm x"),
        ("flock -w 5 x -c 'ls; rm x'", "rm x"),
        ("flock x --command 'rm x'", "rm x"),
        ("env -i -", None),
        ("env --unset X rm x", "rm x"),
        ("env -S 'rm x'", "rm x"),
        ("env '-iSrm x'", "rm x"),
        ("env --split-string='A=b rm\\_x'", "rm x"),
        ("env -S 'sudo -u root' rm x", "rm x"),
        ("env -S $y rm x", "rm x"),
        ("env -S", None),
        ("env -S ')'", None),
        ("eval rm $y x", "rm x"),
        ("find . -exec rm x ';' -print", "rm x"),
        ("find . -exec rm + x '{}' +", "rm + x …"),
        ("find . -exec rm x", "rm x"),
        ("env", None),
        ("$x rm", None),
        ("env " * 9 + "rm x", None),
    ],
)
def test_the_command_inside_a_wrapper_is_found(text: str, inner: str | None) -> None:
    found = [" ".join(word or "…" for word in command) for command in parse_unwrapped(text).commands]
    assert (inner in found) if inner else not any(command.startswith("rm") for command in found)


@pytest.mark.parametrize("word", ["-exec", "xargs", "eval", "env", "sh -c", "env -S", "watch"])
def test_the_commands_inside_commands_stay_few(word: str) -> None:
    """Otherwise a text of some thousand words would hold up the watcher for half a minute."""
    text = f"find {word} " * 700
    words = sum(len(command) for command in parse_unwrapped(text).commands)
    assert words < 10 * len(text.split())
