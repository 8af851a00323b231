import pytest

from chorus.panel.style.layout import plan_arrangement


@pytest.mark.parametrize("prompt_rows", [0, 8, 30, 500])
@pytest.mark.parametrize("diff_open", [False, True])
@pytest.mark.parametrize("folded", [False, True])
def test_every_size_leaves_room_for_prompt_and_queue(prompt_rows: int, diff_open: bool, folded: bool) -> None:
    for width in (20, 40, 80, 99, 100, 300):
        for height in range(5, 80):
            plan = plan_arrangement(
                width,
                height,
                prompt_rows=prompt_rows,
                queue_rows=9,
                sessions=9,
                diff_open=diff_open,
                prompt_folded=folded,
            )
            margin = 0 if plan.short or not plan.prompt else 2
            left = height - plan.sessions - plan.prompt - margin - 2
            assert left >= 0, (width, height, plan)
            if plan.body != "-none":
                assert left >= 2 or height < 9, (width, height, plan)
            if prompt_rows:
                assert plan.prompt >= 1
                assert plan.prompt_small or plan.prompt >= min(prompt_rows, 4) or height < 10, (height, plan)
            else:
                assert plan.body != "-none"


@pytest.mark.parametrize(
    ("size", "body"),
    [
        ((40, 12), "-queue"),
        ((80, 24), "-stacked"),
        ((60, 50), "-stacked"),
        ((120, 40), "-side"),
        ((300, 12), "-side"),
    ],
)
def test_the_body_is_divided_by_the_available_space(size: tuple[int, int], body: str) -> None:
    plan = plan_arrangement(
        *size, prompt_rows=0, queue_rows=9, sessions=1, diff_open=False, prompt_folded=False
    )
    assert plan.body == body


def test_on_a_short_screen_a_prompt_hides_the_queue_and_can_be_folded() -> None:
    shown = plan_arrangement(
        40, 12, prompt_rows=9, queue_rows=9, sessions=2, diff_open=False, prompt_folded=False
    )
    assert (shown.body, shown.prompt, shown.prompt_small) == ("-none", 9, False)
    folded = plan_arrangement(
        40, 12, prompt_rows=9, queue_rows=9, sessions=2, diff_open=False, prompt_folded=True
    )
    assert (folded.body, folded.prompt, folded.prompt_small) == ("-queue", 1, True)


def test_a_long_prompt_gets_the_rows_the_queue_does_not_need() -> None:
    for queue_rows, prompt in ((0, 17), (2, 16), (100, 14)):
        plan = plan_arrangement(
            80, 24, prompt_rows=40, queue_rows=queue_rows, sessions=1, diff_open=False, prompt_folded=False
        )
        assert plan.prompt == prompt, queue_rows
