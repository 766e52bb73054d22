"""Every case has its turn, and each turn has one case in so many."""

from types import SimpleNamespace

import pytest
from laws.turns import SHARE, of_other_turns

TABLES = {"a.py::test_one": 9, "a.py::test_two": 4, "b.py::test_three": 1}


def items(decorator: pytest.MarkDecorator | None) -> list[SimpleNamespace]:
    mark = decorator and decorator.mark
    names = [f"{test}[{case}]" for test, cases in TABLES.items() for case in range(cases)]
    return [SimpleNamespace(nodeid=name, get_closest_marker=lambda _: mark) for name in names]


def test_in_as_many_turns_every_case_is_run_once() -> None:
    cases = items(pytest.mark.rotate)
    left_out = [{case.nodeid for case in of_other_turns(cases, turn)} for turn in range(7, 7 + SHARE)]
    assert all(sum(case.nodeid in left for left in left_out) == SHARE - 1 for case in cases)
    assert {9 - sum(name.startswith("a.py::test_one") for name in left) for left in left_out} == {1, 2}


def test_what_shares_a_fixture_is_run_at_one_turn_together() -> None:
    of_file = [case for case in items(pytest.mark.rotate("site")) if case.nodeid.startswith("a.py")]
    left_out = [len([*of_other_turns(of_file, turn)]) for turn in range(7, 7 + SHARE)]
    assert sorted(left_out) == [0] + [len(of_file)] * (SHARE - 1)


def test_others_are_run_at_every_turn() -> None:
    assert [*of_other_turns(items(None), 5)] == []
