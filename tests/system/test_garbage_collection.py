"""Pauses of the garbage collection."""

import gc
import threading

from chorus.system.garbage_collection import garbage_collection_paused


def test_the_collection_goes_on_after_a_pause() -> None:
    assert gc.isenabled()
    with garbage_collection_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_pause_lasts_when_one_of_another_thread_that_began_before_it_ends() -> None:
    entered, leave = threading.Event(), threading.Event()

    def pause_first() -> None:
        with garbage_collection_paused():
            entered.set()
            leave.wait(10)

    other = threading.Thread(target=pause_first)
    other.start()
    assert entered.wait(10)
    with garbage_collection_paused():
        leave.set()
        other.join()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_pause_ends_with_an_error() -> None:
    try:
        with garbage_collection_paused():
            raise ValueError
    except ValueError:
        pass
    assert gc.isenabled()
