"""log_prob, generate_quantities and the gradient test, on compiled programs."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from ppl.compile import compile_model
from ppl.errors import DataError
from ppl.kernel.draws.names import Sized, flat, unflatten
from ppl.kernel.draws.stan_csv import file_lines
from ppl.results.files.config import Config, comment_lines
from ppl.results.fits.generate import generate
from ppl.results.fits.gradient_test import Component, gradient_test
from ppl.results.fits.log_prob import log_prob, read_points, unconstrained_of

PROGRAM = """
data { int N; vector[N] y; }
parameters {
  tuple(real<lower=0>, simplex[3]) t;
  matrix[2, 3] M;
  cholesky_factor_corr[2] L;
}
model { t.1 ~ exponential(1); to_vector(M) ~ std_normal(); y ~ normal(0, t.1); }
"""
GENERATED = """
generated quantities { real s = t.1 + M[2, 1]; vector[2] z = to_vector(normal_rng(zeros_vector(2), 1)); }
"""
DATA = {"N": 2, "y": [0.5, -1.0]}


@pytest.fixture(scope="module")
def posterior():
    return compile_model(PROGRAM).condition(DATA)


@pytest.fixture
def us(posterior):
    return np.random.default_rng(0).normal(size=(5, posterior.param_unc_num()))


@pytest.fixture
def draws(posterior, us):
    return np.array([posterior.param_constrain(u) for u in us])


def test_unflatten_is_the_inverse_of_flat():
    pair = (Sized("a.1", (), ()), Sized("a.2", (2,), (3,)))
    variables = [
        Sized("M", (4,), (2, 3)),
        Sized("a", (2, 2), (), pair),
        Sized("e", (0,), (2,)),
        Sized("x", (), ()),
    ]
    row = np.arange(24 + 4 * 7 + 0 + 1.0)
    values = unflatten(variables, row)
    values["a"] = [[(entry["1"], entry["2"]) for entry in entries] for entries in values["a"]]
    assert np.array_equal(flat(variables, values), row)


def test_columns_lead_back_to_the_unconstrained_points(posterior, us, draws):
    names = ["extra", *reversed(posterior.param_names())]
    shuffled = np.column_stack([np.zeros(5), draws[:, ::-1]])
    assert np.allclose(unconstrained_of(posterior, names, shuffled), us)


def test_a_missing_column_is_named(posterior, draws):
    with pytest.raises(DataError, match=r"no column t:1 "):
        unconstrained_of(posterior, posterior.param_names()[1:], draws[:, 1:])


def test_log_prob_is_the_posterior_s_own(posterior, us):
    found = log_prob(posterior, us)
    value, gradient = posterior.log_density_gradient(us[2])
    assert found.values[2] == value and np.array_equal(found.gradients[2], gradient)
    header, first, *_ = found.csv_lines()
    assert header.startswith("lp__,g_t:1,g_t:2.1") and len(first.split(",")) == 1 + us.shape[1]


def test_points_from_json(posterior, us, tmp_path):
    path = tmp_path / "points.json"
    path.write_text(json.dumps(us.tolist()))
    assert np.array_equal(read_points(path, posterior, unconstrained=True), us)
    path.write_text(json.dumps({"params_r": us[0].tolist()}))
    assert np.array_equal(read_points(path, posterior, unconstrained=True), us[:1])
    L = [[1, 0], [0.6, 0.8]]
    path.write_text(json.dumps({"t": {"1": 2.0, "2": [0.2, 0.3, 0.5]}, "M": [[1, 2, 3], [4, 5, 6]], "L": L}))
    u = read_points(path, posterior)[0]
    assert posterior.param_constrain(u)[:5] == pytest.approx([2.0, 0.2, 0.3, 0.5, 1.0])
    path.write_text("[1, 2]")
    with pytest.raises(DataError, match="one JSON object"):
        read_points(path, posterior)
    with pytest.raises(DataError, match="lists of 10 numbers"):
        read_points(path, posterior, unconstrained=True)


def test_quantities_of_an_edited_program_at_old_draws(posterior, draws):
    edited = compile_model(PROGRAM + GENERATED).condition(DATA)
    table = generate(edited, posterior.param_names(), draws, seed=3)
    assert table.columns == ("s", "z.1", "z.2")
    at = posterior.param_names().index
    assert np.allclose(table.rows[:, 0], draws[:, at("t:1")] + draws[:, at("M.2.1")])
    assert np.array_equal(table.rows, generate(edited, posterior.param_names(), draws, seed=3).rows)
    assert not np.allclose(
        table.rows[:, 1], generate(edited, posterior.param_names(), draws, seed=4).rows[:, 1]
    )
    config = Config("toy_model", {"method": "generate_quantities", "random.seed": 3})
    lines = list(file_lines(comment_lines(config), table.columns, table.rows.tolist()))
    assert "#   seed = 3\n" in lines and "s,z.1,z.2\n" in lines and len(lines[-1].split(",")) == 3


def test_the_gradient_agrees_with_differences(posterior, us):
    test = gradient_test(posterior, us[0])
    assert [c.name for c in test.components] == posterior.param_unc_names()
    assert test.failures(1e-7) == () and math.isfinite(test.log_density)


def test_a_wrong_gradient_is_found(posterior, us):
    class Wrong:
        def __getattr__(self, name):
            return getattr(posterior, name)

        def log_density_gradient(self, u):
            value, gradient = posterior.log_density_gradient(u)
            return value, gradient + 1e-4 * (np.arange(len(u)) == 4)

    test = gradient_test(Wrong(), us[0])
    assert [c.name for c in test.failures(1e-6)] == [posterior.param_unc_names()[4]]


def test_nan_agrees_with_nothing():
    good = Component("x", 0.0, 1.0, 1.0, 0.0)
    assert good.within(1e-6)
    assert not replace(good, gradient=math.nan).within(1e-6) and not replace(
        good, difference=math.nan
    ).within(1e-6)


def test_what_is_not_finite_is_explained():
    posterior = compile_model("parameters { real x; } model { x ~ lognormal(0, 1); }").condition({})
    test = gradient_test(posterior, np.array([-1.0]))
    assert test.log_density == -math.inf and "lognormal" in test.explanation
