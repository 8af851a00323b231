import pytest

from tests.panel.pictures import DIRECTORY, SCENES, play, read_words


@pytest.mark.parametrize("name", SCENES)
async def test_the_guides_pictures_show_the_panel_as_it_is(name: str) -> None:
    kept = (DIRECTORY / f"{name}.svg").read_text(encoding="utf-8")
    assert read_words(await play(name)) == read_words(kept), "draw them anew with `make pictures`"


def test_no_picture_is_kept_that_no_scene_draws() -> None:
    assert {path.stem for path in DIRECTORY.glob("panel-*.svg")} == set(SCENES)


def test_a_picture_loads_nothing_from_elsewhere() -> None:
    for path in DIRECTORY.glob("panel-*.svg"):
        text = path.read_text(encoding="utf-8")
        assert "url(http" not in text
        assert "cdn" not in text
