"""A test of many cases fails with all that fail."""

import pytest
from laws.every import every

CASES = [("a", 1), ("a", -1), ("b", 2), ("a", -2)]


@every("name, value", CASES, lambda case: case[0])
def positive(tmp_path, name, value):
    assert value > 0


def test_the_cases_of_a_record_are_one_test():
    (mark,) = positive.pytestmark
    (names, groups), ids = mark.args, mark.kwargs["ids"]
    assert (names, list(groups), list(ids)) == (
        "cases",
        [[CASES[0], CASES[1], CASES[3]], [CASES[2]]],
        ["a", "b"],
    )


def test_every_case_that_fails_is_named():
    positive([("b", 2)], tmp_path=None)
    with pytest.raises(ExceptionGroup, match="2 of 3 cases fail") as failed:
        positive([CASES[0], CASES[1], CASES[3]], tmp_path=None)
    assert [error.__notes__ for error in failed.value.exceptions] == [
        ["Case: ('a', -1)"],
        ["Case: ('a', -2)"],
    ]


@every("outcome", [pytest.skip, pytest.fail, lambda why: None, pytest.fail])
def ended(outcome):
    outcome("because")


def test_no_case_ends_the_others():
    (groups,) = ended.pytestmark[0].args[1]
    with pytest.raises(ExceptionGroup, match="3 of 4 cases fail") as failed:
        ended(groups)
    assert [str(error) for error in failed.value.exceptions] == ["because"] * 3
