"""DataFrames as data: of pandas, and of polars where it is installed."""

import copy
import re

import numpy as np
import pytest

import ppl

PROGRAM = """
data { int N; int K; vector[N] y; array[N] int<lower=1, upper=K> g; }
parameters { vector[K] mu; }
model { mu ~ normal(0, 1); y ~ normal(mu[g], 1); }
"""
COLUMNS = {"y": [0.5, 1.5, -1.0], "g": [1, 2, 2]}
GIVEN = ppl.compile_model(PROGRAM).condition({"N": 3, "K": 2, **COLUMNS})
U = np.array([0.2, -0.4])


@pytest.fixture(params=["pandas", "polars"])
def frame(request):
    return pytest.importorskip(request.param).DataFrame(COLUMNS)


def with_k(n):
    return ppl.compile_model(PROGRAM.replace("int K;", "").replace("K", str(n)))


def test_a_frame_gives_its_columns_and_their_length(frame):
    assert with_k(2).condition(frame).log_density(U) == GIVEN.log_density(U)


def test_columns_go_beside_other_values(frame):
    data = {"K": 2, "N": len(frame), "y": frame["y"], "g": frame["g"]}
    assert GIVEN.model.condition(data).log_density(U) == GIVEN.log_density(U)


def test_a_size_of_something_else_is_missed(frame):
    with pytest.raises(ppl.DataError, match="`K` is missing"):
        ppl.compile_model(PROGRAM.replace("lower=1, upper", "lower=0, upper")).condition(frame)


def test_arrays_of_new_rows_give_the_sizes_that_they_are_declared_with(frame):
    model = ppl.compile_model(
        "data { int N, K; matrix[N, K] x; vector[N] y; } parameters { vector[K] b; } "
        "model { y ~ normal(x * b, 1); }"
    )
    given = {"x": [[1, 2], [3, 4], [5, 7]], "y": [1, 2, 3]}
    with pytest.raises(ppl.DataError, match="`N` is missing"):
        model.condition(given)
    fit = model.condition({**given, "N": 3, "K": 2}).variational(algorithm="laplace", draws=10)
    assert fit.predict({"x": [[1, 2], [3, 4]]})["y"].shape == (10, 2)
    with pytest.raises(ppl.DataError, match=r'`x` is missing.*; a matrix of columns is {"x": frame'):
        model.condition(frame, K=2)


def test_a_frame_is_a_matrix_too(frame):
    model = ppl.compile_model(
        "data { matrix[3, 2] x; } parameters { real a; } model { x[3] ~ normal(a, 1); }"
    )
    rows = model.condition({"x": np.column_stack(list(COLUMNS.values()))})
    assert model.condition({"x": frame}).log_density([0.3]) == rows.log_density([0.3])


def test_what_becomes_of_a_frame_later_changes_nothing():
    frame = pytest.importorskip("pandas").DataFrame(COLUMNS)
    posterior = with_k(2).condition(frame)
    frame.loc[0, "y"] = 100.0
    assert posterior.log_density(U) == GIVEN.log_density(U) == copy.deepcopy(posterior).log_density(U)


def test_missing_values_are_refused():
    frame = pytest.importorskip("pandas").DataFrame({"y": [0.5, 1.5, 2.0], "g": [1, None, 2]})
    with pytest.raises(ppl.DataError, match="g"):
        with_k(2).condition(frame)


def test_a_list_of_frames_is_a_list_of_matrices(frame):
    model = ppl.compile_model(
        "data { array[2] matrix[3, 2] x; } parameters { real a; } model { x[2, , 1] ~ normal(a, 1); }"
    )
    rows = frame.to_numpy()
    assert model.condition({"x": [frame] * 2}).log_density([0.3]) == model.condition(
        {"x": [rows] * 2}
    ).log_density([0.3])
    with pytest.raises(ppl.DataError, match=r"data: x\[2,1\] has 1 element and x\[1,1\] has 2") as caught:
        model.condition({"x": [frame, frame[["y"]]]})
    assert caught.value.variable == "x"


def test_a_named_index_of_pandas_is_a_column():
    frame = pytest.importorskip("pandas").DataFrame(COLUMNS)
    assert with_k(2).condition(frame.set_index("g")).log_density(U) == GIVEN.log_density(U)
    means = frame.groupby("g").mean()
    assert with_k(2).condition(means).data["g"].tolist() == [1, 2]


def test_other_things_that_hold_data_are_told_the_way():
    frame = pytest.importorskip("pandas").DataFrame(COLUMNS)
    for other, way in [
        (frame.to_dict("records"), "write pandas.DataFrame(rows)"),
        (frame["y"], "write series.to_frame()"),
        (frame.groupby("g"), "fit each group"),
        (pytest.importorskip("polars").DataFrame(COLUMNS).lazy(), "write frame.collect()"),
    ]:
        with pytest.raises(ppl.DataError, match=re.escape(way)):
            GIVEN.model.condition(other)
