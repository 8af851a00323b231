"""Tests of the dictionary and the set of limited size."""

from chorus.model.lru import LruDict, RecentKeys


def test_the_entry_that_was_used_longest_ago_is_dropped() -> None:
    entries: LruDict[str, int] = LruDict(2)
    entries["a"] = 1
    entries["b"] = 2
    entries["a"] = 3
    entries["c"] = 4
    assert dict(entries) == {"a": 3, "c": 4}
    assert entries.touch("a") == 3
    entries["d"] = 5
    assert dict(entries) == {"a": 3, "d": 5}
    assert entries.touch("b") is None


def test_a_key_is_new_only_once() -> None:
    keys: RecentKeys[str] = RecentKeys(2)
    assert keys.add("a")
    assert not keys.add("a")


def test_the_newest_keys_are_remembered_and_older_ones_are_dropped() -> None:
    keys: RecentKeys[int] = RecentKeys(3)
    for number in range(100):
        assert keys.add(number)
        assert not any(keys.add(recent) for recent in range(max(0, number - 2), number + 1))
    assert keys.add(0)
