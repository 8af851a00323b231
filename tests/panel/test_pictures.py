import pytest

from tests.panel.pictures import DIRECTORY, SCENES, play, read_picture


@pytest.mark.parametrize("name", SCENES)
async def test_the_pictures_of_the_guide_are_up_to_date(name: str) -> None:
    kept = (DIRECTORY / f"{name}.svg").read_text(encoding="utf-8")
    assert read_picture(await play(name)) == read_picture(kept), "draw them again with `make pictures`"


def test_every_picture_has_a_scene() -> None:
    assert {path.stem for path in DIRECTORY.glob("panel-*.svg")} == set(SCENES)


def test_a_picture_loads_nothing_from_the_web() -> None:
    for path in DIRECTORY.glob("panel-*.svg"):
        text = path.read_text(encoding="utf-8")
        assert "url(http" not in text
        assert "cdn" not in text
