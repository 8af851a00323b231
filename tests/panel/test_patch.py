from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chorus.panel.widgets.patch import MAX_LINES, changed_span, parse_patch, plan_pairs
from tests.panel.story import PARSER, TESTS


def kinds(text: str) -> list[str]:
    return [line.kind for line in parse_patch(text).lines]


def test_lines_have_their_kinds_and_numbers() -> None:
    lines = parse_patch(PARSER).lines
    assert (lines[0].kind, lines[0].text) == ("file", "src/parser.py")
    assert (lines[1].kind, lines[1].text, lines[1].new) == ("hunk", "class Parser:", 12)
    removed = [(line.old, line.text.strip()) for line in lines if line.kind == "removed"]
    assert removed[1] == (15, "return width")
    assert [line.new for line in lines if line.kind == "added"] == [14, 15, 16, 17, 18, 19, 22]


def test_a_removed_line_that_reads_like_a_header_is_a_removed_line() -> None:
    text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n+++ b/y\n same\n"
    assert kinds(text) == ["file", "hunk", "removed", "added", "context"]


def test_renames_modes_and_binaries_become_header_lines() -> None:
    text = (
        "diff --git a/old b/new\nsimilarity index 90%\nrename from old\nrename to new\n"
        "diff --git a/tool b/tool\nold mode 100644\nnew mode 100755\n"
        "diff --git a/pic.png b/pic.png\nindex 1..2 100644\nBinary files a/pic.png and b/pic.png differ\n"
    )
    lines = parse_patch(text).lines
    assert [line.text for line in lines if line.kind == "file"] == ["new", "tool", "pic.png"]
    assert [line.text for line in lines if line.kind == "header"] == [
        "rename from old",
        "rename to new",
        "old mode 100644",
        "new mode 100755",
        "Binary files a/pic.png and b/pic.png differ",
    ]


def test_a_missing_newline_is_shown_where_it_is() -> None:
    text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"
    assert kinds(text) == ["file", "hunk", "removed", "header", "added"]


def test_names_with_blanks_are_kept_whole() -> None:
    assert parse_patch("diff --git a/a b/c b/a b/c\n").lines[0].text == "a b/c"


def test_a_long_patch_is_cut_and_the_rest_is_counted() -> None:
    patch = parse_patch("x\n" * (MAX_LINES + 5))
    assert (len(patch.lines), patch.left_out) == (MAX_LINES, 5)


def test_only_a_line_feed_ends_a_line() -> None:
    text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\x0b\u2028b\n+c\n"
    assert parse_patch(text).lines[2].text == "a\r\x0b\u2028b"


def test_removed_and_added_lines_are_paired() -> None:
    pairs = plan_pairs(parse_patch(PARSER).lines)
    changed = [(left and left.old, right and right.new) for left, right in pairs if left is not right]
    assert changed == [(14, 14), (15, 15), (None, 16), (None, 17), (None, 18), (None, 19), (18, 22)]


def test_an_editor_opens_at_the_first_change() -> None:
    assert parse_patch(PARSER).first_changed_line() == 13
    assert parse_patch(TESTS).first_changed_line() == 1
    assert parse_patch("").first_changed_line() == 1


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text("ab", max_size=8), st.text("ab", max_size=8))
def test_outside_the_changed_span_two_lines_are_the_same(old: str, new: str) -> None:
    start, old_end, new_end = changed_span(old, new)
    assert old[:start] == new[:start]
    assert old[old_end:] == new[new_end:]
    assert start <= old_end <= len(old)
    assert start <= new_end <= len(new)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(st.sampled_from("@-+ \\ab1,\n"), max_size=80))
def test_any_text_can_be_parsed_as_a_patch(text: str) -> None:
    parse_patch(text)
