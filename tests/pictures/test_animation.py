"""The moving picture: what was on the screen is shown, when it was there, and nothing else."""

import re
from xml.etree import ElementTree

from tests.pictures.animation import Frame, carry_styles, find_spans, render_animation, render_row
from tests.pictures.session import PICTURE

RED = "\x1b[31m"
PLAIN = "\x1b[0m"
SVG = "{http://www.w3.org/2000/svg}"


def test_a_row_is_shown_as_long_as_it_stays() -> None:
    spans = find_spans([("a", "b"), ("a", "c"), ("", "c")])
    assert [(span.place, span.first, span.end) for span in spans] == [(0, 0, 2), (1, 0, 1), (1, 1, 3)]


def test_a_row_begins_in_the_style_in_which_the_one_above_ends() -> None:
    rows = [f"a{RED}", "b", f"\x1b[1mc{PLAIN}", "d"]
    assert list(carry_styles(rows)) == [rows[0], f"{RED}b", f"{RED}\x1b[1mc{PLAIN}", f"{PLAIN}d"]


def test_a_row_keeps_its_colours_and_columns() -> None:
    plain, red = re.findall(
        r'<text x="([\d.]+)" y="\d+" textLength="([\d.]+)" fill="(#\w+)">([^<]*)',
        render_row(f"  a  b {RED}<red>{PLAIN}"),
    )
    assert plain == ("16.8", "33.6", "#cdd3de", "a\xa0\xa0b")
    assert red == ("58.8", "42", "#e06c75", "&lt;red&gt;")
    assert render_row("   ") == ""


def test_the_picture_is_one_document_with_a_frame_for_readers_who_want_no_motion() -> None:
    frames = [Frame(("one",), 1.0, "first"), Frame(("two", "& more"), 3.0, "second")]
    picture = render_animation(frames, columns=20, poster=1)
    root = ElementTree.fromstring(picture)
    texts = {f"#{group.get('id')}": "".join(group.itertext()) for group in root.iter(f"{SVG}g")}
    uses = list(root.iter(f"{SVG}use"))
    still = {texts[str(use.get("href"))] for use in uses if " p" in str(use.get("class"))}
    assert still == {"two", "&\xa0more", "second"}
    assert "25.000%{visibility:hidden}" in picture  # the first frame ends after one of four seconds
    assert "prefers-reduced-motion: no-preference" in picture


def test_the_kept_picture_shows_the_whole_story_and_loads_nothing() -> None:
    picture = PICTURE.read_text(encoding="utf-8")
    words = "".join(ElementTree.fromstring(picture).itertext()).replace("\xa0", " ")
    for step in (
        "Do you want to proceed?",
        "5 open",
        "reverted 4",
        "note 1 is a draft",
        "landed 1 commit",
    ):
        assert step in words
    assert not re.search(r"<script|<image|https?://(?!www\.w3\.org/2000/svg)|url\(", picture)
