"""Generated documents are current."""

import shutil
import subprocess

import pytest

from chorus.commands.parser.reference import read_pages
from chorus.errors import ExitCode
from tests.docs.generated import DOCS, DOCUMENTS, MEANINGS


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_generated_document_is_current(name: str) -> None:
    written = (DOCS / name).read_text(encoding="utf-8")

    assert written == DOCUMENTS[name](read_pages()), "run `make docs`"


def test_every_exit_code_is_explained() -> None:
    assert set(MEANINGS) == set(ExitCode)


def test_every_option_and_argument_has_a_help_text() -> None:
    every = [one for page in read_pages() for one in (page, *page.subcommands)]

    assert [(page.name, option) for page in every for option in page.options if not option.help] == []
    silent = [
        (page.name, one) for page in every for one in page.arguments if not one.help and not one.choices
    ]
    assert silent == []


def test_options_that_need_another_one_are_under_the_title_that_says_so() -> None:
    options = {page.name: {option.flags[0]: option.group for option in page.options} for page in read_pages()}

    assert {name for name, group in options["inbox"].items() if group == "options for --web"} == {
        "--port", "--read-only", "--url", "--bind",
    }  # fmt: skip
    assert options["panel"]["--pane"] == options["panel"]["-L"] == "options for --toggle"
    assert options["panel"]["--theme"] == ""
    for name, title in (("commands.md", "*options for --web:*"), ("chorus.1", "Options for \\-\\-web:")):
        assert title in (DOCS / name).read_text(encoding="utf-8")


def test_the_manual_page_is_well_formed() -> None:
    if shutil.which("groff") is None:
        pytest.skip("no groff on this machine")
    command = ["groff", "-man", "-ww", "-K", "utf8", "-T", "utf8", "-z", str(DOCS / "chorus.1")]
    done = subprocess.run(command, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
