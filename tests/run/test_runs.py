"""Independent runs, and what a fit says of itself."""

import os
import signal
import sys

import numpy as np
import pytest

import ppl
from ppl.errors import InferenceError, OutOfRange
from ppl.kernel.advi.outcome import Ending, Phase
from ppl.results.fits.fit import load_fit, variational
from ppl.run import driver, processes

RECIPES = ["auto", "meanfield", "fullrank", "lowrank", "fixed-draws", "laplace", "pathfinder", "optimize"]


@pytest.mark.rotate
def test_the_best_of_several_runs_is_kept_and_compared(toy):
    several = variational(toy, runs=3, seed=5)
    one_by_one = [variational(toy, seed=seed) for seed in (5, 6, 7)]
    best = max(one_by_one, key=lambda fit: fit.elbo)
    np.testing.assert_array_equal(several.draws()[:, :2], best.draws()[:, :2])
    assert several.verdict.spread.runs == 3 and not several.verdict.spread.disagree
    assert several.verdict.spread.elbos == tuple(fit.elbo for fit in one_by_one)
    assert "Over 3 runs" in several.details and "they agree" in several.details


@pytest.mark.rotate
@pytest.mark.parametrize("methods", [["fork"], ["spawn"]], ids=["at once", "one by one"])
def test_every_run_reports_by_its_number(toy, monkeypatch, methods):
    monkeypatch.setattr(processes.multiprocessing, "get_all_start_methods", lambda: methods)
    monkeypatch.delitem(sys.modules, "jax", raising=False)
    events = []
    fit = variational(toy, runs=2, seed=5, backend="autograd", progress=events.append)
    for run, elbo in zip((1, 2), fit.verdict.spread.elbos, strict=True):
        own = [report for report in events if report.run == run]
        assert own[0].phase is Phase.PATHFINDER and own[0].iteration == 0
        assert own[-1].phase is Phase.DONE and own[-1].elbo == elbo
        assert Phase.IMPORTANCE in {report.phase for report in own}
    assert {report.run for report in events} <= {0, 1, 2}


@pytest.fixture
def at_once(monkeypatch):
    """Runs are processes of their own, as where no other test has loaded JAX."""
    monkeypatch.delitem(sys.modules, "jax", raising=False)


@pytest.mark.rotate
@pytest.mark.parametrize(("cores", "together"), [(1, []), (2, [2, 1]), (3, [3])])
@pytest.mark.usefixtures("at_once")
def test_runs_take_no_more_cores_than_they_may(toy, monkeypatch, cores, together):
    taken, began = [], processes._at_once
    monkeypatch.setattr(
        processes, "_at_once", lambda some, *more: taken.append(len(some)) or began(some, *more)
    )
    few = {"runs": 3, "seed": 5, "backend": "autograd", "algorithm": "laplace"}
    fit = variational(toy, cores=cores, **few)
    assert taken == together
    assert fit.draws().tobytes() == variational(toy, **few).draws().tobytes()


def test_a_run_that_is_killed_is_said(toy, monkeypatch, at_once):
    monkeypatch.setattr(driver, "fit", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(InferenceError, match="ended with status -9"):
        variational(toy, runs=2, backend="autograd")


def test_ctrl_c_ends_every_run_where_it_is(toy, at_once):
    events = []

    def stop(report):
        if report.phase is Phase.LOOP and report.run == 2:
            events.append(report)  # another may be on its way already, and a second Ctrl-C ends all at once
            if len(events) == 1:
                os.kill(os.getpid(), signal.SIGINT)

    endless = {"start": "random", "eta": 0.1, "iter": 10**9, "tol_rel_obj": 1e-300, "draws": 20}
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt, match="interrupted") as stopped:
        variational(toy, runs=2, backend="autograd", progress=stop, **endless)
    fit = stopped.value.fit
    assert fit.outcome.ending is Ending.INTERRUPTED and "when 0 of 2 runs had ended" in fit.outcome.sentence
    assert len(fit.draws()) == 20 and signal.getsignal(signal.SIGINT) is handler


def test_ctrl_c_raises_with_the_fit_or_returns_it(toy, tmp_path):
    def stop(report):
        if report.phase is Phase.LOOP:
            os.kill(os.getpid(), signal.SIGINT)

    endless = {"start": "random", "eta": 0.1, "iter": 10**9, "tol_rel_obj": 1e-300, "draws": 20}
    keywords = {"algorithm": "meanfield", "backend": "autograd", "progress": stop, **endless}
    saved = tmp_path / "kept"
    with pytest.raises(KeyboardInterrupt) as stopped:
        variational(toy, checkpoint=saved, checkpoint_every=0, **keywords)
    returned = variational(toy, on_interrupt="return", **keywords)
    assert saved.exists()
    for fit in (stopped.value.fit, returned):
        assert fit.outcome.ending is Ending.INTERRUPTED and len(fit.draws()) == 20
    with pytest.raises(OutOfRange, match="on_interrupt = 'stop' is out of range; expected \"raise\" or"):
        variational(toy, on_interrupt="stop")


def test_a_run_that_cannot_begin_says_so_in_words(make_model):
    class Nowhere(type(make_model().condition({}))):
        def log_density_gradient(self, u, propto=False, jacobian=True):
            return np.nan, np.full(2, np.nan)

    with pytest.raises(InferenceError, match="random starting points"):
        variational(Nowhere(), runs=2)


def test_less_than_one_run_is_refused(toy):
    with pytest.raises(InferenceError, match="runs = 0 is out of range"):
        variational(toy, runs=0)


@pytest.mark.rotate
@pytest.mark.parametrize("algorithm", RECIPES)
def test_a_saved_fit_of_any_recipe_comes_back_with_its_draws(toy, make_model, tmp_path, algorithm):
    fit = variational(toy, algorithm=algorithm, draws=50)
    fit.save(tmp_path / "fit.json")
    again = load_fit(tmp_path / "fit.json", make_model(), toy.data)
    np.testing.assert_array_equal(again.draws(), fit.draws())
    np.testing.assert_equal(again.verdict.khat, fit.verdict.khat)
    assert again.notes == fit.notes and again.judgement == fit.judgement


def test_optimize_leaves_the_jacobian_out_unless_it_is_asked_for(toy):
    jacobians = []

    class ProgressOptions(type(toy)):
        def log_density(self, u, propto=False, jacobian=True):
            return self.log_density_gradient(u, propto, jacobian)[0]

        def log_density_gradient(self, u, propto=False, jacobian=True):
            jacobians.append(jacobian)
            return super().log_density_gradient(u)

    for setting, expected in ((None, {False}), (True, {True})):
        jacobians.clear()
        variational(ProgressOptions(), algorithm="optimize", draws=1, jacobian=setting)
        assert set(jacobians) == expected


def test_the_judgement_names_the_coordinates(toy):
    class Kinked(type(toy)):
        """mu leans: a density that no Gaussian fits."""

        def log_density_gradient(self, u, propto=False, jacobian=True):
            tail = np.exp(-3 * u[0])
            return float(-u[0] - tail - 0.5 * u[1] ** 2), np.array([-1 + 3 * tail, -u[1]])

    fit = variational(Kinked(), algorithm="fullrank", move=False)
    assert fit.level != "good" and "most affected: mu." in fit.judgement


@pytest.mark.rotate
@pytest.mark.usefixtures("at_once")
def test_of_several_runs_the_draws_of_the_one_that_was_kept_are_loaded(tmp_path):
    model = ppl.compile_model(
        "parameters { vector[2] x; } model { x[1] ~ normal(0, exp(x[2])); x[2] ~ normal(0, 1); }"
    )
    fits = (
        model.condition({}).variational(algorithm="meanfield", runs=3, seed=seed, draws=20, iter=200)
        for seed in range(1, 7)
    )
    saved = next(fit for fit in fits if fit.result.settings.seed != fit.settings.seed)
    saved.save(tmp_path / "fit.json")
    np.testing.assert_array_equal(ppl.load_fit(tmp_path / "fit.json", model, {}).draws(), saved.draws())
