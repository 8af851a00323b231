"""The small grammar: what it reads, and the reason for what it refuses."""

import pytest

from chorus.policy.literal import MAX_LENGTH, NotLiteral, parse_literal


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("ls", [["ls"]]),
        (" \t\nls  -la\t.\n", [["ls", "-la", "."]]),
        ("ls 'a b' \"c d\" e'f g'h -m\"x\"", [["ls", "a b", "c d", "ef gh", "-mx"]]),
        ("ls '' \"\"", [["ls", "", ""]]),
        ("ls '; rm' \"| rm > f # {a} * ~ & (\"", [["ls", "; rm", "| rm > f # {a} * ~ & ("]]),
        ("a&&b||c;d|e\nf", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("a &&\n\n b |\n c;\n\nd;", [["a"], ["b"], ["c"], ["d"]]),
        ("ls 'a\nb'", [["ls", "a\nb"]]),
        ("ls 'é日本'", [["ls", "é日本"]]),
        ("ls --x=a --y='=b' 'c=d'", [["ls", "--x=a", "--y==b", "c=d"]]),
        ("a 2>&1|b >/dev/null 2>&1&&c 2> /dev/null;d 1>/dev/null", [["a"], ["b"], ["c"], ["d"]]),
        ("a 2>&1 b", [["a", "b"]]),
        ("./a/b-c.d /x/y ../z 7z", [["./a/b-c.d", "/x/y", "../z", "7z"]]),
        ("7z x", [["7z", "x"]]),
        ("echo if then time", [["echo", "if", "then", "time"]]),
        ("command -v git", [["command", "-v", "git"]]),
    ],
)
def test_words_are_read_as_every_shell_reads_them(text: str, commands: list[list[str]]) -> None:
    assert [list(words) for words in parse_literal(text).commands] == commands


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ls $x", r"contains `\$`"),
        ("ls '$'", r"contains `\$`"),
        ("ls `x`", "contains ```"),
        ("ls a\\ b", r"contains `\\`"),
        ("ls '!'", "contains `!`"),
        ("ls\0", "invisible character U\\+0000"),
        ("ls\u00a0x", r"invisible character U\+00A0"),
        ("ls '\u202e'", r"invisible character U\+202E"),
        ("ls '\udc80'", r"invisible character U\+DC80"),
        ("ls é", "contains `é` outside quotes"),
        ("ls *", r"contains `\*` outside quotes"),
        ("ls {a,b}", "contains `{` outside quotes"),
        ("ls &", "contains `&` outside quotes"),
        ("(ls)", r"contains `\(` outside quotes"),
        ("ls #x", "contains `#` outside quotes"),
        ("ls > f", "redirection `>`"),
        ("ls <f", "redirection `<`"),
        ("ls>/dev/null", "redirection `>`"),
        ("ls 2>&1>/dev/null", "redirection `>`"),
        (">/dev/null", "redirection `>`"),
        ("ls 'a", "not closed"),
        ("ls 'a''b'", "side by side"),
        ("ls 'a'\"b\"", "side by side"),
        ("A=b ls", "contains `=`"),
        ("ls =b", "contains `=`"),
        ("ls --a==b", "contains `=`"),
        ("ls --a''=b", "contains `=`"),
        ("ls ''--a=b", "contains `=`"),
        ("'ls'", "not a plain word"),
        ("l's'", "not a plain word"),
        ("''", "not a plain word"),
        ("12", "not a plain word"),
        ("-", "not a plain word"),
        ("%1", "not a plain word"),
        (":", "not a plain word"),
        ("if x", "`if`, a keyword or builtin"),
        ("ls; noglob ls", "`noglob`, a keyword or builtin"),
        ("time ls", "`time`, a keyword or builtin"),
        ("command ls", "`command`, a keyword or builtin"),
        ("", "no command"),
        ("\n \n", "no command"),
        (";", "no command precedes a `;`"),
        ("ls;;", "no command precedes a `;`"),
        ("ls\n|ls", r"no command precedes a `\|`"),
        ("ls &&", "no command follows the last `&&`"),
        ("ls |\n\n", r"no command follows the last `\|`"),
        ("ls; pwd |", r"no command follows the last `\|`"),
        ("ls; pwd; id |", r"no command follows the last `\|`"),
        ("ls 'a'>/dev/null", "redirection `>`"),
        ("ls\n>/dev/null", "redirection `>`"),
        ("ls a& b", "contains `&` outside quotes"),
        ("ls " + "a" * 10_000, "longer than"),
    ],
)
def test_anything_else_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(NotLiteral, match=reason):
        parse_literal(text)


def test_a_text_may_be_as_long_as_the_limit() -> None:
    name = "ls "
    assert parse_literal(name + "a" * (MAX_LENGTH - len(name))).separators == ()
    with pytest.raises(NotLiteral, match="longer than"):
        parse_literal(name + "a" * (MAX_LENGTH - len(name) + 1))


def test_a_last_semicolon_may_follow_any_other_separator() -> None:
    assert parse_literal("a && b;").separators == ("&&", ";")
    assert parse_literal("a | b\n").commands == (("a",), ("b",))


def test_the_separators_are_known() -> None:
    assert parse_literal("a && b | c\nd;").separators == ("&&", "|", "\n", ";")
    assert parse_literal("a").separators == ()
