"""CmdStanPy drives the executable, with no CmdStan installed, and gives its own objects."""

import logging

import numpy as np
import pytest

import ppl
from tests.cmdstan.conftest import BERNOULLI, DATA

cmdstanpy = pytest.importorskip("cmdstanpy")


@pytest.fixture(scope="module")
def model(programs):
    logging.getLogger("cmdstanpy").setLevel(logging.ERROR)
    return cmdstanpy.CmdStanModel(exe_file=str(programs["bernoulli"]))


@pytest.fixture(scope="module")
def mode(model):
    return model.optimize(data=DATA, seed=1, jacobian=True)


@pytest.fixture(scope="module")
def fit(model):
    return model.variational(data=DATA, seed=1, draws=200, algorithm="fullrank")


def test_exe_info(model):
    assert model.exe_info()["stan_version_minor"] == "39"


@pytest.mark.rotate("fit")
def test_variational(fit):
    assert isinstance(fit, cmdstanpy.CmdStanVB) and fit.eta > 0
    assert fit.variational_sample.shape == (200, 7)
    assert fit.stan_variable("theta", mean=False).mean() == pytest.approx(0.25, abs=0.04)
    assert len(fit.create_inits(chains=3, seed=1)) == 3


def test_cmdstanpy_reads_the_same_inits_and_means_from_the_file(tmp_path):
    fit = ppl.compile_model(BERNOULLI).condition(DATA).variational(algorithm="fullrank", draws=200)
    fit.save_csv(tmp_path / "fit.csv")
    theirs = cmdstanpy.from_csv(str(tmp_path / "fit.csv"))
    assert isinstance(theirs, cmdstanpy.CmdStanVB)
    for seed in (1, 7):
        own, other = (found.create_inits(seed=seed, chains=3) for found in (fit, theirs))
        assert [float(x["theta"]) for x in own] == pytest.approx([float(x["theta"]) for x in other])
        own, other = (found.create_inits(seed=seed, chains=1) for found in (fit, theirs))
        assert own["theta"] == pytest.approx(other["theta"])
    for name in ("theta", "log_odds", "y_rep"):
        for mean in (True, False):
            other = theirs.stan_variable(name, mean=mean)
            assert fit.stan_variable(name, mean=mean) == pytest.approx(other)


@pytest.mark.rotate("mode")
def test_optimize(mode):
    assert isinstance(mode, cmdstanpy.CmdStanMLE)
    assert mode.column_names[:3] == ("lp__", "converged__", "theta")
    assert mode.optimized_params_dict["converged__"] == 31
    assert mode.optimized_params_dict["theta"] == pytest.approx(0.25, abs=1e-5)  # by Stan's tolerances


@pytest.mark.rotate("mode")
def test_laplace_sample(model, mode):
    draws = model.laplace_sample(data=DATA, seed=1, mode=mode, draws=50)
    assert isinstance(draws, cmdstanpy.CmdStanLaplace) and draws.stan_variable("theta").shape == (50,)


def test_pathfinder(model):
    draws = model.pathfinder(data=DATA, seed=1, draws=100, num_paths=2)
    assert isinstance(draws, cmdstanpy.CmdStanPathfinder)
    assert draws.column_names[:4] == ("lp_approx__", "lp__", "path__", "theta")
    assert draws.stan_variable("theta").mean() == pytest.approx(0.25, abs=0.05)


@pytest.mark.rotate
def test_log_prob(model):
    frame = model.log_prob({"theta": 0.25}, data=DATA)
    assert list(frame.columns) == ["lp__", "g_theta"] and abs(frame["g_theta"][0]) < 1e-12


@pytest.mark.rotate
def test_diagnose(model):
    assert (model.diagnose(data=DATA)["error"].abs() < 1e-6).all()


@pytest.mark.rotate("fit")
def test_generate_quantities(model, fit):
    quantities = model.generate_quantities(data=DATA, previous_fit=fit, seed=2)
    theta = fit.stan_variable("theta", mean=False)
    np.testing.assert_allclose(quantities.stan_variable("log_odds"), np.log(theta / (1 - theta)), rtol=1e-6)


@pytest.mark.rotate
def test_sample(model):
    fit = model.sample(
        data=DATA,
        chains=1,
        seed=1,
        iter_warmup=200,
        iter_sampling=300,
        save_warmup=True,
        thin=2,
        show_progress=False,
    )
    assert isinstance(fit, cmdstanpy.CmdStanMCMC) and fit.draws(inc_warmup=True).shape[:2] == (250, 1)
    assert fit.stan_variable("theta").mean() == pytest.approx(0.25, abs=0.05)
    assert fit.metric_type == "diag_e" and fit.inv_metric[0, 0] > 0 and fit.step_size[0] > 0


@pytest.mark.rotate
def test_fixed_param(model):
    fit = model.sample(data=DATA, chains=1, seed=1, fixed_param=True, iter_sampling=7, show_progress=False)
    assert fit.draws().shape[:2] == (7, 1)
