"""Levels of factors as labels: in tables, names of columns, files, ArviZ."""

import numpy as np
import pytest

import ppl
from ppl.kernel.draws.names import labels_in
from ppl.results.files.formats import save_draws
from ppl.results.files.readers import read_file
from ppl.results.fits.by_row import log_likelihood

DATA = "data { int J; array[4] int<lower=1, upper=J> town; array[4] int<lower=0, upper=1> sex; vector[4] y; "
GIVEN = {
    "town": ["York, north", "Hull", "Bath", "Hull"],
    "sex": ["M", "F", "F", "M"],
    "y": [1.0, 0.5, -1.0, 2.0],
}
PRIOR = "model { to_vector(u) ~ normal(0, 1);"
PROGRAM = (
    DATA + "vector[J] x; } parameters { vector[J] u; } model { u ~ normal(x, 1); y ~ normal(u[town], 1); }"
)


@pytest.mark.parametrize(
    ("declared", "read", "axes"),
    [
        ("vector[J] u;", "", ("town",)),
        ("vector[3] u;", "y ~ normal(u[town], 1);", ("town",)),
        ("array[3] real u;", "for (n in 1:4) { int k = town[n]; y[n] ~ normal(u[k], 1); }", ("town",)),
        ("vector[2] u;", "for (n in 1:4) y[n] ~ normal(u[sex[n] + 1], 1);", ("sex",)),
        ("vector[3] u;", "for (n in 1:4) y[n] ~ normal(u[sex[n] + 1], 1);", None),
        ("vector[4] u;", "for (n in 1:4) y[n] ~ normal(u[town[n] + 1], 1);", None),
        ("matrix[2, J] u;", "for (n in 1:4) y[n] ~ normal(u[1 + 1, town[n]], 1);", (None, "town")),
        ("@dims(sex, town) matrix[2, 3] u;", "", ("sex", "town")),
        ("@dims(clinic) vector[3] u;", "", None),
    ],
)
def test_axes_are_those_of_the_factors_that_index_them(declared, read, axes):
    model = ppl.compile_model(f"{DATA} }} parameters {{ {declared} }} {PRIOR} {read} }}")
    assert model.condition(GIVEN).labels.dims.get("u") == axes


def test_several_factors_of_one_size_have_its_name():
    program = """
    data { int T; array[2] int<lower=1, upper=T> home; array[2] int<lower=1, upper=T> away; vector[2] y; }
    parameters { vector[T] skill; }
    model { skill ~ normal(0, 1); y ~ normal(skill[home] - skill[away], 1); }
    """
    data = {"home": ["Ajax", "PSV"], "away": ["NEC", "Ajax"], "y": [1.0, 2.0]}
    labels = ppl.compile_model(program).condition(data).labels
    assert labels.dims["skill"] == ("T",) and labels.of("skill.2") == "skill[NEC]"


@pytest.fixture(scope="module")
def fit():
    model = ppl.compile_model(PROGRAM)
    return model.condition(GIVEN, J=4, x=[1, 2, 3, 4]).variational(seed=1, algorithm="laplace", draws=100)


def test_tables_and_lookups_know_levels_and_numbers(fit):
    names = ["u[Bath]", "u[Hull]", "u[York, north]", "u[4]"]
    table = fit.summary()
    assert [line.split("  ")[0] for line in str(table).splitlines()[1:]] == names
    assert table["u[York, north]"] is table["u[3]"] is table["u.3"] and table["u.3"].name == "u.3"
    np.testing.assert_array_equal(fit["u[York, north]"], fit["u"][:, 2])
    with pytest.raises(ppl.UnknownName):
        fit["u[Ely]"]
    ratios = fit.summary("u", transform=np.exp)
    assert "exp(u[Hull])" in str(ratios)
    assert ratios["u[Hull]"].mean == pytest.approx(np.exp(fit["u[Hull]"]).mean())
    with pytest.raises(ppl.ArgumentError, match=r"transform is 'exp' .* must be a function"):
        fit.summary(transform="exp")
    pytest.importorskip("pandas")
    assert [*table.to_pandas().index] == [*fit.draws_pd("u").columns] == names
    assert fit.notes[0] == "`sex`: 0 is F, 1 is M."


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".nc", ".parquet"])
def test_labels_survive_every_format(fit, suffix, tmp_path):
    pytest.importorskip({".nc": "arviz", ".parquet": "pyarrow"}.get(suffix, "ppl"))
    save_draws(fit, tmp_path / f"o{suffix}")
    read = read_file(tmp_path / f"o{suffix}")
    assert read.labels == fit.posterior.labels and read.labels.of("u.2") == "u[Hull]"
    assert read.columns == fit.column_names == ("u.1", "u.2", "u.3", "u.4")


def test_a_saved_fit_codes_its_data_as_before(fit, tmp_path):
    fit.save(tmp_path / "fit.json")
    data = {**GIVEN, "J": 4, "x": [1, 2, 3, 4]}
    again = ppl.load_fit(tmp_path / "fit.json", fit.posterior.model, data)
    assert again.posterior.labels == fit.posterior.labels == labels_in(fit.about)
    np.testing.assert_array_equal(again.draws(), fit.draws())


def test_arviz_has_levels_as_coordinates_unless_others_are_given(fit):
    pytest.importorskip("xarray")
    u = fit.draws_xr()["u"]
    assert u.dims == ("chain", "draw", "town") and u["town"].values.tolist()[1:] == [
        "Hull",
        "York, north",
        "4",
    ]
    assert fit.draws_xr(coords={"J": list("abcd")})["u"].dims[-1] == "J"
    assert fit.draws_xr(coords={"place": list("abcd")})["u"].dims[-1] == "place"


def test_rows_of_an_outcome_by_group_have_the_names_of_groups():
    program = PROGRAM.replace("u ~ normal(x, 1);", "u ~ normal(0, 1); x ~ normal(u, 1);")
    posterior = ppl.compile_model(program).condition(GIVEN, x=[1, 2, 3])
    rows = log_likelihood(posterior, np.zeros((2, 3)))["x"].log_lik(np.zeros(2), "here")
    assert rows.names == ("x[Bath]", "x[Hull]", "x[York, north]")
