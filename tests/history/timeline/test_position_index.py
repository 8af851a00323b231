"""Positions by key, of which only hashes are kept."""

from hypothesis import given, settings
from hypothesis import strategies as st

from chorus.history.timeline import position_index
from chorus.history.timeline.position_index import PositionIndex


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(0, 40).map(str), st.integers(0, 2**32 - 1))),
    st.integers(1, 8),
)
def test_each_key_has_the_position_that_was_set_last(entries: list[tuple[str, int]], chunk: int) -> None:
    kept, position_index.CHUNK = position_index.CHUNK, chunk
    try:
        index, known = PositionIndex(), dict[str, int]()
        for key, position in entries:
            index[key] = known[key] = position
        assert all(index.get(str(key)) == known.get(str(key)) for key in range(-1, 42))
    finally:
        position_index.CHUNK = kept
