"""Every case has its turn, and each turn has one case in so many."""

from types import SimpleNamespace

import pytest
from laws.turns import of_other_turns

TABLES = {"a.py::test_one": 9, "a.py::test_two": 4, "b.py::test_three": 1}


def items(share: int | None) -> list[SimpleNamespace]:
    mark = pytest.mark.rotate(share).mark if share else None
    names = [f"{test}[{case}]" for test, cases in TABLES.items() for case in range(cases)]
    return [SimpleNamespace(nodeid=name, get_closest_marker=lambda _: mark) for name in names]


def test_in_as_many_turns_every_case_is_run_once() -> None:
    cases = items(3)
    left_out = [{case.nodeid for case in of_other_turns(cases, turn)} for turn in range(7, 10)]
    assert all(sum(case.nodeid in left for left in left_out) == 2 for case in cases)
    assert all(sum(name.startswith("a.py::test_one") for name in left) == 6 for left in left_out)


def test_others_are_run_at_every_turn() -> None:
    assert [*of_other_turns(items(None), 5)] == []
