"""Models and posteriors through their public methods."""

import json

import numpy as np
import pytest
from scipy import stats

import ppl

PROGRAM = """data {
  int<lower=1> N;
  vector[N] y;
}
transformed data {
  real shift = normal_rng(0, 1);
}
parameters {
  real mu;
  real<lower=0> sigma;
  simplex[3] theta;
  array[2] cholesky_factor_corr[3] L;
}
transformed parameters {
  vector[N] r = (y - mu) / sigma;
}
model {
  target += normal_lpdf(y | mu, sigma);
  sigma ~ normal(0, 1);
}
generated quantities {
  real y_new = normal_rng(mu, sigma);
  matrix[2, 2] M = [[mu, sigma], [3, 4]];
}
"""
DATA = {"N": 3, "y": [0.5, -1.0, 2.0]}


@pytest.fixture(scope="module")
def model() -> ppl.Model:
    return ppl.compile_model(PROGRAM)


@pytest.fixture(scope="module")
def posterior(model: ppl.Model) -> ppl.Posterior:
    return model.condition(DATA)


@pytest.fixture
def u(posterior: ppl.Posterior) -> np.ndarray:
    return np.random.default_rng(1).uniform(-1, 1, posterior.param_unc_num())


def test_a_model_shows_its_schema_source_and_code(model: ppl.Model) -> None:
    assert model.data_schema == {"N": "int", "y": "vector"}
    assert model.source.text == PROGRAM
    assert "def log_joint(d, u, with_jacobian):" in model.python_source


def test_data_may_be_a_mapping_or_a_file(model: ppl.Model, tmp_path, u: np.ndarray) -> None:
    file = tmp_path / "data.json"
    file.write_text(json.dumps(DATA))
    np.savez(tmp_path / "data.npz", **DATA)
    densities = [model.condition(d).log_density(u) for d in (DATA, file, str(tmp_path / "data.npz"))]
    assert densities == [densities[0]] * 3


def test_data_are_not_changed_and_not_shared(model: ppl.Model, u: np.ndarray) -> None:
    y = np.array(DATA["y"])
    posterior = model.condition({"N": 3, "y": y})
    before = posterior.log_density(u)
    y[:] = 0.0
    assert posterior.log_density(u) == before


def test_names_and_numbers(posterior: ppl.Posterior) -> None:
    assert posterior.param_unc_num() == 1 + 1 + 2 + 2 * 3
    assert posterior.param_num() == 2 + 3 + 2 * 9
    names = posterior.param_names(include_tp=True, include_gq=True)
    assert names[:5] == ["mu", "sigma", "theta.1", "theta.2", "theta.3"]
    assert names[5:8] == ["L.1.1.1", "L.2.1.1", "L.1.2.1"]
    assert names[-8:] == ["r.1", "r.2", "r.3", "y_new", "M.1.1", "M.2.1", "M.1.2", "M.2.2"]
    assert posterior.param_unc_names()[:5] == ["mu", "sigma", "theta.1", "theta.2", "L.1.1"]
    assert len(posterior.param_unc_names()) == posterior.param_unc_num()


def test_density_is_the_formula(posterior: ppl.Posterior) -> None:
    u = np.zeros(posterior.param_unc_num())
    u[:2] = 0.3, -0.2
    sigma = np.exp(-0.2)
    expected = stats.norm.logpdf(DATA["y"], 0.3, sigma).sum() + stats.norm.logpdf(sigma)
    assert posterior.log_density(u, jacobian=False) == pytest.approx(expected, rel=1e-13)
    # at 0: log sigma, the simplex' sum of log(1/3) and half of log 3, and nothing for a unit factor
    jacobian = -0.2 + 3 * np.log(1 / 3) + 0.5 * np.log(3)
    assert posterior.log_density(u) == pytest.approx(expected + jacobian, rel=1e-13)


def test_propto_drops_what_a_tilde_drops_and_no_more(posterior: ppl.Posterior, u: np.ndarray) -> None:
    other = u + 0.3
    dropped = [posterior.log_density(v) - posterior.log_density(v, propto=True) for v in (u, other)]
    assert dropped == pytest.approx([-0.5 * np.log(2 * np.pi)] * 2)  # the prior's; not those of target +=
    gradients = [posterior.log_density_gradient(u, propto=p)[1] for p in (False, True)]
    np.testing.assert_allclose(*gradients, rtol=1e-12, atol=1e-12)


def test_gradient_is_the_central_difference(posterior: ppl.Posterior, u: np.ndarray) -> None:
    for jacobian in (True, False):
        value, gradient = posterior.log_density_gradient(u, jacobian=jacobian)
        assert value == pytest.approx(posterior.log_density(u, jacobian=jacobian), rel=1e-13)
        steps = 1e-5 * np.eye(len(u))
        ahead, behind = (
            [posterior.log_density(v, jacobian=jacobian) for v in moved] for moved in (u + steps, u - steps)
        )
        np.testing.assert_allclose(gradient, np.subtract(ahead, behind) / 2e-5, rtol=1e-7, atol=1e-8)


def test_constrain_and_unconstrain_are_inverse(posterior: ppl.Posterior, u: np.ndarray) -> None:
    values = posterior.values(u, None, include_tp=False, include_gq=False)
    assert values["theta"].sum() == pytest.approx(1)
    assert values["L"].shape == (2, 3, 3)
    np.testing.assert_allclose(posterior.param_unconstrain(values), u, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sigma", -1.0),
        ("theta", [0.5, 0.5, 0.5]),
        ("theta", [0.5, 0.5]),
        ("L", np.ones((2, 3, 3))),
        ("mu", None),
    ],
)
def test_values_outside_their_constraint_are_refused_by_name(posterior, u, name, value) -> None:
    values = posterior.values(u, None, include_tp=False, include_gq=False)
    changed = {k: v for k, v in values.items() if k != name} | ({} if value is None else {name: value})
    with pytest.raises(ppl.DataError, match=name):
        posterior.param_unconstrain(changed)


def test_generated_quantities_follow_their_generator(posterior: ppl.Posterior, u: np.ndarray) -> None:
    def draw(seed: int) -> np.ndarray:
        return posterior.param_constrain(u, include_gq=True, rng=np.random.default_rng(seed))

    assert draw(1).tolist() == draw(1).tolist()
    assert (draw(1) != draw(2)).sum() == 1
    position = posterior.param_names(include_gq=True).index("y_new")
    draws = np.array([draw(k)[position] for k in range(300)])
    assert stats.kstest(draws, stats.norm(u[0], np.exp(u[1])).cdf).pvalue > 0.01


def test_transformed_data_follow_the_seed(model: ppl.Model) -> None:
    shifts = [model.condition(DATA, seed=s).d.shift for s in (1, 1, 2)]
    assert shifts[0] == shifts[1] != shifts[2]


def test_a_vector_of_another_length_is_refused(posterior: ppl.Posterior) -> None:
    with pytest.raises(ValueError, match=r"shape \(3,\), but must have shape \(10,\)"):
        posterior.log_density(np.zeros(3))


def test_softplus_is_another_map_onto_the_positive_reals() -> None:
    program = "parameters { real<lower=2> x; } model { x ~ normal(3, 1); }"
    posterior = ppl.compile_model(program, positive_transform="softplus").condition({})
    x = 2 + np.log1p(np.exp(0.4))
    assert posterior.param_constrain(np.array([0.4])) == pytest.approx([x])
    assert posterior.param_unconstrain({"x": x}) == pytest.approx([0.4])
    expected = stats.norm.logpdf(x, 3, 1) - np.log1p(np.exp(-0.4))
    assert posterior.log_density(np.array([0.4])) == pytest.approx(expected)
    with pytest.raises(ValueError, match="positive_transform"):
        ppl.compile_model(program, positive_transform="square")


def test_a_rejected_point_has_density_zero() -> None:
    program = 'parameters { real x; } model { if (x < 0) reject("negative: ", x); x ~ normal(0, 1); }'
    posterior = ppl.compile_model(program).condition({})
    assert posterior.log_density(np.array([-1.0])) == -np.inf
    assert posterior.log_density_gradient(np.array([-1.0]))[0] == -np.inf
    assert "negative: -1" in posterior.explain(np.array([-1.0]))


def test_a_broken_transformed_parameter_has_density_zero_and_says_so() -> None:
    program = "parameters { real x; } transformed parameters { real<lower=0> y = x; }"
    posterior = ppl.compile_model(program).condition({})
    assert posterior.log_density(np.array([1.0])) == 0.0
    assert posterior.log_density(np.array([-1.0])) == -np.inf
    assert "`y`" in posterior.explain(np.array([-1.0]))


def test_no_parameters_at_all() -> None:
    posterior = ppl.compile_model("model { target += 2; } generated quantities { int k = 3; }").condition()
    assert posterior.param_unc_num() == 0
    assert posterior.log_density(np.zeros(0)) == 2
    assert posterior.log_density_gradient(np.zeros(0))[1].shape == (0,)
    assert posterior.param_constrain(np.zeros(0), include_gq=True).tolist() == [3]


def test_sizes_of_zero() -> None:
    program = """data { int N; vector[N] y; matrix[N, 2] X; } parameters { vector[N] a; real b; }
      model {
        a ~ normal(b, 1); b ~ normal(0, 1); y ~ normal(a + X * [1, b]', 1);
        for (n in 1:N) y[n] ~ normal(b, 1);
      }"""
    posterior = ppl.compile_model(program).condition({"N": 0, "y": [], "X": []})
    value, gradient = posterior.log_density_gradient(np.array([0.5]))
    assert value == pytest.approx(stats.norm.logpdf(0.5))
    assert gradient == pytest.approx([-0.5])


def test_a_function_outside_a_density_that_leaves_its_domain_is_named():
    posterior = ppl.compile_model(
        "parameters { vector[2] v; } model { v ~ normal(0, 1); target += sum(log(v)); }"
    ).condition({})
    assert "`log` of -1 is nan at [2]" in posterior.explain(np.array([1.0, -1.0]))


def test_the_target_so_far_holds_the_jacobian_of_the_parameters():
    """As Stan's get_lp() does: with u = log(s), its Jacobian, the target is u, and a quarter of it more."""
    posterior = ppl.compile_model(
        """
        functions { void halve_lp() { target += 0.5 * target(); } }
        parameters { real<lower=0> s; }
        model { target += 0.25 * target(); halve_lp(); }
        """
    ).condition({})
    assert posterior.log_density([2.0]) == pytest.approx(1.5 * 1.25 * 2.0)
    assert posterior.log_density_gradient([2.0])[1] == pytest.approx([1.5 * 1.25])
    assert posterior.log_density([2.0], jacobian=False) == 0.0


def test_data_that_go_unused_are_warned_of():
    model = ppl.compile_model("data { int N; } parameters { vector[N] y; } model { y ~ std_normal(); }")
    with pytest.warns(ppl.DataWarning, match="`y` is not used; the program declares it in parameters"):
        model.condition({"N": 2, "y": [1, 2]})
