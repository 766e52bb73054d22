import numpy as np
import pytest

from ppl.errors import DataError
from ppl.kernel.draws.columns import chosen, reshape, variables


def flat_names(name, shape):
    """Stan's names: 1-based and column-major, the first index fastest."""
    index = np.indices(shape).reshape(len(shape), -1, order="F").T + 1
    return [".".join([name, *map(str, row)]) for row in index]


@pytest.mark.parametrize("shape", [(1,), (4,), (2, 3), (3, 2, 4)])
def test_reshape_undoes_column_major(shape):
    value = np.random.default_rng(1).normal(size=(5, *shape))
    rows = np.stack([draw.ravel(order="F") for draw in value])
    columns = ["first", *flat_names("x", shape), "last"]
    padded = np.hstack([np.zeros((5, 1)), rows, np.ones((5, 1))])
    assert np.array_equal(reshape(padded, columns, "x"), value)
    assert np.array_equal(reshape(padded, columns, "last"), np.ones(5))


def test_matrix_names_run_down_the_columns():
    assert flat_names("L", (2, 2)) == ["L.1.1", "L.2.1", "L.1.2", "L.2.2"]


def test_variables_keep_their_order():
    assert variables(["b", "a.1", "a.2"]) == {"b": [0], "a": [1, 2]}


def test_an_unknown_variable_names_those_there_are():
    with pytest.raises(KeyError, match="there are mu, theta"):
        reshape(np.zeros((1, 2)), ["mu", "theta.1"], "tau")


def test_items_of_tuples_are_variables_of_their_own():
    columns = ("t:1", "t:2.1", "t:2.2", "a.1:1", "a.1:2.1")
    assert variables(columns) == {"t:1": [0], "t:2": [1, 2], "a.1:1": [3], "a.1:2": [4]}
    rows = np.arange(10.0).reshape(2, 5)
    assert reshape(rows, columns, "t:2").tolist() == [[1, 2], [6, 7]]
    assert reshape(rows, columns, "t:1").tolist() == [0, 5]


def test_columns_are_chosen_by_variable_by_column_and_by_cmdstanpys_name():
    columns = ("mu", "theta.1", "theta.2", "tau")
    assert chosen(columns, ["theta"], ()) == ("theta.1", "theta.2")
    assert chosen(columns, ["tau", "theta[2]"], ()) == ("theta.2", "tau")
    assert chosen(columns, [], ["tau", "mu"]) == ("mu", "tau")
    assert chosen(columns, [], []) == columns
    with pytest.raises(DataError, match="no variable eta among the draws; there are mu, theta, tau"):
        chosen(columns, ["eta"], ())


def test_choosing_all_of_many_columns_compares_each_with_few():
    """A set of names made anew for every column took minutes at 100,000."""
    hashed = [0]

    class Name(str):
        def __hash__(self):
            hashed[0] += 1
            return super().__hash__()

    columns = tuple(Name(f"y.{k}") for k in range(1, 2001))
    assert chosen(columns, columns, ()) == chosen(columns, (), columns) == columns
    assert hashed[0] < 20 * len(columns)
