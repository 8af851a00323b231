"""What is known of the rows behind an object that broke off."""

from chorus.agents.claude_code.terminal.openings import Wreck


def test_a_place_that_only_may_begin_an_object_does_not_replace_the_first() -> None:
    broken = Wreck(until=9)
    broken.glue(3, 5, sure=False)
    broken.glue(3, 8, sure=False)
    assert broken.glued == {3: 5}
    assert not broken.is_sure(3, 5)
    broken.glue(3, 5, sure=True)
    assert broken.is_sure(3, 5)
