"""The files read by those who read CmdStan's: CmdStanPy, ArviZ, pandas."""

import logging

import numpy as np
import pytest

import ppl
from ppl.methods.correct.correction import DrawSource
from tests.cmdstan.conftest import BERNOULLI, DATA

cmdstanpy = pytest.importorskip("cmdstanpy")
az = pytest.importorskip("arviz")
pd = pytest.importorskip("pandas")
logging.getLogger("cmdstanpy").setLevel(logging.ERROR)


# A density that no Gaussian fits.
CURVED = "parameters { vector[2] x; } model { x[1] ~ std_normal(); x[2] ~ normal(square(x[1]) / 2, 1); }"


@pytest.fixture(scope="module")
def fits():
    posterior = ppl.compile_model(BERNOULLI).condition(DATA)
    return [posterior.variational(seed=seed, draws=100, iter=200) for seed in (1, 2)]


@pytest.fixture
def files(fits, tmp_path):
    paths = {layout: [tmp_path / f"{layout}_{k}.csv" for k in (1, 2)] for layout in ("variational", "sample")}
    for layout, names in paths.items():
        for fit, name in zip(fits, names, strict=True):
            fit.save_csv(name, {"ppl.format": layout, "data.file": "d.json"})
    return {layout: list(map(str, names)) for layout, names in paths.items()}


def test_cmdstanpy_reads_a_fit(fits, files):
    read = cmdstanpy.from_csv(files["variational"][0])
    assert isinstance(read, cmdstanpy.CmdStanVB)
    np.testing.assert_equal(read.eta, fits[0].eta)  # nan where no step size was searched for
    np.testing.assert_array_equal(read.variational_sample[:, 3:], fits[0].draws())
    np.testing.assert_array_equal(read.variational_params_np[3:], fits[0].at_mean())


def test_cmdstanpy_sees_how_the_draws_were_made(fits, files):
    """Its own word for the algorithm is the family that `auto` came to."""
    from cmdstanpy.utils.stancsv import parse_comments_header_and_draws, parse_config

    for layout, algorithm in (("variational", fits[0].family), ("sample", "fixed_param")):
        config = parse_config(parse_comments_header_and_draws(files[layout][0])[0])
        assert config["algorithm"] == algorithm and config["fit_algorithm"] == "auto"
        assert config["fit_verdict"] == fits[0].verdict.level.value
        assert config["fit_draws"] == fits[0].verdict.made.value
        assert config["fit_judgement"] == fits[0].provenance.judgement and config["fit_elbo"] == fits[0].elbo


@pytest.mark.rotate
def test_cmdstanpy_reads_draws_of_the_q_that_was_named(tmp_path):
    """log_g__ is the density of q at its draws over that at its mean, and they say that they are of q."""
    fit = ppl.compile_model(CURVED).condition({}).variational(algorithm="meanfield", draws=50)
    fit.save_csv(tmp_path / "q.csv")
    read = cmdstanpy.from_csv(str(tmp_path / "q.csv"))
    assert isinstance(read, cmdstanpy.CmdStanVB)
    assert (read.metadata.cmdstan_config["algorithm"], fit.family, fit.verdict.made) == (
        ("meanfield",) * 2 + (DrawSource.OF_Q,)
    )
    assert read.metadata.cmdstan_config["fit_draws"] == "of q"
    u, result = fit.result.draws_u, fit.result
    log_q = result.family.log_density(result.params, np.vstack([result.mean_u, u]))
    np.testing.assert_allclose(read.variational_sample[:, 2], log_q[1:] - log_q[0], rtol=1e-5, atol=1e-9)
    corrected = ppl.compile_model(CURVED).condition({}).variational(draws=50)
    corrected.save_csv(tmp_path / "p.csv")
    read = cmdstanpy.from_csv(str(tmp_path / "p.csv"))
    assert read.metadata.cmdstan_config["algorithm"] == corrected.family != "auto"
    assert read.metadata.cmdstan_config["fit_draws"] == corrected.verdict.made.value != "of q"


def test_cmdstanpy_and_arviz_read_runs_as_chains(fits, files):
    read = cmdstanpy.from_csv(files["sample"])
    assert isinstance(read, cmdstanpy.CmdStanMCMC) and read.chains == 2
    np.testing.assert_array_equal(read.stan_variable("theta")[:100], fits[0].stan_variable("theta"))
    data = az.from_cmdstanpy(read)
    assert data.posterior["y_rep"].shape == (2, 100, 2) and float(az.rhat(data)["theta"]) < 1.1
    np.testing.assert_array_equal(data.sample_stats["lp"][0], fits[0].result.log_p)


@pytest.mark.skipif(not hasattr(az, "from_cmdstan"), reason="ArviZ 1 reads them through CmdStanPy alone")
def test_arviz_reads_the_files_themselves(fits, files):
    data = az.from_cmdstan(files["sample"])
    np.testing.assert_array_equal(data.posterior["theta"][1], fits[1].stan_variable("theta"))


def test_pandas_reads_either(fits, files):
    for layout, extra in (("variational", 1), ("sample", 0)):
        frame = pd.read_csv(files[layout][0], comment="#")
        np.testing.assert_array_equal(frame["theta"].to_numpy()[extra:], fits[0].stan_variable("theta"))


def test_nan_and_inf_are_read_back(fits, tmp_path):
    from dataclasses import replace

    rows = fits[0].table.rows.copy()
    rows[1, 1], rows[2, 1], rows[3, 1] = np.nan, np.inf, -np.inf
    replace(fits[0], table=replace(fits[0].table, rows=rows)).save_csv(tmp_path / "odd.csv")
    read = cmdstanpy.from_csv(str(tmp_path / "odd.csv"))
    np.testing.assert_array_equal(read.variational_sample[:3, 4], [np.nan, np.inf, -np.inf])


def test_names_of_tuples(tmp_path):
    text = "parameters { tuple(real, vector[2]) t; } model { t.1 ~ normal(0, 1); t.2 ~ normal(0, 1); }"
    fit = ppl.compile_model(text).condition({}).variational(draws=5, iter=100)
    fit.save_csv(tmp_path / "t.csv", {"ppl.format": "sample"})
    read = cmdstanpy.from_csv(str(tmp_path / "t.csv"))
    assert read.column_names[3:] == ("t.1", "t.2[1]", "t.2[2]")
    assert read.stan_variable("t").shape == (5,) and np.shape(read.stan_variable("t")[0][1]) == (2,)
