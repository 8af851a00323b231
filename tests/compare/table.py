"""Render the comparison as Markdown tables."""

from pathlib import Path

from tests.compare.measurements import SLOW_EDITS, Row
from tests.compare.revert_cases import REVERT_CASES

COMPARED, FELT = "compare", "felt"  # the tables of the page, by their markers
MARKS = {"right": "✓", "refused": "–", "wrong": "✗"}


def render(rows: list[Row], sizes: list[int], edits: int) -> str:
    complete = [row for row in rows if row.missing is None]
    lines = [
        f"`make compare`: {edits} edits in one session, all in one run.",
        "",
        *_overview(complete, sizes),
    ]
    lines += ["", *_cases([row for row in complete if row.revert_results])]
    lines += [f"\n{row.name} is not in the table: {row.missing}." for row in rows if row.missing is not None]
    return "\n".join(lines)


def _overview(rows: list[Row], sizes: list[int]) -> list[str]:
    """Render one line per measurement and one column per contender, which fits a page."""
    slowly = f"{SLOW_EDITS} edits a second apart"
    table = [
        ("", [f"{row.name} {row.version}".strip() for row in rows]),
        *((f"added per edit, {n:,} files", [_ms(row.added_ms.get(n)) for row in rows]) for n in sizes),
        ("recorded separately, edits back to back", [f"{row.recorded} of {row.edits}" for row in rows]),
        (f"recorded separately, {slowly}", [_of(row.recorded_slowly, SLOW_EDITS) for row in rows]),
        ("your branch and index untouched", [_yes(row.branch_untouched) for row in rows]),
        ("your uncommitted files stay uncommitted", [_yes(row.work_untouched) for row in rows]),
        *((f"disk, {n:,} files", [_megabytes(row.added_bytes[n]) for row in rows]) for n in sizes),
        (f"one action reverted: right / wrong of {len(REVERT_CASES)}", [_score(row) for row in rows]),
    ]  # fmt: skip
    lines = [f"| {name} | " + " | ".join(cells) + " |" for name, cells in table]
    return [lines[0], "|---|" + "---|" * len(rows), *lines[1:]]


def _cases(rows: list[Row]) -> list[str]:
    lines = ["Each revert case: ✓ right, – refused or not offered and nothing changed, ✗ wrong.", ""]
    lines += ["| | " + " | ".join(row.name for row in rows) + " |", "|---|" + "---|" * len(rows)]
    lines += [
        f"| {case.name} | " + " | ".join(MARKS[row.revert_results[case.name]] for row in rows) + " |"
        for case in REVERT_CASES
    ]
    return lines


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{max(value, 0):.0f} ms"


def _megabytes(value: int) -> str:
    return f"{value / 1e6:.2f} MB"


def _of(count: int | None, whole: int) -> str:
    return "–" if count is None else f"{count} of {whole}"


def _yes(value: bool) -> str:
    return "yes" if value else "**no**"


def _score(row: Row) -> str:
    if not row.revert_results:
        return "–"
    results = list(row.revert_results.values())
    return f"{results.count('right')} / {results.count('wrong')}"


def insert_into(page: Path, name: str, text: str) -> None:
    """Replace what is between the markers of this name in a page."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    head, found, rest = page.read_text().partition(begin)
    if not found:
        raise ValueError(f"{page} has no marker {begin}")
    page.write_text(f"{head}{begin}\n{text}\n{end}{rest.partition(end)[2]}")
