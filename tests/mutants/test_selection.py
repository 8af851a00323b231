"""Which tests are tried on a mutant."""

from tests.mutants import selection

MODULE = "model/lru.py"
CREATE, SET, TOUCH = (
    "tests/test_a.py::test_create",
    "tests/test_a.py::test_set",
    "tests/test_b.py::test_touch",
)


def line_of(text: str) -> int:
    lines = (selection.ROOT / "chorus" / MODULE).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_line_in_a_function_is_tried_with_the_tests_that_run_it_and_any_other_with_all() -> None:
    imported, run = line_of("_set = OrderedDict"), line_of("self.popitem(last=False)")
    lines = {MODULE: {imported: [CREATE], run: [SET], run + 5: [TOUCH]}}
    tests = selection.TestSelection({CREATE: 0.1, SET: 0.1, TOUCH: 0.1}, lines)
    assert tests.for_line(MODULE, run) == [SET]
    assert sorted(tests.for_line(MODULE, imported)) == [CREATE, SET, TOUCH]
    assert sorted(tests.for_line(MODULE, line_of("def touch"))) == [CREATE, SET, TOUCH]
