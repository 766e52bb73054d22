"""What a declared variable is read from, and every way in which a value is refused."""

import gzip
import json
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ppl
from ppl.data import ExpectedData, Inputs, check_value, load_data, misspelt, read_value, unknown_names
from ppl.errors import DataError
from ppl.source import SourceText, Span
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD
from ppl.types import INT, MATRIX, REAL, VECTOR, array_of

ELEMENTS = {"int": INT, "real": REAL, "vector": VECTOR, "simplex": VECTOR, "matrix": MATRIX}


def wanted(declaration, dims=(), sizes=()):
    """What `declaration` on line 4 of a program wants, for the sizes given."""
    element = ELEMENTS[next(word for word in ELEMENTS if word in declaration)]
    name = declaration.split()[-1]
    source = SourceText(f"data {{\n  int N;\n  int K;\n  {declaration};\n}}\n", "a.stan")
    span = Span(source, 4, 3, 4, len(declaration) + 4)
    return ExpectedData(name, array_of(element, len(dims)), dims, sizes, span)


def refusal(value, want, **others):
    with pytest.raises(DataError) as caught:
        read_value(load_data({want.name.split(".")[0]: value, **others}), want)
    assert caught.value.variable.split(".")[0] == want.name.split(".")[0]
    return str(caught.value)


INT_N = wanted("int n")
REAL_X = wanted("real x")
INTS = wanted("array[N] int y", dims=(3,))
REALS = wanted("vector[N] y", sizes=(3,))
X = wanted("matrix[N, K] X", sizes=(3, 2))


# --- Read ----------------------------------------------------------------------------------------


def test_an_array_that_no_one_can_change_is_not_copied(tmp_path) -> None:
    model = ppl.compile_model("data { vector[3] z; } parameters { real a; } model { z ~ normal(a, 1); }")
    x = np.arange(3.0)
    assert not np.shares_memory(model.condition({"z": x}).d.z, x)
    np.savez(tmp_path / "d.npz", z=x)
    posterior = model.condition(tmp_path / "d.npz")
    assert np.shares_memory(posterior.d.z, posterior.data["z"])


def test_scalars_are_plain_numbers():
    data = load_data({"n": 10.0, "x": 3})
    n, x = read_value(data, INT_N), read_value(data, REAL_X)
    assert (n, type(n)) == (10, int)
    assert (x, type(x)) == (3.0, float)


def test_containers_have_array_axes_first_and_the_declared_type():
    data = load_data({"y": [1, 2.0, -3], "X": [[1, 2], [3, 4], [5, 6]]})
    y, x = read_value(data, INTS), read_value(data, X)
    assert y.dtype == np.int64
    assert y.tolist() == [1, 2, -3]
    assert x.dtype == np.float64
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    w = wanted("array[2] matrix[N, K] w", dims=(2,), sizes=(3, 2))
    assert read_value(load_data({"w": np.zeros((2, 3, 2))}), w).shape == (2, 3, 2)


def test_what_python_calls_a_list_of_numbers():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 3, 5], "b": [2.0, 4.0, 6.0]})
    like_y = [
        np.array([1, 2, 3], dtype=np.uint8),
        np.array([1.0, 2.0, 3.0], dtype=np.float32),
        (1, 2, 3),
        range(1, 4),
        [np.int64(1), np.float64(2), np.array(3)],
        pandas.Series([1, 2, 3], index=[7, 8, 9]),
        pandas.Series([1, 2, 3], dtype="Int64"),
        pandas.Series([Decimal(1), Decimal("2"), Decimal("3.0")]),
    ]
    for y in like_y:
        assert read_value(load_data({"y": y}), INTS).tolist() == [1, 2, 3], repr(y)
    for x in (frame, frame.to_numpy(), np.asfortranarray(frame), [np.array([1, 2]), (3, 4), [5, 6]]):
        assert read_value(load_data({"X": x}), X).tolist() == [[1, 2], [3, 4], [5, 6]], repr(x)


def test_the_value_read_is_a_copy():
    mine = np.array([1.0, 2.0, 3.0])
    read = read_value(load_data({"y": mine}), REALS)
    mine[0] = 9.0
    assert read[0] == 1.0


def test_not_finite_is_a_real_number():
    y = read_value(load_data({"y": ["-Inf", math.nan, "+infinity"]}), REALS)
    np.testing.assert_array_equal(y, [-math.inf, math.nan, math.inf])
    assert math.isnan(read_value(load_data({"x": "NaN"}), REAL_X))


@pytest.mark.parametrize("empty", [[], [[], []], np.zeros((2, 0)), np.zeros((2, 0, 3))])
def test_a_zero_size_may_be_an_empty_list(empty):
    w = wanted("array[N] matrix[K, 3] w", dims=(2,), sizes=(0, 3))
    assert read_value(load_data({"w": empty}), w).shape == (2, 0, 3)


def test_items_of_tuples():
    text = {"t": {"1": 3, "2": {"1": [1.5, 2.5], "2": 4}}}
    first, inner = wanted("int t.1"), wanted("vector[2] t.2.1", sizes=(2,))
    for data in (text, {"t": (3, ([1.5, 2.5], 4))}):
        assert read_value(load_data(data), first) == 3
        assert read_value(load_data(data), inner).tolist() == [1.5, 2.5]
    several = load_data({"t": [{"1": 3}, {"1": 4}]})
    assert read_value(several, wanted("array[2] int t.1", dims=(2,))).tolist() == [3, 4]


@pytest.mark.parametrize("value", [np.array([True, False, True]), [np.True_, np.False_, np.True_]])
def test_booleans_of_numpy_are_0_and_1(value):
    assert read_value(load_data({"y": value}), INTS).tolist() == [1, 0, 1]


# --- Refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "want", "message"),
    [
        (
            [1, 2, 10.5],
            INTS,
            "y[3] is 10.5, but `array[N] int y` (line 4) needs integers; 10.0 would be accepted",
        ),
        ([1, 2, 3], INT_N, "n has shape (3), but `int n` (line 4) needs one integer"),
        ([1], REAL_X, "x has shape (1), but `real x` (line 4) needs one number; write 1, not [1]"),
        (0.5, REALS, "y is a single number, but `vector[N] y` (line 4) needs numbers of shape (3)"),
        ([0.5, None, 1], REALS, "y[2] is null, but"),
        (True, INT_N, "n is true (a boolean; write 0 or 1), but `int n` (line 4) needs one integer"),
        ([1, False, 1], INTS, "y[2] is false (a boolean; write 0 or 1), but"),
        (np.ma.masked_array([1, 2, 3], [False, True, False]), INTS, "y[2] is null"),
        ("1.25", REAL_X, 'x is the string "1.25", but'),
        ({"a": 1}, REALS, "y is an object, but"),
        ([1, {2}, 3], REALS, "y[2] is a set, but"),
        ([1, 2, 3e9], INTS, "y[3] is 3000000000.0, but `array[N] int y` (line 4) needs integers of 32 bits"),
        ([1, 10**30, 1], INTS, "y[2] is 1e+30"),
        ([1, 10**400, 1], REALS, "y[2] is beyond double precision"),
        (["NaN", 1, 1], INTS, "y[1] is nan, but `array[N] int y` (line 4) needs integers"),
        ([1, math.inf, 1], INTS, "y[2] is inf, but"),
        (1j, REAL_X, "x is a complex, but"),
        ([[1, 2], [3], [5, 6]], X, "X[2] has 1 element and X[1] has 2 elements (the array is ragged), but"),
        ([[1, 2], 3, [5, 6]], X, "X[2] is a single value and X[1] has 2 elements (the array is ragged)"),
        ([1, [2, 3], [5, 6]], X, "X[2] has 2 elements and X[1] is a single value (the array is ragged)"),
        ([[1, 3, 5], [2, 4, 6]], X, "needs numbers of shape (3,2); it looks transposed"),
        (
            [1, 2, 3, 4, 5, 6],
            X,
            "X has shape (6), but `matrix[N, K] X` (line 4) needs numbers of shape (3,2);",
        ),
        ([], X, "X has shape (0), but"),
        ({"1": 3}, wanted("int t.2"), "t has no item 2, but"),
        ([{"1": 3}, 4], wanted("array[2] int t.1", dims=(2,)), "t[2] is the number 4, but"),
    ],
)
def test_refused_by_name_and_place(value, want, message):
    assert message in refusal(value, want)


def test_a_single_number_for_a_vector_of_one():
    assert refusal(0.5, wanted("vector[N] y", sizes=(1,))).endswith("write [0.5], not 0.5")


def test_a_negative_size_names_the_declaration():
    message = refusal([], wanted("array[n] int y", dims=(-2,)))
    assert message == "data: `array[n] int y` (line 4) has shape (-2), but no size may be negative"


def test_missing_names_come_with_the_nearest_in_the_data():
    data = load_data({"sgima": 1.0, "N": 3, "other": 2})
    with pytest.raises(DataError) as caught:
        read_value(data, wanted("real sigma"), known=["N", "sigma", "X", "n_obs"])
    assert caught.value.variable == "sigma"
    assert str(caught.value).splitlines() == [
        "data: `sigma` is missing: `real sigma` (line 4) declares it"
        "; the data have `sgima`: did you mean that?",
        "`X` is missing too",
        "`n_obs` is missing too",
    ]


def test_a_name_that_the_program_uses_is_no_near_miss():
    with pytest.raises(DataError) as caught:
        read_value(load_data({"N": 3}), INT_N, known=["N", "n"])
    assert "did you mean" not in str(caught.value)


def test_misspelt_names():
    data = load_data({"N": 3, "n": 3, "sigma": 1.0, "sgima": 1.0, "y": [1], "y1": [2], "extra": 1})
    assert misspelt(data, ["N", "sigma", "y"]) == {"n": "N", "sgima": "sigma"}


def test_unknown_names():
    assert unknown_names(load_data({"N": 3, "extra": 1}), ["N", "y"]) == ["extra"]


scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=2)
)
anything = st.recursive(
    scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=2), v, max_size=2)
)


@given(anything, st.sampled_from([INTS, REALS, INT_N, REAL_X, X, wanted("int t.1")]))
def test_any_value_is_read_in_its_shape_or_refused(value, want):
    try:
        read = read_value(load_data({want.name.split(".")[0]: value}), want)
    except DataError as error:
        assert want.name.split(".")[0] in str(error)
    else:
        assert np.shape(read) == want.shape


# --- Constraints ---------------------------------------------------------------------------------


def broken(value, want, keyword, *args):
    with pytest.raises(DataError) as caught:
        check_value(value, want, CONSTRAINT_BY_KEYWORD[keyword], args, Inputs({}, "d.json"))
    return str(caught.value)


def test_a_broken_constraint_names_the_element_and_the_line():
    y = np.array([0.5, -0.1, 0.2])
    assert (
        broken(y, REALS, "lower", 0) == "d.json: y[2] is -0.1, but must be at least 0: `vector[N] y` (line 4)"
    )
    p = wanted("simplex[N] p", sizes=(3,))
    assert broken(y, p, "simplex").startswith("d.json: p is not a simplex: element [2] is -0.1")
    check_value(np.abs(y), REALS, CONSTRAINT_BY_KEYWORD["lower"], [0])


def test_bounds_of_containers():
    y = np.array([0.5, 1.5, 0.2])
    assert "y[2] is 1.5, but must be at most 1" in broken(y, REALS, "upper", np.ones(3))
    assert "has (2) as the shape of `upper`, but the variable has shape (3)" in broken(
        y, REALS, "upper", np.ones(2)
    )


# --- Files ---------------------------------------------------------------------------------------

DATA = {"N": 3, "y": [1, 2, 3]}


def test_every_format_gives_the_same(tmp_path):
    text = json.dumps(DATA).encode()
    (tmp_path / "d.json").write_bytes(text)
    (tmp_path / "d.json.gz").write_bytes(gzip.compress(text))
    np.savez(tmp_path / "d.npz", **DATA)
    for name in ("d.json", "d.json.gz", "d.npz"):
        inputs = load_data(tmp_path / name)
        assert inputs.label == str(tmp_path / name)
        assert read_value(inputs, wanted("int N")) == 3
        assert read_value(load_data(str(tmp_path / name)), INTS).tolist() == [1, 2, 3]


def test_a_file_is_named_in_every_message(tmp_path):
    path = tmp_path / "d.npz"
    np.savez(path, y=[1.5, 2, 3], z=["a"])
    with pytest.raises(DataError, match=r"d\.npz: y\[1\] is 1\.5"):
        read_value(load_data(path), INTS)
    with pytest.raises(DataError, match=r'd\.npz: z\[1\] is the string "a"'):
        read_value(load_data(path), wanted("array[N] int z", dims=(1,)))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("d.json", b'{"N": 3,\n "y": oops}', "d.json:2:7: not JSON"),
        ("d.json", b"", "d.json:1:1: data are one JSON object"),
        ("d.json.gz", b'{"N": 3}', "d.json.gz: cannot be read: "),
        ("d.json.gz", gzip.compress(b"x" * 1000, mtime=0)[:-9], "d.json.gz: cannot be read: "),
        ("d.npz", b"no archive", "d.npz: not an .npz archive"),
        (
            "d.xlsx",
            b"N",
            "d.xlsx: data are read from .json, .json.gz, .csv, .csv.gz, .tsv, .txt, .npz, .parquet, .R",
        ),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as caught:
        load_data(tmp_path / name)
    assert str(caught.value).startswith(str(tmp_path / message))


def test_no_pickles(tmp_path):
    np.savez(tmp_path / "d.npz", y=np.array([{}], dtype=object))
    with pytest.raises(DataError, match=r"d\.npz: y is not an array of numbers"):
        load_data(tmp_path / "d.npz")


@pytest.mark.parametrize("name", ["absent.json", "absent.npz", "."])
def test_no_such_file(tmp_path, name):
    with pytest.raises(DataError):
        load_data(tmp_path / name)


def test_what_is_no_data():
    with pytest.raises(DataError, match="not a list"):
        load_data([1, 2])
    with pytest.raises(DataError, match="a variable's name is a string, not 1"):
        load_data({1: 2})


def test_inputs_may_be_made_by_hand():
    assert read_value(Inputs({"n": 4}, "the given values"), INT_N) == 4
