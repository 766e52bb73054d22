"""Programs as functions of JAX without ppl, run in a process of their own: they choose double precision."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ppl
from ppl.stages import show_stage

pytest.importorskip("jax")

MODELS = Path(__file__).parents[2] / "models"
RECURRENCE = """
data { int T; vector[T] y; }
parameters { real<lower=-1, upper=1> phi; real<lower=0> s; cholesky_factor_corr[3] L; vector[3] w; }
model {
  real h = 0;
  for (t in 1:T) { h = phi * h + y[t]; if (h > phi) target += -square(h); target += normal_lpdf(h | 0, s); }
  L ~ lkj_corr_cholesky(2);
  w ~ multi_normal_cholesky(rep_vector(phi, 3), L);
}
"""
PROGRAMS = {
    **{
        name: (MODELS / name / f"{name}.model", MODELS / name / f"{name}.data.json")
        for name in (
            "eight_schools",
            "gaussian_mixture",
            "stochastic_volatility",
            "influenza_sir",
            "gp_poisson",
            "zero_inflated_poisson",
        )
    },
    "recurrence": (RECURRENCE, {"T": 40, "y": np.sin(np.arange(40.0)).tolist()}),
}
STANDS_ALONE = ("eight_schools", "gaussian_mixture", "stochastic_volatility", "recurrence")
"""Constraints, sums over discrete values, slices, and a loop with branches."""

GRADIENTS = """
import json, sys
found = {}
for file, u in json.load(sys.stdin).items():
    scope = {}
    exec(open(file).read(), scope)
    both = scope["jax"].jit(scope["jax"].value_and_grad(scope["log_density"]))
    value, gradient = both(scope["jnp"].array(u))
    found[file] = [float(value), gradient.tolist()]
assert not any(name.split(".")[0] == "ppl" for name in sys.modules)
print(json.dumps(found))
"""

NUTS = """
import sys
scope = {}
exec(open(sys.argv[1]).read(), scope)
jax, jnp, log_density = scope["jax"], scope["jnp"], scope["log_density"]
import blackjax

warmup_key, key = jax.random.split(jax.random.key(1))
warmup = blackjax.window_adaptation(blackjax.nuts, log_density)
(state, parameters), _ = warmup.run(warmup_key, jnp.zeros(10), num_steps=200)
step = jax.jit(blackjax.nuts(log_density, **parameters).step)
_, draws = jax.lax.scan(lambda s, k: (step(k, s)[0],) * 2, state, jax.random.split(key, 600))
print(float(draws.position[:, 0].mean()), float(jnp.exp(draws.position[:, 1]).mean()))
"""


def of(name):
    return PROGRAMS[name]


def shown(program, data=None):
    return show_stage(program, "jax", data=data)


def run(script, *args, given=""):
    # -I: neither the checkout nor the variables of the environment are at hand.
    done = subprocess.run(
        [sys.executable, "-I", "-c", script, *args], input=given, capture_output=True, text=True
    )
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.mark.rotate(3)
def test_values_and_gradients_are_those_of_the_program(tmp_path):
    expected, points = {}, {}
    for name in STANDS_ALONE:
        posterior = ppl.compile_model(of(name)[0]).condition(of(name)[1])
        u = np.random.default_rng(2).uniform(-1, 1, posterior.param_unc_num())
        file = tmp_path / f"{name}.py"
        file.write_text(shown(*of(name)))
        points[str(file)], expected[str(file)] = u.tolist(), posterior.log_density_gradient(u)
    found = json.loads(run(GRADIENTS, given=json.dumps(points)))
    for file, (value, gradient) in expected.items():
        assert found[file][0] == pytest.approx(value, rel=1e-10), file
        np.testing.assert_allclose(found[file][1], gradient, rtol=1e-7, atol=1e-7, err_msg=file)


@pytest.mark.rotate(5)
def test_nuts_of_blackjax_runs_it(tmp_path):
    pytest.importorskip("blackjax")
    (tmp_path / "eight_schools.py").write_text(shown(*of("eight_schools")))
    mu, tau = map(float, run(NUTS, str(tmp_path / "eight_schools.py")).split())
    assert mu == pytest.approx(4.4, abs=0.6) and tau == pytest.approx(3.6, abs=0.7)


def test_lines_are_those_of_the_program():
    text = shown(*of("eight_schools"))
    assert "    # 14: vector[J] theta = mu + tau * theta_raw;\n    theta = mu + tau * theta_raw\n" in text
    assert "    tau = jnp.exp(v)\n" in text and '    "y": jnp.array([28.0, 8.0,' in text


def test_data_without_entries_or_all_equal_and_names_that_python_keeps():
    program = "data { int N; vector[N] y; } parameters { real lambda; } "
    program += "model { lambda ~ normal(0, 1); y ~ normal(lambda, 1); }"
    text = shown(program, {"N": 0, "y": []})
    assert "jnp.zeros((0,), dtype=jnp.float64)" in text and compile(text, "shown", "exec")
    assert '"y": jnp.full((3,), 2.0, dtype=jnp.float64),' in shown(program, {"N": 3, "y": [2, 2, 2]})


@pytest.mark.rotate(3)
@pytest.mark.parametrize(
    ("program", "data", "why"),
    [
        (*of("influenza_sir"), "it needs `while`"),
        (*of("gp_poisson"), "line 25, "),
        (*of("zero_inflated_poisson"), "JAX's derivative is not finite"),
        (of("eight_schools")[0], None, "give them with `--data FILE`"),
    ],
)
def test_what_cannot_stand_alone_is_refused(program, data, why):
    with pytest.raises(ppl.ArgumentError, match=why):
        shown(program, data)
