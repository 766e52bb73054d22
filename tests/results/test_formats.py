import json
import sys

import numpy as np
import pytest

import ppl
from ppl.cli.options import DRAWS
from ppl.errors import ArgumentError, DataError, MissingPackage
from ppl.files import replacing
from ppl.results.files.formats import WRITERS, require_packages, save_draws
from ppl.results.files.readers import read_file
from ppl.results.fits.metric import covariance_of, stepsize_for

PROGRAM = """
parameters { vector[2] mu; real<lower=0> tau; tuple(real, vector[2]) t; }
model { mu ~ normal(3, 0.5); tau ~ exponential(1); t.1 ~ normal(0, 1); t.2 ~ normal(t.1, 1); }
generated quantities { matrix[2, 2] y_rep = [[mu[1], mu[2]], [1, 2]]; }
"""


@pytest.fixture(scope="module")
def fit():
    return ppl.compile_model(PROGRAM).condition({}).variational(draws=300, iter=200, algorithm="fullrank")


def test_npz_has_an_array_a_variable(fit, tmp_path):
    save_draws(fit, tmp_path / "o.npz")
    read = np.load(tmp_path / "o.npz")
    np.testing.assert_array_equal(read["mu"], fit.stan_variable("mu"))
    np.testing.assert_array_equal(read["log_p__"], fit.result.log_p)
    assert read["y_rep"].shape == (300, 2, 2) and read["t:2"].shape == (300, 2)


def test_netcdf_is_arvizs(fit, tmp_path):
    az = pytest.importorskip("arviz")
    save_draws(fit, tmp_path / "o.nc")
    read = az.from_netcdf(tmp_path / "o.nc")
    np.testing.assert_array_equal(read.posterior["tau"][0], fit.stan_variable("tau"))


def test_parquet_has_a_column_a_name(fit, tmp_path):
    pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    save_draws(fit, tmp_path / "o.parquet")
    read = pd.read_parquet(tmp_path / "o.parquet")
    assert list(read.columns) == ["log_p__", "log_g__", *fit.column_names]
    np.testing.assert_array_equal(read["mu.2"], fit.stan_variable("mu")[:, 1])


def test_parquet_needs_pyarrow_alone_and_its_texts_are_cleaned(fit, tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "year=2024").mkdir()
    path = tmp_path / "year=2024" / "o.parquet"
    monkeypatch.setitem(sys.modules, "pandas", None)
    save_draws(fit, path)
    table = parquet.ParquetFile(path).read()
    parquet.write_table(table.replace_schema_metadata({"fit_judgement": "a\x1b[31m", "b": b"\xff"}), path)
    read = read_file(path)
    np.testing.assert_array_equal(read.draws, fit.draws())
    assert read.columns == fit.column_names and read.config["fit_judgement"] == "a\\x1b[31m"


@pytest.mark.parametrize("suffix", [".csv", ".nc", ".npz", ".parquet", ".pkl"])
def test_a_saved_fit_has_no_name_of_another_format(fit, tmp_path, suffix):
    with pytest.raises(ArgumentError, match="a saved fit is JSON"):
        fit.save(tmp_path / f"fit{suffix}")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(("suffix", "package"), [(".nc", "h5netcdf"), (".parquet", "pyarrow")])
def test_a_package_that_is_missing_is_named_before_a_fit(tmp_path, monkeypatch, suffix, package):
    monkeypatch.setattr("ppl.results.files.formats.find_spec", lambda name: None if name == package else 1)
    with pytest.raises(MissingPackage, match=package):
        require_packages(tmp_path / f"o{suffix}")
    require_packages(tmp_path / "o.csv")


@pytest.mark.parametrize("name", ["o", "o.csv"])
def test_csv_has_its_suffix_or_none(fit, tmp_path, name):
    save_draws(fit, tmp_path / name, {"data.file": "d.json"})
    assert "#   file = d.json\n" in (tmp_path / name).read_text()


def test_an_unknown_suffix_is_refused(fit, tmp_path):
    with pytest.raises(ArgumentError, match=r"as \.csv, \.npz, \.nc, \.parquet; \.pickle is unsupported"):
        save_draws(fit, tmp_path / "o.pickle")
    assert not [*tmp_path.iterdir()] and (".csv", *WRITERS) == DRAWS


def test_a_package_that_is_missing_is_named(fit, tmp_path, monkeypatch):
    def missing(*_):
        raise ImportError("No module named 'pyarrow'", name="pyarrow")

    (tmp_path / "o.parquet").write_text("old")
    monkeypatch.setitem(WRITERS, ".parquet", missing)
    monkeypatch.setattr("ppl.system.distribution._origin", lambda: ("", {}))
    with pytest.raises(MissingPackage, match=r'needs pyarrow.*pip install "pyarrow>=15"'):
        save_draws(fit, tmp_path / "o.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["o.parquet"]
    assert (tmp_path / "o.parquet").read_text() == "old"


def test_a_file_half_written_leaves_the_old_one(tmp_path):
    (tmp_path / "o.npz").write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "o.npz") as part:
        part.write(b"half")
        raise ZeroDivisionError
    assert (tmp_path / "o.npz").read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_warm_start(fit, tmp_path):
    metric, *inits = fit.save_warm_start(tmp_path / "o.csv")
    read = json.loads(metric.read_text())
    assert metric.name == "o_metric.json" and read["metric_type"] == "dense_e"
    np.testing.assert_allclose(read["inv_metric"], np.cov(fit.result.draws_u.T), rtol=0.03, atol=1e-3)
    assert [path.name for path in inits] == [f"o_inits_{k}.json" for k in (1, 2, 3, 4)]
    values = [json.loads(path.read_text()) for path in inits]
    assert set(values[0]) == {"mu", "tau", "t"} and set(values[0]["t"]) == {"1", "2"}
    assert len({value["tau"] for value in values}) == 4
    np.testing.assert_allclose(values[0]["mu"], fit.stan_variable("mu")[0])
    again = fit.posterior.variational(init=str(inits[0]), draws=1, iter=1)
    np.testing.assert_allclose(again.result.path.start, fit.result.draws_u[0], atol=1e-9)


def test_metric_of_known_draws():
    us = np.array([[1.0, 0], [-1, 0], [1, 2], [-1, -2]])
    weight, floor = 4 / 9, 1e-3 * 5 / 9
    np.testing.assert_allclose(covariance_of(us, dense=False), weight * np.array([4 / 3, 8 / 3]) + floor)
    np.testing.assert_allclose(covariance_of(us, dense=True)[0, 1], weight * 4 / 3)
    assert stepsize_for(16) == 0.5


@pytest.mark.parametrize("suffix", [".npz", ".nc", ".parquet"])
def test_every_format_is_read_back_as_the_csv_is(fit, tmp_path, suffix):
    pytest.importorskip("arviz")
    pytest.importorskip("pyarrow")
    save_draws(fit, tmp_path / "o.csv")
    save_draws(fit, tmp_path / f"o{suffix}")
    expected, read = read_file(tmp_path / "o.csv"), read_file(tmp_path / f"o{suffix}")
    assert sorted(read.columns) == sorted(expected.columns) and read.method == "variational"
    for k, name in enumerate(expected.columns):
        np.testing.assert_array_equal(read.draws[:, read.columns.index(name)], expected.draws[:, k])
    np.testing.assert_array_equal(read.log_ratios, expected.log_ratios)


@pytest.mark.parametrize("suffix", [".npz", ".nc", ".parquet"])
def test_a_file_that_is_not_what_its_suffix_says_is_refused(tmp_path, suffix):
    (tmp_path / f"o{suffix}").write_text("no draws at all")
    with pytest.raises(DataError, match=f"o{suffix}"):
        read_file(tmp_path / f"o{suffix}")


def test_npz_is_written_without_a_copy_of_the_draws(fit, tmp_path, monkeypatch):
    written = {}
    monkeypatch.setattr(np, "savez", lambda file, **arrays: written.update(arrays))
    save_draws(fit, tmp_path / "o.npz")
    assert all(np.shares_memory(written[name], fit.draws()) for name in ("mu", "tau", "y_rep", "t:2"))
