"""`posterior.sample`: chains of NUTS, what they say of themselves, and their files."""

import json
import pickle
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
import xarray

import ppl
from ppl.errors import InferenceError
from ppl.kernel.advi.outcome import Phase
from ppl.methods.diagnose.level import Level
from ppl.methods.nuts.chain import STATISTICS, Start, _chain_of, run_chains, start_of
from ppl.methods.nuts.diagnostics import judged
from ppl.methods.run.setting import settings_of
from ppl.methods.run.settings import SampleSettings
from ppl.results.arguments.tree import with_defaults
from ppl.results.files.read_csv import read_draws
from ppl.run import sampling
from ppl.run.initial import start_for, starts_for

pytest.importorskip("nutpie")

MODELS = Path(__file__).parents[2] / "models"
NORMAL = """
parameters { vector[2] x; real<lower=0> s; }
model { x[1] ~ normal(3, 0.1); x[2] ~ normal(100 * x[1], 5); s ~ exponential(2); }
generated quantities { real twice = 2 * x[1]; real z = normal_rng(0, 1); }
"""
SHORT = {"num_chains": 2, "num_warmup": 300, "num_samples": 200}


@pytest.fixture(scope="module")
def posterior():
    return ppl.compile_model(NORMAL).condition({})


@pytest.fixture(scope="module")
def chains(posterior):
    return posterior.sample(seed=3, backend="autograd", **SHORT)


@pytest.mark.rotate
def test_draws_are_of_the_posterior(chains):
    assert chains.draws().shape == (400, 5) and chains.draws(concat_chains=False).shape == (200, 2, 5)
    assert (chains.draws()[200:] == chains.draws(concat_chains=False)[:, 1]).all()
    x, s = chains.stan_variable("x"), chains.stan_variable("s")
    assert x.shape == (400, 2) and chains.stan_variable("x[2]").shape == (400,)
    assert x.mean(axis=0) == pytest.approx([3, 300], abs=3.5) and s.mean() == pytest.approx(0.5, abs=0.15)
    assert (chains.stan_variable("twice") == 2 * x[:, 0]).all()
    assert chains.draws_pd("x").columns.tolist() == ["x[1]", "x[2]"]
    row = chains.summary()["s"]
    assert row.mean == pytest.approx(s.mean()) and 0.99 < row.r_hat < 1.1 and row.ess_bulk > 20
    assert [row.name for row in chains.summary().only(["s", "z"])] == ["s", "z"]
    assert chains.summary().only(["s"])["s"].r_hat == chains.summary("s")["s"].r_hat == row.r_hat
    assert len(chains.summary(["x[2]", "s"])) == 2
    assert 0.5 * row.sd / 20 < row.se < 0.5 * row.sd and "mcse_mean" in str(chains.summary())
    assert "R_hat" in str(chains.summary()) and "R_hat" in chains._repr_html_()


def test_what_the_sampler_says_belongs_to_its_draws(posterior, chains):
    variables = chains.method_variables()
    values = posterior.log_densities(chains.draws_u)
    np.testing.assert_allclose(variables["lp__"].T.ravel(), values, rtol=1e-9)
    assert (variables["energy__"] >= -variables["lp__"] - 1e-9).all()
    assert chains.inv_metric.shape == (2, 3) and (chains.step_size > 0).all()
    assert chains.inv_metric[:, 1] == pytest.approx(125, rel=0.8)
    assert chains.divergences.shape == chains.max_treedepths.shape == (2,)


def test_short_chains_in_lockstep_have_the_same_files_and_diagnostics(posterior, tmp_path):
    few = {"num_chains": 2, "num_samples": 300, "engine": "batch", "backend": "autograd"}
    found, again = (posterior.sample(seed=3, **few) for _ in range(2))
    assert found.judged.worst(found.judged.rhats) < 1.05 and found.judged.least_ess > 100
    assert found.stan_variable("x").mean(axis=0) == pytest.approx([3, 300], abs=2)
    np.testing.assert_allclose(
        found.method_variables()["lp__"].T.ravel(), posterior.log_densities(found.draws_u), rtol=1e-9
    )
    texts = [chains.save_csv(tmp_path / "b.csv")[1].read_bytes() for chains in (found, again)]
    assert texts[0] == texts[1]
    read = read_draws(tmp_path / "b_2.csv")
    assert read.config["sample_engine"] == "batch" and (read.draws == found.tables[1].rows).all()


@pytest.mark.rotate
def test_the_same_seed_gives_the_same_bytes_and_another_others(posterior, tmp_path, monkeypatch):
    few = {"num_chains": 2, "num_warmup": 50, "num_samples": 30, "backend": "autograd"}
    once, again = (posterior.sample(seed=3, **few) for _ in range(2))
    monkeypatch.setattr("ppl.run.processes.can_fork", lambda: False)
    alone = posterior.sample(seed=3, **few)
    assert (again.draws() == once.draws()).all() and (alone.draws() == once.draws()).all()
    texts = [found.save_csv(tmp_path / "a.csv")[1].read_bytes() for found in (once, alone)]
    assert texts[0] == texts[1]
    other = posterior.sample(seed=4, **few)
    assert (other.draws_u != once.draws_u).any(axis=1).all()


@pytest.mark.rotate
def test_jax_draws_the_same_posterior_whatever_runs_beside(posterior, monkeypatch):
    """Its chains as threads, and one by one."""
    pytest.importorskip("jax")
    monkeypatch.setattr(sampling, "pays_to_share", lambda start: True)
    found = posterior.sample(seed=3, backend="jax", **SHORT)
    assert found.stan_variable("x").mean(axis=0) == pytest.approx([3, 300], abs=3.5)
    monkeypatch.setattr(sampling, "pays_to_share", lambda start: False)
    assert (posterior.sample(seed=3, backend="jax", **SHORT).draws() == found.draws()).all()


@pytest.mark.rotate
def test_draws_by_both_backends_agree_in_distribution(posterior):
    """Chains by JAX and by autograd; means within 4 of their joint standard errors, deviations within 15%."""
    pytest.importorskip("jax")
    several = {"num_chains": 2, "num_warmup": 300, "num_samples": 1000, "seed": 5}
    one, other = (posterior.sample(backend=name, **several) for name in ("autograd", "jax"))
    for mine, theirs in zip(one.summary(), other.summary(), strict=True):
        error = np.hypot(mine.sd / mine.ess_bulk**0.5, theirs.sd / theirs.ess_bulk**0.5)
        assert abs(mine.mean - theirs.mean) < 4 * error, mine.name
        assert mine.sd == pytest.approx(theirs.sd, rel=0.15), mine.name


def test_auto_is_jax_where_it_is_there_and_autograd_where_it_cannot_run(posterior, monkeypatch):
    pytest.importorskip("jax")
    few = {"num_chains": 1, "num_warmup": 20, "num_samples": 5, "seed": 1}
    by = {name: posterior.sample(backend=name, **few).draws_u for name in ("auto", "jax")}
    assert (by["auto"] == by["jax"]).all()
    assert posterior.sample(**few).about["sample_backend"] == "jax"
    assert posterior.sample(**few, backend="autograd").about["sample_backend"] == "autograd"
    sized = ppl.compile_model(
        "parameters { real x; } model { x ~ normal(0, 1); target += -sum(rep_vector(x, 1 + (x > 0))); }"
    ).condition({})
    assert "backend: autograd, because" in sized.sample(**few).notes[0]
    with pytest.raises(InferenceError, match="cannot run this program"):
        sized.sample(**{**few, "backend": "jax"})


def test_cmdstanpy_and_arviz_read_the_files(chains, tmp_path):
    cmdstanpy, arviz = pytest.importorskip("cmdstanpy"), pytest.importorskip("arviz")
    files = chains.save_csv(tmp_path / "nuts.csv")
    assert [file.name for file in files] == ["nuts_1.csv", "nuts_2.csv"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = cmdstanpy.from_csv([str(file) for file in files])
    assert (theirs.chains, theirs.num_draws_sampling, theirs.num_draws_warmup) == (2, 200, 300)
    np.testing.assert_array_equal(theirs.stan_variable("x"), chains.stan_variable("x"))
    np.testing.assert_array_equal(theirs.draws()[:, :, 0], chains.method_variables()["lp__"])
    assert (theirs.divergences == chains.divergences).all() and (theirs.step_size == chains.step_size).all()
    np.testing.assert_allclose(theirs.inv_metric, chains.inv_metric)
    if hasattr(arviz, "from_cmdstan"):  # not in ArviZ 1
        read = arviz.from_cmdstan([str(file) for file in files])
        assert dict(read.posterior["x"].sizes) == {"chain": 2, "draw": 200, "x_dim_0": 2}


def test_arviz_gets_chains_and_statistics(chains, tmp_path):
    arviz = pytest.importorskip("arviz")
    inference = chains.to_arviz()
    assert dict(inference.posterior["x"].sizes) == {"chain": 2, "draw": 200, "x_dim_0": 2}
    (tmp_path / "nc").mkdir()
    assert inference.sample_stats["diverging"].dtype == bool
    own = {row.name: row.r_hat for row in chains.summary()}
    theirs = arviz.rhat(inference)
    assert own["s"] == pytest.approx(float(theirs["s"]), abs=1e-6)
    assert own["x.2"] == pytest.approx(float(theirs["x"][1]), abs=1e-6)
    assert float(arviz.ess(inference)["s"]) == pytest.approx(chains.summary()["s"].ess_bulk, rel=1e-6)
    assert chains.draws_xr()["x"].shape == (2, 200, 2) and [*chains.draws_xr("s")] == ["s"]
    np.testing.assert_array_equal(
        arviz.from_cmdstanpy(chains).posterior["x"], inference.posterior["x"]
    )  # a fit answers CmdStanPy's names
    with pytest.raises(ppl.ArgumentError, match="draws of the warmup are not stored"):
        chains.stan_variable("x", inc_warmup=True)
    assert arviz.from_netcdf(chains.save(tmp_path / "nc" / "x.nc")[0]).posterior.sizes["chain"] == 2


def test_a_file_says_what_was_run(posterior, tmp_path):
    one = posterior.sample(seed=2, num_chains=1, num_warmup=60, num_samples=7, delta=0.9, backend="autograd")
    (file,) = one.save_csv(tmp_path / "one.csv")
    read = read_draws(file)
    assert file.name == "one.csv" and read.method == "sample" and read.draws.shape == (7, 5)
    assert (
        read.config["method.sample.num_warmup"] == "60" and read.config["method.sample.adapt.delta"] == "0.9"
    )
    assert read.config["sample_backend"] == "autograd"
    assert read.config["sample_verdict"] == one.level and read.parameters == ("x.1", "x.2", "s")


def test_the_settings_are_cmdstans_but_for_four_chains():
    defaults = with_defaults({"method": "sample"})
    for name, known in settings_of(SampleSettings).items():
        if known.path.startswith("sample."):
            assert defaults[known.path] == (1 if name == "num_chains" else known.default)


@pytest.mark.rotate
def test_a_fit_is_where_chains_begin_and_what_scales_them(posterior, tmp_path):
    fit = posterior.variational(seed=1, algorithm="fullrank")
    fit.save(tmp_path / "fit.json")
    init = start_for(posterior, tmp_path / "fit.json")
    target = sampling.PosteriorTarget(posterior)
    starts = [start_of(target, init, np.random.default_rng(k)) for k in range(2)]
    assert all(isinstance(start, Start) and abs(start.v).max() < 5 for start in starts)
    settings = SampleSettings(num_warmup=20, num_samples=300)
    warm, cold = (
        run_chains([start], settings, [1])[0]
        for start in (starts[0], start_of(target, 2.0, np.random.default_rng(0)))
    )
    assert warm.draws.u[:, 1].mean() == pytest.approx(300, abs=6)
    assert warm.draws.u[:, 1].std() == pytest.approx(11.2, rel=0.4)
    assert warm.draws.leapfrogs < 0.7 * cold.draws.leapfrogs  # correlated at 0.9, and 100 times as wide
    value, _ = posterior.log_density_gradient(warm.draws.u[-1])
    assert warm.draws.statistics[-1, 0] == pytest.approx(value)
    mode = posterior.optimize(draws=1)
    mode.save(tmp_path / "mode.json")
    at_mode = start_of(target, start_for(posterior, tmp_path / "mode.json"), np.random.default_rng(0))
    assert at_mode.target is target


def test_each_chain_may_have_a_start_of_its_own(posterior, tmp_path):
    fit = posterior.laplace(seed=1, draws=50)
    inits = fit.create_inits(seed=1, chains=3)
    starts = starts_for(posterior, inits, 3)
    for init, start in zip(inits, starts, strict=True):
        assert start == pytest.approx(posterior.param_unconstrain(init))
        assert (abs(fit.draws_u - start).max(axis=1) < 1e-9).sum() == 1
    assert len({start[0] for start in starts}) == 3
    (tmp_path / "one.json").write_text(json.dumps({"s": 2.0}))
    _, second = starts_for(posterior, [inits[0], tmp_path / "one.json"], 2)
    assert second[2] == pytest.approx(np.log(2)) and np.isnan(second[:2]).all()
    chains = posterior.sample(init=inits, num_chains=3, num_warmup=5, num_samples=3, backend="autograd")
    assert (
        chains.draws().shape == (9, 5)
        and "init = given" in chains.save_csv(tmp_path / "c.csv")[0].read_text()
    )
    with pytest.raises(ppl.DataError, match="init has 3 entries, and there are 4 chains"):
        posterior.sample(init=inits, num_chains=4)
    with pytest.raises(InferenceError, match="or a list of such files or values, one for each chain"):
        posterior.sample(init=[1.0], num_chains=1)


def test_names_of_cmdstanpy(posterior, chains):
    assert chains.chain_ids == [1, 2] and chains.metric_type == "diag_e"
    assert (chains.num_draws_sampling, chains.num_draws_warmup) == (200, 300)
    assert chains.metadata.stan_vars == {"x": (2,), "s": (), "twice": (), "z": ()}
    about = chains.metadata.cmdstan_config
    assert about["random"] == {"seed": 3} and about["method"]["sample"]["num_warmup"] == 300
    inits = chains.create_inits(seed=2, chains=4)
    x = chains.stan_variable("x")
    assert [sorted(init) for init in inits] == [["s", "x"]] * 4
    assert all((x == init["x"]).all(axis=1).any() for init in inits)


@pytest.mark.parametrize(
    ("rhat_shift", "divergent", "deep", "level", "words"),
    [
        (0, 0, 0, Level.GOOD, "the 4 chains agree (R-hat at most 1.00"),
        (0.3, 0, 0, Level.USABLE, "the chains have not mixed: R-hat is 1.0"),
        (3, 0, 0, Level.POOR, "for b (should be at most 1.01)"),
        (0, 3, 0, Level.USABLE, "3 of 4000 transitions diverged (0.075%)"),
        (0, 900, 0, Level.POOR, "raise delta"),
        (0, 0, 12, Level.GOOD, "12 of 4000 trajectories reached the maximum tree depth (10)"),
    ],
)
def test_the_verdict_in_words(rhat_shift, divergent, deep, level, words):
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(4, 1000, 2))
    draws[0, :, 1] += rhat_shift
    diverging, depths = np.zeros(4000), np.full(4000, 3.0)
    diverging[:divergent], depths[:deep] = 1, 10
    found = judged(["a", "b"], draws, diverging.reshape(4, -1), depths.reshape(4, -1), 10)
    assert found.level is level and words in found.sentence and found.sentence.startswith(f"Verdict: {level}")


def test_chains_whose_means_are_off_by_a_tenth_of_an_sd_are_poor():
    steps = np.random.default_rng(1).normal(size=(4, 500, 1))
    draws = np.zeros_like(steps)
    for t in range(1, 500):
        draws[:, t] = 0.95 * draws[:, t - 1] + steps[:, t]
    found = judged(["a"], draws, np.zeros((4, 500)), np.full((4, 500), 3.0), 10)
    assert 20 < found.least_ess < 100 and found.level is Level.POOR


@pytest.mark.parametrize(
    ("delta", "advice"),
    [
        (0.8, "raise delta, for example to 0.95, or rewrite"),
        (0.95, "raise delta, for example to 0.99, or rewrite"),
        (0.99, "curvature; rewrite"),
    ],
)
def test_advice_on_divergences_is_above_what_was_set(delta, advice):
    draws = np.random.default_rng(1).normal(size=(4, 1000, 1))
    found = judged(["a"], draws, np.ones((4, 1000)), np.ones((4, 1000)), 10, delta)
    assert advice in found.sentence


def test_few_draws_are_said_to_be_few():
    draws = np.random.default_rng(1).normal(size=(2, 60, 1))
    found = judged(["a"], draws, np.zeros((2, 60)), np.ones((2, 60)), 10)
    assert found.level is Level.USABLE and "effective draws for a (should be at least 200)" in found.sentence
    constant = judged(["a"], np.ones((2, 60, 1)), np.zeros((2, 60)), np.ones((2, 60)), 10)
    assert constant.level is Level.UNKNOWN


@pytest.mark.rotate
def test_a_funnel_diverges_and_says_so():
    funnel = ppl.compile_model(
        "parameters { real v; vector[9] x; } model { v ~ normal(0, 3); x ~ normal(0, exp(v / 2)); }"
    )
    found = funnel.condition({}).sample(seed=1, num_chains=2, num_warmup=200, num_samples=200)
    assert found.level is not Level.GOOD


def test_progress_is_told_by_chain(posterior):
    events, few = [], {"num_chains": 2, "num_warmup": 30, "num_samples": 20}
    posterior.sample(seed=3, backend="autograd", progress=events.append, **few)
    for chain in (1, 2):
        own = [report for report in events if report.run == chain]
        assert [own[0].phase, own[0].iteration, own[0].total] == [Phase.WARMUP, 1, 30]
        assert [own[-1].phase, own[-1].iteration] == [Phase.SAMPLING, 20]


@pytest.mark.rotate
def test_ctrl_c_keeps_the_draws_that_there_are(posterior, monkeypatch):
    monkeypatch.setattr("ppl.run.processes.can_fork", lambda: False)
    import _thread

    events = []

    def stop(report):
        if report.phase is Phase.SAMPLING and report.run == 2:
            events.append(report)  # a second Ctrl-C would end pytest itself
            if len(events) == 1:
                _thread.interrupt_main()

    long = {"num_chains": 3, "num_warmup": 100, "num_samples": 300}
    found = posterior.sample(seed=3, backend="autograd", progress=stop, on_interrupt="return", **long)
    assert found.interrupted and found.chains == 1 and "Interrupted: 1 chains" in found.notes[0]


def test_after_a_timeout_chains_end_where_they_are(posterior, monkeypatch):
    monkeypatch.setattr("ppl.run.processes.can_fork", lambda: False)
    clock = [perf_counter()]
    for module in ("ppl.methods.nuts.chain", "ppl.run.listener"):
        monkeypatch.setattr(f"{module}.perf_counter", lambda: clock[0])

    def pass_time(report):
        clock[0] += 61 if report.phase is Phase.SAMPLING else 0

    long = {"num_chains": 2, "num_warmup": 10, "num_samples": 10**6, "backend": "autograd"}
    found = posterior.sample(seed=3, timeout=60, progress=pass_time, **long)
    assert not found.interrupted and found.chains == 1 and 0 < found.num_draws < 10**6
    assert found.notes[0].startswith("Stopped after timeout = 60 s: 1 chains of ")


@pytest.mark.parametrize("engine", ["nuts", "batch"])
def test_a_timeout_before_the_first_draw_is_an_error(posterior, engine):
    with pytest.raises(InferenceError, match="No chain had a draw after timeout = 1e-09 s"):
        posterior.sample(num_chains=1, timeout=1e-9, backend="autograd", engine=engine)


def test_what_progress_raises_ends_a_chain_in_a_thread(posterior):
    class Cancelled(Exception): ...

    def cancel(report):
        raise Cancelled

    with pytest.raises(Cancelled):
        posterior.sample(num_chains=1, backend="autograd", progress=cancel, cores=1)


def test_a_program_without_parameters_is_refused():
    fixed = ppl.compile_model("generated quantities { real z = normal_rng(0, 1); }").condition({})
    with pytest.raises(InferenceError, match="no parameters"):
        fixed.sample()


def test_an_improper_posterior_is_refused():
    flat = ppl.compile_model("parameters { real x; real y; } model { x ~ normal(0, 1); }").condition({})
    with pytest.raises(InferenceError, match="y"):
        flat.sample()


def test_discrete_parameters_are_drawn_back():
    program = """parameters { real m; int<lower=0, upper=1> z; }
                 model { m ~ normal(0, 1); z ~ bernoulli_logit(m); }"""
    found = ppl.compile_model(program).condition({}).sample(seed=1, backend="autograd", **SHORT)
    assert found.stan_variable("z").dtype == np.int64
    assert found.probabilities("z").shape == (2,) and found.most_probable("z").shape == (400,)


@pytest.mark.rotate
@pytest.mark.parametrize("name", ["eight_schools", "logistic_regression"])
def test_means_are_those_of_long_runs_of_stan(name):
    """Within Monte Carlo error: four standard errors of the mean, each with what its draws are worth."""
    folder = MODELS / name
    posterior = ppl.compile_model(folder / f"{name}.model").condition(folder / f"{name}.data.json")
    found = posterior.sample(seed=1, num_samples=500, num_warmup=500)
    reference = json.loads((folder / f"{name}.reference.json").read_text())
    summary = found.summary()
    for column, mean in reference["mean"].items():
        error = reference["sd"][column] / summary[column].ess_bulk ** 0.5
        assert abs(summary[column].mean - mean) < 4 * error, column
    if name == "eight_schools":
        assert -34 < found.loo().elpd < -29


def test_chains_travel_to_other_processes(chains):
    again = pickle.loads(pickle.dumps(chains))
    assert (again.draws() == chains.draws()).all() and again.judgement == chains.judgement


def trace_of_nutpie(metrics, energy, scaled):
    """What nutpie leaves of two warmup iterations and two draws of two coordinates."""
    statistics = {name: np.zeros((1, 4)) for name in (*STATISTICS, "step_size_bar")}
    statistics |= {"mass_matrix_inv": np.array([metrics]), "energy": np.array([energy])}
    statistics |= {"transformation_index": np.zeros((1, 4))} if scaled else {}
    phases = {"warmup_": slice(2), "": slice(2, 4)}
    u = xarray.Dataset({"u": (("chain", "draw", "of"), np.zeros((1, 2, 2)))})
    return {f"{phase}posterior": u for phase in phases} | {
        f"{phase}sample_stats": {name: values[:, part] for name, values in statistics.items()}
        for phase, part in phases.items()
    }


def test_scales_that_nutpie_records_where_they_change_are_the_metric_that_it_had_at_every_draw():
    """nutpie 0.16.9 and later; before, the inverse metric of every draw. The energies are the same."""
    nan = np.nan
    before = _chain_of(trace_of_nutpie([[1, 1], [4, 9], [4, 9], [4, 9]], [2.0, 3.0, 4.0, 5.0], False))
    shifted = [2.0, *(np.array([3.0, 4.0, 5.0]) + np.log(6))]
    since = _chain_of(trace_of_nutpie([[1, 1], [2, 3], [nan, nan], [nan, nan]], shifted, True))
    assert before.inverse_metric.tolist() == since.inverse_metric.tolist() == [4, 9]
    for chain in (before, since):
        energies = [*chain.warmup.statistics[:, -1], *chain.draws.statistics[:, -1]]
        assert energies == pytest.approx([2, 3, 4, 5])
