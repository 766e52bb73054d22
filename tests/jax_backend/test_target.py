"""A compiled posterior against the one that autograd runs."""

import os
from dataclasses import replace

import numpy as np
import pytest

import ppl

jax = pytest.importorskip("jax")

from ppl.jax_backend.density import density_of  # noqa: E402
from ppl.jax_backend.jit import THREADS, CompileProfile, make_ready, understood  # noqa: E402
from ppl.jax_backend.not_traceable import NotTraceable  # noqa: E402
from ppl.jax_backend.target import COMPILED, CPU_BATCHES, CompiledTarget, compiled_target  # noqa: E402
from ppl.jax_backend.traceable import TRACE  # noqa: E402

REGRESSION = """
data { int N; int K; matrix[N, K] x; array[N] int<lower=1, upper=3> g; vector[N] y; }
parameters { vector[K] beta; vector[3] a; real<lower=0> sigma; }
transformed parameters { real<lower=-100, upper=100> top = max(a); }
model {
  beta ~ normal(0, 2);
  a ~ student_t(4, 0, 1);
  sigma ~ exponential(1);
  for (n in 1:N) y[n] ~ normal(a[g[n]] + x[n] * beta, sigma);
}
"""


def data(seed: int, n: int = 20, k: int = 3) -> dict:
    rng = np.random.default_rng(seed)
    return {
        "N": n,
        "K": k,
        "x": rng.normal(size=(n, k)),
        "g": rng.integers(1, 4, n),
        "y": rng.normal(size=n),
    }


@pytest.fixture(scope="module")
def model() -> ppl.Model:
    return ppl.compile_model(REGRESSION)


@pytest.fixture(scope="module")
def target(model: ppl.Model) -> CompiledTarget:
    return compiled_target(model.condition(data(1)))


def close(got: object, want: object) -> None:
    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)


def test_value_and_gradient_are_those_of_autograd(target: CompiledTarget) -> None:
    u = np.random.default_rng(2).normal(size=target.dim)
    value, gradient = target.log_density_gradient(u)
    expected = target.posterior.log_density_gradient(u)
    close(value, expected[0])
    close(gradient, expected[1])


def test_a_program_of_large_arrays_is_compiled_for_them(model: ppl.Model, target: CompiledTarget) -> None:
    wide = compiled_target(model.condition(data(1, n=COMPILED.concurrent_width)))
    assert wide.density is density_of(model).by_profile[
        CompileProfile.LARGE_ARRAYS
    ] and target.density is density_of(model)
    assert (
        wide.density.profile is CompileProfile.LARGE_ARRAYS
        and target.density.profile is CompileProfile.STANDARD
    )
    u = np.random.default_rng(2).normal(size=wide.dim)
    value, gradient = wide.log_density_gradient(u)
    expected = wide.posterior.log_density_gradient(u)
    np.testing.assert_allclose(value, expected[0], rtol=1e-10)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-8)


@pytest.mark.parametrize("n", [0, 1, CPU_BATCHES[0][0], CPU_BATCHES[0][0] + 3])
def test_many_points_are_each_as_one(target: CompiledTarget, n: int) -> None:
    us = np.random.default_rng(3).normal(size=(n, target.dim))
    values, gradients = target.log_density_gradients(us)
    singly = [target.posterior.log_density_gradient(u) for u in us]
    close(values, [value for value, _ in singly])
    close(gradients, np.array([gradient for _, gradient in singly]).reshape(us.shape))
    close(target.log_densities(us), values)
    wide = replace(target, largest=2 * COMPILED.small_width)
    close(target.gradients_alone(us), gradients)
    close(wide.gradients_alone(us), gradients)


@pytest.mark.parametrize("n", [0, 1, CPU_BATCHES[0][0] + 3])
def test_a_quick_target_answers_the_same(model: ppl.Model, target: CompiledTarget, n: int) -> None:
    quick = compiled_target(target.posterior, quick=True)
    assert quick.density is density_of(model).by_profile[CompileProfile.FAST] and quick.quick
    us = np.random.default_rng(4).normal(size=(n, target.dim))
    for got, expected in zip(quick.log_density_gradients(us), target.log_density_gradients(us), strict=True):
        close(got, expected)
    close(quick.log_densities(us), target.log_densities(us))
    close(quick.gradients_alone(us), target.gradients_alone(us))


def test_no_large_program_is_compiled_quickly(model: ppl.Model) -> None:
    n = COMPILED.small_width + 1
    assert not compiled_target(model.condition(data(1, n=n)), quick=True).quick


def test_a_gradient_is_traced_once_for_a_point_and_for_many(model: ppl.Model, traces: list[object]) -> None:
    target = compiled_target(model.condition(data(1, n=11)))
    traced = len(traces)
    target.log_density_gradient(np.zeros(target.dim))
    target.log_density_gradients(np.zeros((3, target.dim)))
    assert len(traces) == traced


@pytest.mark.parametrize("profile", CompileProfile)
def test_this_xla_understands_what_is_asked_of_it(profile: CompileProfile) -> None:
    before_0_11_1 = {"xla_cpu_use_fusion_emitters"}
    assert understood(profile).keys() | before_0_11_1 >= profile.value.keys()


HOSTED = """
data { int N; vector[N] y; }
parameters { real<lower=0> a; real<lower=0> b; }
model { target += gamma_lccdf(y | a, b); a ~ exponential(1); b ~ exponential(1); }
"""
GROUPED = """
data { int N; int K; array[N] int<lower=1, upper=K> g; vector[N] y; }
parameters { vector[N] x; }
model {
  vector[K] total = rep_vector(0, K);
  for (n in 1:N) total[g[n]] += x[n] * y[n];
  total ~ normal(0, 1);
  x ~ normal(0, 1);
}
"""


@pytest.mark.rotate
@pytest.mark.parametrize("program", [HOSTED, GROUPED])
def test_every_digit_comes_back_whichever_thread_computes(program: str) -> None:
    """Of many points JAX looks at on a thread of its own, which knows nothing of double precision."""
    rng = np.random.default_rng(5)
    given = {"N": 20, "K": 3, "g": rng.integers(1, 4, 20), "y": rng.uniform(0.1, 3, 20)}
    target = compiled_target(ppl.compile_model(program).condition(given))
    us = 0.1 * rng.normal(size=(3 * CPU_BATCHES[0][0], target.dim))
    for got, want in zip(
        target.log_density_gradients(us), target.posterior.log_density_gradients(us), strict=True
    ):
        close(got, want)


@pytest.mark.parametrize("cores", [2, 5])
def test_batches_on_several_cores_give_the_same_bytes(model: ppl.Model, cores: int) -> None:
    n = COMPILED.threaded_work // CPU_BATCHES[0][0]
    alone = compiled_target(model.condition(data(1, n=n)))
    us = np.random.default_rng(2).normal(size=(5 * CPU_BATCHES[0][0] + 3, alone.dim))
    beside = replace(alone, cores=cores)
    assert beside.log_densities(us).tobytes() == alone.log_densities(us).tobytes()
    for got, want in zip(beside.log_density_gradients(us), alone.log_density_gradients(us), strict=True):
        assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize(
    ("before", "shares_arrays", "threads"), [({}, False, "1"), ({}, True, None), ({THREADS: "3"}, False, "3")]
)
def test_only_large_arrays_are_shared_by_threads(before, shares_arrays, threads, monkeypatch) -> None:
    monkeypatch.setattr("os.environ", dict(before))
    make_ready(shares_arrays)
    assert os.environ.get(THREADS) == threads


def test_sums_by_position_are_compiled() -> None:
    data = {"N": 4, "K": 2, "g": [1, 2, 1, 1], "y": np.ones(4)}
    target = compiled_target(ppl.compile_model(GROUPED).condition(data))
    with jax.enable_x64(True):
        code = target.density.gradient.lower(target.shape, True, target.arguments, np.zeros(4))
    assert "sum_at" in target.posterior.model.python_source
    assert "callback" not in code.as_text()


def test_data_of_the_same_shape_are_traced_once(model: ppl.Model, traces: list[object]) -> None:
    u = np.zeros(compiled_target(model.condition(data(1))).dim)
    traced = len(traces)
    for seed in (4, 5):
        posterior = model.condition(data(seed))
        close(compiled_target(posterior).log_density_gradient(u)[0], posterior.log_density(u))
    assert len(traces) == traced


def test_data_of_another_shape_are_traced_again(model: ppl.Model, traces: list[object]) -> None:
    posterior = model.condition(data(6, n=7))
    traced = len(traces)
    u = np.full(posterior.param_unc_num(), 0.3)
    close(compiled_target(posterior).log_density_gradient(u)[0], posterior.log_density(u))
    assert len(traces) > traced


def test_a_broken_constraint_has_no_density(target: CompiledTarget) -> None:
    u = np.zeros(target.dim)
    u[3] = 200.0
    assert target.posterior.log_density(u) == -np.inf
    assert target.log_density(u) == -np.inf


def test_without_the_jacobian(model: ppl.Model) -> None:
    posterior = model.condition(data(1))
    u = np.full(posterior.param_unc_num(), 0.2)
    value, gradient = compiled_target(posterior, jacobian=False).log_density_gradient(u)
    expected = posterior.log_density_gradient(u, jacobian=False)
    close(value, expected[0])
    close(gradient, expected[1])


def test_ints_that_steer_control_flow_are_compiled_in() -> None:
    program = """
        data { array[3] int k; vector[3] y; }
        parameters { real m; }
        model { for (i in 1:3) { if (k[i] > 0) for (j in 1:k[i]) target += -square(m - y[i]) / j; } }
    """
    model = ppl.compile_model(program)
    for k in ([1, 0, 4], [0, 2, 2]):
        posterior = model.condition({"k": k, "y": [0.5, -1.0, 2.0]})
        u = np.array([0.7])
        close(compiled_target(posterior).log_density_gradient(u)[0], posterior.log_density(u))


OUT_OF_REACH = [
    (
        "if (m > 0) fatal_error(1); target += m;",
        "line 4, a branch depends on parameters, and one side stops the program",
    ),
    ("print(m);", "line 4, it prints"),
    ("int s = 0; while (s < 3000) s = s + size(rep_vector(m, 1)); target += -s * m;", "more than 2000 calls"),
    (
        f"array[{TRACE.most_steps + 1}] real s; for (i in 1:{TRACE.most_steps + 1}) "
        "s[i] = i > 1 ? sin(s[i - 1]) : m; target += -square(s[9]);",
        f"line 4, a loop would be unrolled into more than {TRACE.most_steps} steps",
    ),
    (
        "vector[2] w = [m, m]'; if (m > 100) target += w[size(w) - 2];",
        "line 4, an index is out of range in a branch",
    ),
]


@pytest.mark.rotate
@pytest.mark.parametrize(("body", "why"), OUT_OF_REACH, ids=["branch", "print", "while", "long", "index"])
def test_what_is_out_of_reach_says_why(body: str, why: str) -> None:
    posterior = ppl.compile_model(f"parameters {{ real m; }}\nmodel {{\n  m ~ normal(0, 1);\n  {body}\n}}")
    with pytest.raises(NotTraceable, match=why):
        compiled_target(posterior.condition())


def test_an_index_out_of_range_in_a_loop_that_never_runs_is_out_of_reach() -> None:
    program = """data { int M; vector[M] x; } parameters { real m; }
        model { real a = m; while (a < 0 && M > 0) a += 1 + x[M]; target += -square(a); }"""
    posterior = ppl.compile_model(program).condition({"M": 0, "x": []})
    with pytest.raises(NotTraceable, match="line 2"):
        compiled_target(posterior)


def test_an_index_is_out_of_range_only_where_data_say_so() -> None:
    program = """data { int N; } parameters { real m; } model { real a = m;
        for (n in 1:N) { vector[3] w; for (i in 1:3) w[i] = a + (i > 1 ? w[i - 1] : 0); a = w[3]; }
        target += a - square(m);
    }"""
    posterior, u = ppl.compile_model(program).condition({"N": 3}), np.array([0.7])
    close(compiled_target(posterior).log_density_gradient(u)[1], posterior.log_density_gradient(u)[1])


def test_the_reason_is_what_is_left_when_data_are_compiled_in() -> None:
    program = """data { array[3] int k; } parameters { real m; } model {
        for (i in 1:3) { vector[k[i]] w = rep_vector(m, k[i]); target += -dot_self(w); }
        if (m > 0) fatal_error("m");
    }"""
    posterior = ppl.compile_model(program).condition({"k": [1, 2, 3]})
    with pytest.raises(NotTraceable, match="line 3, a branch depends on parameters"):
        compiled_target(posterior)


def test_a_recurrence_is_compiled_as_one_step() -> None:
    program = """
        parameters { real m; vector[2] c; }
        model {
          real s = m;
          for (i in 1:500) { s = sin(c[1] * s + i); target += normal_lpdf(s | c[2], 1); }
          c ~ normal(0, 1);
        }
    """
    posterior = ppl.compile_model(program).condition()
    u = np.array([0.3, 0.8, -0.4])
    value, gradient = compiled_target(posterior).log_density_gradient(u)
    expected = posterior.log_density_gradient(u)
    close(value, expected[0])
    close(gradient, expected[1])


BRANCHES = {
    "of a sequence": "if (t == 1 || id[t] != id[t - 1]) a = y[t] * c[1]; else a = c[2] * sin(a) + y[t];",
    "of reals": "if (y[t] > 0.5) a = sin(a * c[1]); else if (!(y[t] < -0.5)) a += y[t] * c[2];",
    "around an inner loop": "for (k in 1:2) if (y[t] * k > 0.7) a = sin(a * c[k]); else a += y[t] / k;",
}


@pytest.mark.rotate
@pytest.mark.parametrize("branch", BRANCHES.values(), ids=BRANCHES)
def test_the_step_of_a_recurrence_goes_either_way(branch: str) -> None:
    program = f"""
        data {{ int T; vector[T] y; array[T] int id; }}
        parameters {{ vector[2] c; }}
        model {{
          real a = c[1];
          for (t in 1:T) {{ {branch} target += -square(a - y[t]); }}
          c ~ normal(0, 1);
        }}
    """
    rng = np.random.default_rng(3)
    posterior = ppl.compile_model(program).condition(
        {"T": 80, "y": rng.normal(size=80), "id": [1] * 30 + [2] * 50}
    )
    us = rng.normal(size=(4, 2))
    values, gradients = posterior.log_density_gradients(us)
    target = compiled_target(posterior)
    found = target.log_density_gradients(us)
    close(found[0], values)
    close(found[1], gradients)
    value, gradient = target.log_density_gradient(us[0])
    close(value, values[0])
    close(gradient, gradients[0])


def test_what_fails_for_every_parameter_fails_as_it_does_without_jax() -> None:
    model = ppl.compile_model(
        "data { array[2] int k; } parameters { vector[3] m; } model { m[k] ~ normal(0, 1); }"
    )
    with pytest.raises(ppl.PPLError, match="range"):
        compiled_target(model.condition({"k": [1, 4]}))


def test_data_are_read_where_they_lie(tmp_path) -> None:
    """JAX makes no copy of its own, whether they were copied out of a mapping or read from a file."""
    np.savez(tmp_path / "data.npz", **data(5, n=400))
    for source in (data(5, n=400), tmp_path / "data.npz"):
        posterior = ppl.compile_model(REGRESSION).condition(source)
        places = {a.unsafe_buffer_pointer() for a in compiled_target(posterior).arguments}
        assert {posterior.d.y.ctypes.data, posterior.d.x__.ctypes.data} <= places


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ("ordered[3] x;", "x"),
        ("positive_ordered[3] x;", "x"),
        ("vector[3] x;", "reverse(x)"),
        ("sum_to_zero_vector[3] x;", "x"),
        ("cholesky_factor_corr[3] x;", "x[3]'"),
    ],
)
def test_a_vector_that_is_set_anew_whole_may_be_reversed(declared: str, value: str) -> None:
    """To XLA the adjoint of the first value is a map, on whose reverse its simplifier ends the process."""
    model = ppl.compile_model(
        f"data {{ vector[3] y; }} parameters {{ {declared} }} "
        f"model {{ vector[3] z = {value}; z[1:3] = y; z[1:2] = y[1:2]; z ~ normal(0, 2); }}"
    )
    conditioned = model.condition({"y": [0.1, 0.2, 0.3]})
    u = np.full(conditioned.param_unc_num(), 0.1)
    value_, gradient = compiled_target(conditioned).log_density_gradient(u)
    expected, slope = conditioned.log_density_gradient(u)
    assert value_ == pytest.approx(expected)
    np.testing.assert_allclose(gradient, slope, atol=1e-12)


def test_a_truncation_below_the_support_takes_nothing():
    program = "parameters { real<lower=0> m; } model { 1.5 ~ pareto(m, 1) T[0.3, 2.5]; }"
    posterior = ppl.compile_model(program).condition({})
    target = compiled_target(posterior)
    us = np.linspace(-0.3, 0.4, 50)[:, None]
    values, gradients = posterior.log_density_gradients(us)
    found_values, found_gradients = target.log_density_gradients(us)
    np.testing.assert_allclose(found_values, values, rtol=1e-10)
    np.testing.assert_allclose(found_gradients, gradients, rtol=1e-10)
