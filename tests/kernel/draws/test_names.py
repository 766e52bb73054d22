"""Flat names and the order of elements, as in Stan's CSV."""

import numpy as np
import pytest

from ppl.kernel.draws.names import Sized, column_names, flat, flat_value, sized

PAIR = sized("pair", (), (), [("pair.1", (), ()), ("pair.2", (), (2,))])
PAIRS = sized("pairs", (2,), (), [("pairs.1", (), ()), ("pairs.2", (), (2,))])


@pytest.mark.parametrize(
    ("variable", "names"),
    [
        (Sized("a", (), ()), ["a"]),
        (Sized("v", (), (3,)), ["v.1", "v.2", "v.3"]),
        (Sized("A", (), (2, 2)), ["A.1.1", "A.2.1", "A.1.2", "A.2.2"]),
        (Sized("b", (2,), (2,)), ["b.1.1", "b.2.1", "b.1.2", "b.2.2"]),
        (Sized("none", (0,), (3,)), []),
        (PAIR, ["pair:1", "pair:2.1", "pair:2.2"]),
        (PAIRS, ["pairs.1:1", "pairs.1:2.1", "pairs.1:2.2", "pairs.2:1", "pairs.2:2.1", "pairs.2:2.2"]),
    ],
    ids=lambda x: x.name if isinstance(x, Sized) else "",
)
def test_column_names(variable: Sized, names: list[str]) -> None:
    assert column_names(variable) == names


def test_the_first_index_runs_fastest_over_all_axes() -> None:
    value = np.arange(24.0).reshape(2, 3, 4)
    variable = Sized("x", (2,), (3, 4))
    named = dict(zip(column_names(variable), flat_value(variable, value), strict=True))
    assert named["x.1.1.1"] == value[0, 0, 0]
    assert named["x.2.3.4"] == value[1, 2, 3]
    assert named["x.2.1.3"] == value[1, 0, 2]
    assert list(named)[:3] == ["x.1.1.1", "x.2.1.1", "x.1.2.1"]


def test_values_follow_names_through_tuples() -> None:
    values = [(1.0, np.array([2.0, 3.0])), (4.0, np.array([5.0, 6.0]))]
    assert flat([PAIRS], {"pairs": values}).tolist() == [1, 2, 3, 4, 5, 6]


def test_no_variable_is_no_column() -> None:
    assert flat([], {}).shape == (0,)
