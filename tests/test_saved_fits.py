"""Saved fits that load alone: with the text of the program, and the data as they were given."""

import pytest

import ppl

PROGRAM = """
data {
  int N; int J;
  array[N] int<lower=1, upper=J> g;
  vector[N] y; vector[N] x; complex z;
  tuple(int, real) t; array[2] tuple(real, vector[2]) pairs;
}
parameters { real a; vector[J] u; }
model {
  a ~ normal(0, 1); u ~ normal(0, 1);
  x ~ normal(a, 1); y ~ normal(a + u[g] + x, t.2);
}
"""
DATA = {
    "N": 3,
    "g": ["b", "a", "b"],
    "y": [1.0, 2.5, 3.0],
    "x": [0.1, None, float("nan")],
    "z": 1 + 2j,
    "t": (1, 2.5),
    "pairs": [(1.0, [1, 2]), (2.0, [3, 4])],
}


@pytest.fixture(scope="module")
def fit():
    return (
        ppl.compile_model(PROGRAM)
        .condition(DATA, missing="model")
        .variational(algorithm="meanfield", iter=50)
    )


def test_a_fit_with_program_and_data_loads_alone(fit, tmp_path):
    fit.save(path := tmp_path / "fit.json", with_program=True, with_data=True)
    again = ppl.load_fit(path)
    assert (again.draws() == fit.draws()).all() and again.column_names == fit.column_names
    assert again.posterior.levels == fit.posterior.levels == {"g": ("a", "b")}


def test_what_the_file_does_not_hold_has_to_be_given(fit, tmp_path):
    fit.save(path := tmp_path / "fit.json", with_program=True)
    assert (ppl.load_fit(path, data=DATA).draws() == fit.draws()).all()
    with pytest.raises(ppl.DataError, match="holds no data"):
        ppl.load_fit(path)
    with pytest.raises(ppl.DataError, match="other data"):
        ppl.load_fit(path, data={**DATA, "t": (1, 3.0)})
    fit.save(path, with_data=True)
    assert (ppl.load_fit(path, fit.posterior.model).draws() == fit.draws()).all()
    with pytest.raises(ppl.DataError, match="holds no program"):
        ppl.load_fit(path)
