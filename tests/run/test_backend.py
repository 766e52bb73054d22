"""The same fit on both backends, and what is said when there is no choice."""

from dataclasses import replace

import numpy as np
import pytest

import ppl
from ppl import memory
from ppl.compilation.traits import Traits
from ppl.density.problem import Extent, Problem
from ppl.errors import InferenceError
from ppl.kernel.advi.outcome import Phase, Progress
from ppl.kernel.advi.target import Often
from ppl.methods.run.phases import POINTS_OF_A_START
from ppl.methods.run.settings import SampleSettings, Settings
from ppl.run import backend
from ppl.run.backend import jax_pays
from ppl.run.posterior_target import PosteriorTarget, TwoBackends

PROGRAM = """
data { int N; vector[N] x; array[N] int<lower=0, upper=1> y; }
parameters { real a; real b; real<lower=0> s; }
model { a ~ normal(0, 2); b ~ normal(0, s); s ~ lognormal(0, 0.5); y ~ bernoulli_logit(a + b * x); }
"""
SIZE_BY_PARAMETER = """
parameters { real m; }
model {
  m ~ normal(0, 1);
  target += -sum(rep_vector(m, 1 + (m > 0)));
}
"""


@pytest.fixture(scope="module")
def posterior() -> ppl.Posterior:
    rng = np.random.default_rng(1)
    x = rng.normal(size=50)
    y = rng.binomial(1, 1 / (1 + np.exp(-0.5 - x)))
    return ppl.compile_model(PROGRAM).condition({"N": 50, "x": x, "y": y})


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


SETTINGS = [
    {},
    {"quick_jit": True},
    {
        "quick_jit": True,
        "start": "random",
        "refine": False,
        "correct": False,
        "iter": 2_300,
        "tol_rel_obj": 1e-9,
        "eta": 0.1,
    },
    {"algorithm": "fullrank"},
    {
        "start": "random",
        "refine": False,
        "correct": False,
        "upgrade": False,
        "average": False,
        "iter": 300,
        "eta": 0.1,
    },
    {"algorithm": "dsvi", "iter": 300, "eta": 0.01},
    {"algorithm": "dsvi", "iter": 300, "eta": 0.01, "minibatch": 20, "step_rule": "adam"},
    {"algorithm": "laplace"},
    {"algorithm": "optimize"},
]


@pytest.mark.rotate
@pytest.mark.parametrize(
    "settings",
    SETTINGS,
    ids=["default", "quick", "quick-long", "fullrank", "paper", "dsvi", "minibatch", "laplace", "optimize"],
)
def test_the_same_seed_gives_the_same_fit(posterior: ppl.Posterior, settings: dict) -> None:
    pytest.importorskip("jax")
    by_autograd = posterior.variational(backend="autograd", draws=50, **settings)
    by_jax = posterior.variational(backend="jax", draws=50, **settings)
    np.testing.assert_allclose(by_jax.draws(), by_autograd.draws(), rtol=1e-6, atol=1e-8)
    assert by_jax.outcome == by_autograd.outcome


def test_progress_names_a_backend_other_than_autograd(posterior: ppl.Posterior) -> None:
    pytest.importorskip("jax")
    for name, note in (("autograd", ""), ("jax", "backend jax")):
        messages: list[Progress] = []
        posterior.variational(backend=name, draws=2, progress=messages.append)
        assert {report.note for report in messages} == {note, "best of 4 paths"}


def test_a_program_out_of_reach_is_refused_where_jax_is_asked_for() -> None:
    pytest.importorskip("jax")
    sized = ppl.compile_model(SIZE_BY_PARAMETER).condition()
    with pytest.raises(InferenceError, match=r"line 5, a branch depends on parameters"):
        sized.variational(backend="jax")


def test_a_program_out_of_reach_is_left_to_autograd_with_a_note(monkeypatch) -> None:
    pytest.importorskip("jax")
    monkeypatch.setattr(backend, "jax_pays", lambda *_: True)
    fit = ppl.compile_model(SIZE_BY_PARAMETER).condition().variational(algorithm="laplace", draws=2)
    assert "backend: autograd, because line 5, a branch depends on parameters." in fit.notes


def test_small_work_is_left_to_autograd_without_a_word(posterior: ppl.Posterior) -> None:
    assert not jax_pays(posterior.problem, Settings())
    fit = posterior.variational(algorithm="laplace", draws=2)
    assert not any("backend" in note for note in fit.notes)


@pytest.mark.parametrize(
    ("change", "pays"),
    [({}, True), ({"width": 1}, False), ({"is_updated": True}, False), ({"is_timed": True}, False)],
)
def test_the_backend_is_chosen_by_a_record_alone(change: dict, pays: bool) -> None:
    pytest.importorskip("jax")
    whole = Problem(
        *(Extent(1, ()), ("m",), np.zeros(1, dtype=bool), {}, Traits(0, False, False, 1)),
        *(backend.JAX_PAYS.width, 0),
        is_updated=False,
        is_timed=False,
    )
    assert jax_pays(replace(whole, **change), Settings()) is pays


@pytest.mark.parametrize("most", [5, 6])
def test_a_program_of_many_calls_is_not_compiled_unasked(most: int, monkeypatch) -> None:
    pytest.importorskip("jax")
    monkeypatch.setattr(backend, "JAX_PAYS", replace(backend.JAX_PAYS, dimensions=6, most_calls=most))
    names = [f"x{i}" for i in range(6)]
    declared, modelled = ("".join(map(each.format, names)) for each in ("real {};", "{} ~ normal(0, 1);"))
    posterior = ppl.compile_model(f"parameters {{ {declared} }} model {{ {modelled} }}").condition()
    assert posterior.model.traits.calls == 6
    assert jax_pays(posterior.problem, Settings()) is (most == 6)


@pytest.mark.parametrize(("calls", "pays"), [(backend.JAX_PAYS.recurrence, True), (80, False)])
def test_a_long_recurrence_is_worth_a_compilation(calls: int, pays: bool) -> None:
    pytest.importorskip("jax")
    program = """
        data { int T; vector[T] y; }
        parameters { real<lower=0, upper=1> b; }
        model {
          vector[T] h;
          h[1] = 1;
          for (t in 2:T) h[t] = sqrt(1 + b * square(h[t - 1]));
          y ~ normal(0, h);
        }
    """
    model = ppl.compile_model(program)
    assert model.traits.calls_of_a_step == 4
    steps = -(-calls // 4)
    series = model.condition({"T": steps, "y": np.linspace(-1, 1, steps)})
    assert jax_pays(series.problem, Settings()) is pays
    assert backend.points_that_pay(series.problem, series.cost) <= backend.JAX_PAYS.work // calls
    assert not jax_pays(series.problem, Settings(runs=2))


def test_a_large_matrix_is_worth_a_compilation(monkeypatch) -> None:
    pytest.importorskip("jax")
    monkeypatch.setattr(backend, "JAX_PAYS", replace(backend.JAX_PAYS, matrix=12))
    program = "data { int N; matrix[N, 3] x; } parameters { vector[3] b; } model { x * b ~ normal(0, 1); }"
    model = ppl.compile_model(program)
    assert jax_pays(model.condition({"N": 4, "x": np.ones((4, 3))}).problem, Settings())
    assert not jax_pays(model.condition({"N": 3, "x": np.ones((3, 3))}).problem, Settings())


def test_many_rows_are_worth_a_compilation() -> None:
    pytest.importorskip("jax")
    program = "data { int N; vector[N] y; } parameters { real m; } model { y ~ student_t(4, m, 1); }"
    model = ppl.compile_model(program)
    for rows, expected in ((backend.JAX_PAYS.width, True), (backend.JAX_PAYS.width - 1, False)):
        posterior = model.condition({"N": rows, "y": np.zeros(rows)})
        assert jax_pays(posterior.problem, Settings()) is expected


def test_many_parameters_are_worth_a_compilation() -> None:
    pytest.importorskip("jax")
    model = ppl.compile_model("data { int N; } parameters { vector[N] x; } model { x ~ normal(0, 1); }")
    for n, expected in ((backend.JAX_PAYS.dimensions, True), (backend.JAX_PAYS.dimensions - 1, False)):
        assert jax_pays(model.condition({"N": n}).problem, Settings()) is expected


MIXTURE = """
data { int N; vector[N] y; }
parameters { vector[2] mu; }
model {
  mu ~ normal(0, 5);
  for (n in 1:N) target += log_mix(0.3, normal_lpdf(y[n] | mu[1], 1), normal_lpdf(y[n] | mu[2], 1));
}
"""


def test_moves_take_the_faster_of_two_densities() -> None:
    pytest.importorskip("jax")
    from ppl.jax_backend.target import CompiledTarget

    rows = 400
    y = np.random.default_rng(1).normal(size=rows)
    many = PosteriorTarget(ppl.compile_model(MIXTURE).condition({"N": rows, "y": y}))
    assert backend.on_backend(many, Settings(backend="autograd")) == many
    auto = backend.on_backend(many, Settings())
    points = backend.points_that_pay(many.posterior.problem, many.width)
    assert isinstance(auto, PosteriorTarget) and auto.view(Often(points - 1)) is None
    fast = auto.view(Often(points))
    assert points == backend.JAX_PAYS.work // many.width and isinstance(fast, CompiledTarget)
    us = np.random.default_rng(2).normal(size=(5, 2))
    for got, want in zip(fast.log_density_gradients(us), many.log_density_gradients(us), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-10)


LOOP_THAT_STAYS = """
data { int T; vector[T] y; }
parameters { vector[T] e; }
model {
  vector[T] s = e;
  for (t in 4:T) s[t] = e[t] - tanh(sum(s[(t - 3):(t - 1)]));
  e ~ std_normal();
  y ~ normal(s, 1);
}
"""


def test_moves_take_the_compiled_steps_of_a_loop_that_stayed_one() -> None:
    """Sooner, for each step costs as much as twenty numbers."""
    pytest.importorskip("jax")
    steps = 4
    posterior = ppl.compile_model(LOOP_THAT_STAYS).condition({"T": steps + 3, "y": np.zeros(steps + 3)})
    assert posterior.sizes.steps == steps
    auto = backend.on_backend(PosteriorTarget(posterior), Settings())
    points = backend.points_that_pay(posterior.problem, auto.width)
    assert points == backend.JAX_PAYS.work // (auto.width + 20 * steps)
    us = np.random.default_rng(2).normal(size=(5, steps + 3))
    fast = auto.view(Often(points))
    got, want = (target.log_density_gradients(us) for target in (fast, posterior))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def test_where_jax_cannot_move_draws_autograd_does() -> None:
    pytest.importorskip("jax")
    rows = 400
    wide = f"vector[{rows}] z = rep_vector(m, {rows}); z ~ normal(0, 9);"
    program = SIZE_BY_PARAMETER.replace("m ~ normal(0, 1);", wide)
    target = PosteriorTarget(ppl.compile_model(program).condition({}))
    moved = backend.on_backend(target, Settings()).view(Often(10**9))
    assert isinstance(moved, PosteriorTarget) and "a branch depends on parameters" in moved.note


@pytest.mark.rotate
def test_a_differential_equation_is_worth_a_compilation() -> None:
    pytest.importorskip("jax")
    program = """
        functions { vector decay(real t, vector y, real k) { return -k * y; } }
        data { array[2] real y; }
        parameters { real<lower=0> k; }
        model {
          array[2] vector[1] z = ode_rk45(decay, [1.0]', 0, {1.0, 2.0}, k);
          for (n in 1:2) y[n] ~ lognormal(log(z[n, 1]), 0.1);
        }
    """
    posterior = ppl.compile_model(program).condition({"y": [0.6, 0.37]})
    assert jax_pays(posterior.problem, Settings())
    compiled, plain = (
        posterior.variational(algorithm="laplace", backend=b).draws() for b in ("auto", "autograd")
    )
    assert compiled == pytest.approx(plain, rel=1e-6)


def test_without_jax_the_message_says_what_to_install(posterior: ppl.Posterior, monkeypatch) -> None:
    monkeypatch.setattr(backend, "find_spec", lambda name: None)
    monkeypatch.setattr(backend, "compiled", None)  # it would import JAX
    with pytest.raises(ppl.MissingPackage, match=r"needs JAX.*pip install"):
        posterior.variational(backend="jax")


def test_a_device_that_is_not_there_is_refused(posterior: ppl.Posterior) -> None:
    jax = pytest.importorskip("jax")
    if any(device.platform == "gpu" for device in jax.devices()):
        pytest.skip("there is one")
    with pytest.raises(InferenceError, match=r'device = "gpu"'):
        posterior.variational(backend="jax", device="gpu")


@pytest.mark.parametrize(("name", "word"), [("backend", "torch"), ("device", "tpu")])
def test_a_word_that_is_none_is_refused(posterior: ppl.Posterior, name: str, word: str) -> None:
    with pytest.raises(InferenceError, match=f"{name} = '{word}' is out of range; expected one of"):
        posterior.variational(**{name: word})


def test_runs_beside_each_other_share_a_compilation(posterior: ppl.Posterior) -> None:
    pytest.importorskip("jax")
    fit = posterior.variational(backend="jax", runs=2, algorithm="laplace", draws=20)
    assert fit.draws().shape[0] == 20


SOLVED = """
functions { vector decay(real t, vector y, real k) { return -k * y; } }
data { array[3] real ts; array[3] real y; }
parameters { real<lower=0> k; real<lower=0> s; }
transformed parameters { array[3] vector[1] z = ode_rk45(decay, [2.0]', 0, ts, k); }
model { k ~ lognormal(0, 1); s ~ exponential(1); y ~ normal(z[, 1], s); }
"""


@pytest.mark.rotate
def test_an_equation_is_solved_by_jax_at_each_of_few_points_and_by_numpy_at_many() -> None:
    compiled = pytest.importorskip("ppl.jax_backend.target", reason="needs jax", exc_type=ImportError)
    data = {"ts": [0.5, 1.0, 2.0], "y": [1.2, 0.8, 0.2]}
    posterior = ppl.compile_model(SOLVED).condition(data)
    target = backend.on_backend(PosteriorTarget(posterior), Settings())
    whole = backend.on_backend(PosteriorTarget(posterior), Settings(backend="jax"))
    assert isinstance(target, TwoBackends) and isinstance(whole, compiled.CompiledTarget)
    us = np.random.default_rng(1).normal(size=(20, target.dim))
    values, gradients = whole.log_density_gradients(us)
    np.testing.assert_allclose(target.log_densities(us), values, rtol=1e-6)
    for some in (us, us[:5], us[:1]):
        np.testing.assert_allclose(target.log_density_gradients(some)[1], gradients[: len(some)], rtol=1e-5)
    one = whole.log_density_gradient(us[2])[1]
    np.testing.assert_array_equal(target.log_density_gradients(us[:5])[1][2], one)
    np.testing.assert_array_equal(target.view(Often(10**6)).log_density_gradients(us)[1], gradients)
    assert target.log_density(us[0]) == pytest.approx(values[0])
    assert target.log_density_gradient(us[0])[1] == pytest.approx(gradients[0])
    assert (target.width, target.explain(us[0])) == (whole.width, whole.explain(us[0]))


def test_an_equation_that_numpy_solves_draw_by_draw_is_left_to_jax() -> None:
    pytest.importorskip("jax")
    printing = SOLVED.replace("model {", 'model { print("k"); ')
    posterior = ppl.compile_model(printing).condition({"ts": [0.5, 1.0, 2.0], "y": [1.2, 0.8, 0.2]})
    assert posterior.log_joint(False, True).values_at_once is None
    compiled = object()
    assert backend.by_both(PosteriorTarget(posterior), compiled) is compiled


def test_auto_leaves_to_autograd_what_jax_has_no_memory_for(monkeypatch):
    pytest.importorskip("jax")
    rows = 2 * backend.JAX_PAYS.width
    model = ppl.compile_model("data { int N; } parameters { vector[N] x; } model { x ~ normal(0, 1); }")
    target = PosteriorTarget(model.condition({"N": rows}))
    for gigabytes in (8, 1):
        monkeypatch.setattr(memory, "limits", lambda free=gigabytes << 30: iter([free]))
        targets = (
            (plain := backend.on_backend(target, Settings(draws=10))).view(Often(POINTS_OF_A_START)) or plain,
            backend.on_backend(target, Settings(algorithm="meanfield")),
            backend.for_sampler(target, SampleSettings(num_samples=10, num_warmup=10)),
        )
        assert [isinstance(found, PosteriorTarget) for found in targets] == [gigabytes == 1] * 3


GROUPED = """
data { int N; array[N] int g; vector[N] y; }
parameters { real m; real<lower=0> s; vector[8] a; }
model { m ~ normal(0, 5); s ~ normal(0, 1); a ~ normal(m, s); y ~ normal(a[g], 1); }
"""
UNGROUPED = GROUPED.replace("vector[8] a;", "vector<lower=-9>[8] a;").replace(
    "a ~ normal(m, s);", "a ~ multi_normal(rep_vector(m, 8), identity_matrix(8) + s);"
)


@pytest.mark.rotate
@pytest.mark.parametrize(("program", "used"), [(GROUPED, "autograd"), (UNGROUPED, "autograd, jax")])
def test_blocks_of_a_large_program_are_integrated_out_by_autograd(program, used, monkeypatch) -> None:
    """And where there are none, JAX takes over; each report names what computes."""
    pytest.importorskip("jax")
    monkeypatch.setattr(backend, "JAX_PAYS", replace(backend.JAX_PAYS, work=40 * POINTS_OF_A_START))
    rng, reports = np.random.default_rng(1), list[Progress]()
    data = {"N": 40, "g": np.tile(np.arange(1, 9), 5), "y": rng.normal(size=40)}
    fit = ppl.compile_model(program).condition(data).variational(seed=1, draws=50, progress=reports.append)
    assert fit.backend == used
    assert {r.note for r in reports if r.phase in (Phase.NESTED, Phase.VARIABLES)} <= {""}
    assert {f"backend {used}"} - {"backend autograd"} <= {r.note for r in reports}


def test_small_fits_do_not_ask_how_much_memory_is_free(posterior, monkeypatch) -> None:
    asked = list[int]()
    monkeypatch.setattr(memory, "limits", lambda: iter([asked.append(1) or 8 << 30]))
    posterior.variational(algorithm="laplace", draws=20)
    assert not asked
