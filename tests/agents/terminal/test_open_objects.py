"""What is known of the rows behind an object that broke off."""

from chorus.agents.claude_code.terminal.documents import BrokenObject


def test_a_possible_start_of_an_object_does_not_replace_the_first() -> None:
    broken = BrokenObject(until=9)
    broken.add_next_start(3, 5, sure=False)
    broken.add_next_start(3, 8, sure=False)
    assert broken.next_starts == {3: 5}
    assert not broken.is_sure(3, 5)
    broken.add_next_start(3, 5, sure=True)
    assert broken.is_sure(3, 5)
