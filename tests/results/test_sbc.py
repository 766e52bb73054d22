"""Simulation-based calibration: right fits pass, wrong ones are found, whatever the number of processes."""

import inspect

import numpy as np
import pytest

import ppl
from ppl.errors import DataError
from ppl.methods.diagnose.uniform_ranks import uniformity
from ppl.methods.run.setting import settings_of
from ppl.methods.run.settings import SbcSettings
from ppl.results.calibration.sbc import calibrated, identity, read_csv
from ppl.results.calibration.simulations import simulations_of
from ppl.run import processes

NORMAL = """data { int N; vector[N] y; } parameters { real m; }
            model { m ~ normal(0, 1); y ~ normal(m, 1); }"""
WIDER = """data { int N; } generated quantities { real m = normal_rng(0, 3);
           vector[N] y; for (n in 1:N) y[n] = normal_rng(m, 3); }"""


@pytest.fixture(scope="module")
def model():
    return ppl.compile_model(NORMAL)


@pytest.fixture(scope="module")
def exact(model):
    """Laplace's approximation is the posterior here."""
    return model.sbc({"N": 5}, simulations=100, draws=49, algorithm="laplace")


@pytest.mark.rotate("exact")
def test_draws_of_the_posterior_are_calibrated(exact):
    assert exact.ranks.shape == (100, 1) and 0 <= exact.ranks.min() <= exact.ranks.max() <= 49
    found = exact.uniformity()["m"]
    assert found.p > 0.01 and found.mean == pytest.approx(0.5, abs=0.1)
    assert exact.judgement.startswith("Calibrated") and "m " in str(exact)


@pytest.mark.rotate
def test_draws_of_another_posterior_are_not(model):
    off = model.sbc(
        {"N": 5}, simulations=60, draws=49, algorithm="laplace", simulator=ppl.compile_model(WIDER)
    )
    assert off.uniformity()["m"].p < 0.01 and off.judgement.startswith("Not calibrated: the ranks of m (p ")
    assert "U: the draws are too narrow" in off.judgement


@pytest.mark.rotate("exact")
def test_the_ranks_are_the_same_however_many_processes_share_the_work(model, exact, monkeypatch):
    few = {"simulations": 7, "draws": 49, "algorithm": "laplace"}
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    three = model.sbc({"N": 5}, **few)
    monkeypatch.setattr(processes, "can_fork", lambda: False)
    alone = model.sbc({"N": 5}, **few)
    assert (three.ranks == alone.ranks).all() and (three.ranks == exact.ranks[:7]).all()


def test_an_interrupted_run_keeps_what_it_has_and_goes_on_to_the_same_ranks(model, tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "can_fork", lambda: False)
    simulations = simulations_of(model, {"N": 5})
    asked = SbcSettings(simulations=8, draws=19, algorithm="laplace")
    whole = calibrated(simulations, asked)

    def stop(so_far):
        if len(so_far.numbers) == 3:
            raise KeyboardInterrupt

    part = calibrated(simulations, asked, stop)
    about = identity(simulations, asked)
    (tmp_path / "sbc.csv").write_text("".join(part.csv_lines(about)))
    before = read_csv(tmp_path / "sbc.csv", about)
    assert before.numbers == part.numbers and len(part.numbers) == 3
    after = calibrated(simulations, asked, before=before)
    assert after.numbers == whole.numbers and (after.ranks == whole.ranks).all()
    with pytest.raises(DataError, match="belongs to another run: seed is 1 there and 2 here"):
        read_csv(tmp_path / "sbc.csv", {**about, "seed": 2})


def test_failures_are_counted_and_left_out(tmp_path):
    program = """data { int N; vector[N] y; } parameters { real m; }
                 model { if (N > 0) { if (y[1] > 0) reject("no"); } m ~ normal(0, 1); y ~ normal(m, 1); }"""
    own = NORMAL.replace("parameters { real m; }", "").partition("model")[0].replace("vector[N] y;", "")
    simulator = (
        own
        + """ generated quantities { real m = normal_rng(0, 1); vector[N] y;
                          for (n in 1:N) y[n] = normal_rng(m, 1); }"""
    )
    found = ppl.compile_model(program).sbc(
        {"N": 1}, simulations=12, draws=9, algorithm="laplace", simulator=ppl.compile_model(simulator)
    )
    assert 0 < len(found.failed) < 12 and len(found.failed) + len(found.numbers) == 12
    assert f"{len(found.failed)} simulations failed" in found.judgement


@pytest.mark.rotate
def test_fits_lack_the_values_that_the_data_lack(model, monkeypatch):
    monkeypatch.setattr(processes, "can_fork", lambda: False)
    data = {"N": 5, "y": [0, None, 0, None, None]}
    simulations = simulations_of(model, data, missing="model")
    posterior = simulations.condition(simulations.draw(1, 1))
    assert posterior.missing == {"y": ["y[2]", "y[4]", "y[5]"]}
    found = model.sbc(data, simulations=40, draws=99, algorithm="laplace", missing="model")
    assert found.columns == ("m",) and found.uniformity()["m"].p > 0.01
    asked = SbcSettings()
    assert identity(simulations, asked) != identity(simulations_of(model, {"N": 5}), asked)


@pytest.mark.rotate
def test_chains_can_be_calibrated(model):
    pytest.importorskip("nutpie")
    found = model.sbc({"N": 2}, simulations=4, draws=19, algorithm="nuts", backend="autograd")
    assert found.ranks.shape == (4, 1) and not found.failed


@pytest.mark.rotate
def test_ties_of_discrete_parameters_are_broken_at_random():
    program = """data { int N; vector[N] y; } parameters { int<lower=0, upper=1> z; real m; }
                 model { z ~ bernoulli(0.5); m ~ normal(0, 1); y ~ normal(m + 0 * z, 1); }"""
    found = ppl.compile_model(program).sbc({"N": 2}, simulations=40, draws=19, algorithm="laplace")
    ranks = found.ranks[:, found.columns.index("z")]
    assert len(set(ranks.tolist())) > 8


@pytest.mark.rotate
@pytest.mark.parametrize("n", [50, 300])
def test_the_test_is_right_about_uniform_ranks(n):
    rng = np.random.default_rng(1)
    ps = [uniformity(rng.integers(0, 100, n), 99).p for _ in range(200)]
    assert np.mean(np.array(ps) < 0.05) == pytest.approx(0.05, abs=0.045)
    assert np.mean(ps) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    ("a", "b", "shape"),
    [(0.4, 0.4, "U:"), (3, 3, "hump:"), (1, 2.5, "low ranks"), (2.5, 1, "high ranks")],
)
def test_a_shape_has_its_name(a, b, shape):
    ranks = np.floor(np.random.default_rng(2).beta(a, b, 200) * 100).astype(int)
    found = uniformity(ranks, 99)
    assert found.p < 0.01 and found.shape.startswith(shape)


def test_the_method_has_the_names_and_defaults_of_the_table():
    parameters = inspect.signature(ppl.Model.sbc).parameters
    for name, known in settings_of(SbcSettings).items():
        assert parameters[name].default == known.default


@pytest.mark.rotate("exact")
def test_the_picture_has_a_panel_for_each_column(exact, tmp_path):
    pytest.importorskip("matplotlib")
    from ppl.results.pictures.canvas import save
    from ppl.results.pictures.statistic import rank_histograms

    figure = rank_histograms(exact.ranks, exact.columns, exact.draws)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["m"]
    save(figure, tmp_path / "sbc.svg")
    assert (tmp_path / "sbc.svg").stat().st_size > 1000
