"""A user's distribution, functions and constraint, from Python alone, in programs from end to end."""

import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose

import ppl
from ppl.extend import (
    Array,
    Constraint,
    Distribution,
    Namespace,
    function,
    guarded,
    library,
    supported,
    unary,
    with_partials,
)


def log_kumaraswamy(xp: Namespace, y: Array, a: Array, b: Array) -> Array:
    """log(a b y^(a-1) (1 - y^a)^(b-1)); Kumaraswamy 1980."""
    inside = (y > 0) & (y < 1)
    z = xp.np.where(inside, y, 0.5)
    log_density = xp.np.log(a) + xp.np.log(b) + (a - 1) * xp.np.log(z) + (b - 1) * xp.np.log1p(-(z**a))
    return guarded(xp, (a > 0) & (b > 0), supported(xp, inside, log_density))


def kumaraswamy_cdf(xp: Namespace, y: Array, a: Array, b: Array) -> Array:
    return guarded(xp, (a > 0) & (b > 0), 1.0 - (1.0 - xp.np.clip(y, 0.0, 1.0) ** a) ** b)


def kumaraswamy_rng(rng: np.random.Generator, a: Array, b: Array) -> Array:
    u = rng.uniform(size=np.broadcast_shapes(np.shape(a), np.shape(b)))
    return (1.0 - u ** (1.0 / np.asarray(b))) ** (1.0 / np.asarray(a))


KUMARASWAMY = Distribution(
    name="kumaraswamy",
    meaning="Kumaraswamy with shapes a and b",
    signatures=("reals | reals, reals",),
    args=(("y", "open_unit"), ("a", "positive"), ("b", "positive")),
    log_density=log_kumaraswamy,
    cdfs=(kumaraswamy_cdf, None, None),
    rng=kumaraswamy_rng,
    constants=((("b",), lambda xp, b: xp.np.log(b)),),
)


@with_partials(lambda xp, ans, x: 1.0 - ans * ans)
def squash(xp: Namespace, x: Array) -> Array:
    return xp.np.tanh(x)


SQUASH = unary("squash", "a real in (-1, 1)", squash)
ENERGY = function(
    "energy", "half the sum of squares", ("(vector) => real", lambda xp, x: 0.5 * xp.np.sum(x * x, axis=-1)),
    batch="leading",
)  # fmt: skip


def decreasing(xp: Namespace, u: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """x_1 = u_1, x_k = x_{k-1} - exp(u_k); the log-Jacobian is the sum of u_2, ..., u_K."""
    steps = xp.np.concatenate([u[..., :1], -xp.np.exp(u[..., 1:])], axis=-1)
    return xp.np.cumsum(steps, axis=-1), u[..., 1:]


def not_decreasing(x: Array, shape: tuple[int, ...]) -> str | None:
    return None if np.all(np.diff(x, axis=-1) < 0) else "is not decreasing"


DECREASING = Constraint(
    keyword="decreasing",
    meaning="decreasing vectors",
    free_shape=lambda shape: shape,
    constrain=decreasing,
    unconstrain=lambda x, shape: np.concatenate([x[..., :1], np.log(-np.diff(x, axis=-1))], axis=-1),
    check=not_decreasing,
    value="vector",
)
ABOVE = Constraint(
    keyword="above",
    meaning="numbers above a bound",
    arguments=("bound",),
    free_shape=lambda shape: shape,
    constrain=lambda xp, u, shape, bound: (bound + xp.np.exp(u), u),
    unconstrain=lambda x, shape, bound: np.log(x - bound),
    check=lambda x, shape, bound: None if np.all(x > bound) else "is not above its bound",
    value="real",
)
LIBRARY = library(distributions=[KUMARASWAMY], functions=[SQUASH, ENERGY], constraints=[DECREASING, ABOVE])

SHAPES = """
    data { int N; vector[N] y; }
    parameters { real<lower=0> a; real<lower=0> b; }
    model { a ~ exponential(0.1); b ~ exponential(0.1); y ~ kumaraswamy(a, b); }
    generated quantities { real again = kumaraswamy_rng(a, b); real below = kumaraswamy_cdf(0.5 | a, b); }"""


@pytest.fixture(scope="module")
def shapes():
    y = kumaraswamy_rng(np.random.default_rng(1), np.full(400, 2.0), 5.0)
    return ppl.compile_model(SHAPES, library=LIBRARY).condition({"N": 400, "y": y}), y


def formula(y, u):
    a, b = np.exp(u)
    priors = 2 * np.log(0.1) - 0.1 * (a + b)
    terms = np.log(a * b) + (a - 1) * np.log(y) + (b - 1) * np.log1p(-(y**a))
    return priors + np.sum(terms) + np.sum(u)


def test_density_and_gradient_are_the_formula(shapes):
    posterior, y = shapes
    u = np.array([0.5, 1.2])
    value, gradient = posterior.log_density_gradient(u)
    assert_allclose(value, formula(y, u), rtol=1e-12)
    step = 1e-5 * np.eye(2)
    assert_allclose(gradient, [(formula(y, u + h) - formula(y, u - h)) / 2e-5 for h in step], rtol=1e-6)
    assert_allclose(posterior.log_densities(np.array([u, 2 * u])), [formula(y, u), formula(y, 2 * u)])
    points = np.array([u, 0.5 * u])
    values, gradients = posterior.log_density_gradients(points)
    assert_allclose(values, [formula(y, p) for p in points])
    assert_allclose(gradients[0], gradient)


def test_propto_drops_the_constants_of_the_record():
    model = ppl.compile_model(
        "parameters { real<lower=0> a; } model { 0.3 ~ kumaraswamy(a, 5); }", library=LIBRARY
    )
    posterior, u = model.condition({}), np.array([0.2])
    dropped = posterior.log_density(u) - posterior.log_density(u, propto=True)
    assert_allclose(dropped, np.log(5.0))


def test_a_fit_finds_the_shapes_and_draws_from_them(shapes):
    posterior, _ = shapes
    fit = posterior.variational(seed=1)
    a, b = fit.stan_variable("a"), fit.stan_variable("b")
    assert abs(a.mean() - 2.0) < 4 * a.std() and abs(b.mean() - 5.0) < 4 * b.std()
    assert_allclose(fit.stan_variable("below"), 1 - (1 - 0.5**a) ** b)
    again = fit.stan_variable("again")
    assert scipy.stats.kstest(1 - (1 - again**a) ** b, "uniform").pvalue > 1e-3
    assert_allclose(posterior.variational(seed=1).draws(), fit.draws())


def test_a_fit_is_read_back_with_the_model(shapes, tmp_path):
    posterior, y = shapes
    fit = posterior.variational(algorithm="meanfield", seed=1, draws=10)
    fit.save(tmp_path / "fit.json")
    again = ppl.load_fit(tmp_path / "fit.json", posterior.model, {"N": 400, "y": y})
    assert_allclose(again.draws(), fit.draws())


def test_a_draw_out_of_the_domain_is_refused_by_the_support():
    program = "generated quantities { real x = kumaraswamy_rng(-1, 2); }"
    posterior = ppl.compile_model(program, library=LIBRARY).condition({})
    with pytest.raises(ppl.PPLError, match="`kumaraswamy_rng`: a is -1, but must be positive"):
        posterior.param_constrain(np.empty(0), include_gq=True, rng=np.random.default_rng(1))


FUNCTIONS = """
    data { int N; vector[N] t; vector[N] y; }
    parameters { vector[N] z; real s; }
    model {
      for (n in 1:N) y[n] ~ normal(squash(s * t[n] + z[n]), 1);
      target += -energy(z) - 0.5 * s ^ 2;
    }
    generated quantities { vector[N] m = squash(z); }"""


@pytest.fixture(scope="module")
def regression():
    t = np.array([-1.0, 0.3, 2.0])
    model = ppl.compile_model(FUNCTIONS, library=LIBRARY)
    return model.condition({"N": 3, "t": t, "y": np.array([0.1, 0.4, 0.9])}), t, np.array([0.1, 0.4, 0.9])


def regression_formula(t, y, u):
    z, s = u[:3], u[3]
    return np.sum(scipy.stats.norm.logpdf(y, np.tanh(s * t + z))) - 0.5 * np.sum(u**2)


def test_functions_in_a_loop_and_over_many_points(regression):
    posterior, t, y = regression
    us = np.random.default_rng(2).normal(size=(5, 4))
    expected = [regression_formula(t, y, u) for u in us]
    values, gradients = posterior.log_density_gradients(us)
    assert_allclose(values, expected, rtol=1e-12)
    assert_allclose(posterior.log_densities(us), expected, rtol=1e-12)
    steps = 1e-5 * np.eye(4)
    slopes = [
        (regression_formula(t, y, us[0] + h) - regression_formula(t, y, us[0] - h)) / 2e-5 for h in steps
    ]
    assert_allclose(gradients[0], slopes, rtol=1e-6, atol=1e-8)


CUTS = """
    parameters { vector[3] u; real v; }
    transformed parameters {
      vector[3] x = decreasing_jacobian(u, 3);
      real w = above_jacobian(v, x[1]);
    }
    model { x ~ normal(0, 2); w ~ normal(1, 3); }"""


def cuts_formula(p):
    u, v = p[:3], p[3]
    x = np.cumsum([u[0], *-np.exp(u[1:])])
    w = x[0] + np.exp(v)
    return np.sum(scipy.stats.norm.logpdf(x, 0, 2)) + scipy.stats.norm.logpdf(w, 1, 3) + u[1] + u[2] + v


@pytest.mark.rotate
def test_a_constraint_is_a_function_that_adds_its_jacobian():
    posterior = ppl.compile_model(CUTS, library=LIBRARY).condition({})
    us = np.random.default_rng(3).normal(size=(4, 4))
    values, gradients = posterior.log_density_gradients(us)
    assert_allclose(values, [cuts_formula(u) for u in us])
    steps = 1e-5 * np.eye(4)
    assert_allclose(gradients[0], [(cuts_formula(us[0] + h) - cuts_formula(us[0] - h)) / 2e-5 for h in steps],
                    rtol=1e-6, atol=1e-8)  # fmt: skip
    x = posterior.variational(algorithm="meanfield", seed=1, draws=50).stan_variable("x")
    assert np.all(np.diff(x, axis=1) < 0)


def test_a_wrong_number_of_free_elements_is_named():
    program = (
        "parameters { vector[3] u; } transformed parameters { vector[2] x = decreasing_jacobian(u, 2); }"
    )
    posterior = ppl.compile_model(program, library=LIBRARY).condition({})
    with pytest.raises(ppl.PPLError, match="A decreasing of size 2 is made of 2 free elements, but got 3"):
        posterior.log_density_gradient(np.zeros(3))


@pytest.mark.rotate
def test_all_of_it_under_jax(shapes, regression):
    pytest.importorskip("jax")
    posterior, _ = shapes
    fit = posterior.variational(algorithm="meanfield", seed=1, backend="jax", draws=20)
    plain = posterior.variational(algorithm="meanfield", seed=1, backend="autograd", draws=20)
    assert_allclose(fit.draws(), plain.draws(), rtol=1e-6)
    posterior = ppl.compile_model(CUTS, library=LIBRARY).condition({})
    for p in (regression[0], posterior):
        fit = p.variational(algorithm="meanfield", seed=1, backend="jax", draws=20)
        plain = p.variational(algorithm="meanfield", seed=1, backend="autograd", draws=20)
        assert_allclose(fit.draws(), plain.draws(), rtol=1e-5, atol=1e-8)


def test_without_the_library_a_program_does_not_know_the_words():
    with pytest.raises(ppl.ModelError, match="kumaraswamy"):
        ppl.compile_model(SHAPES)
    with pytest.raises(ppl.ModelError, match="squash"):
        ppl.compile_model(FUNCTIONS, library=library())


def test_messages_know_the_words_of_the_library():
    with pytest.raises(ppl.ModelError) as error:
        ppl.compile_model("parameters { real x; } model { x ~ kumaraswami(1, 2); }", library=LIBRARY)
    assert "kumaraswamy" in str(error.value)
    with pytest.raises(ppl.ModelError) as error:
        ppl.compile_model("parameters { real x; } model { x ~ kumaraswamy(1); }", library=LIBRARY)
    assert "2 arguments, not 1" in str(error.value)


def changed(**fields):
    return Distribution(**{f: getattr(KUMARASWAMY, f) for f in KUMARASWAMY.__dataclass_fields__} | fields)


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ({"distributions": [changed(name="normal")]}, "`normal_lpdf` is in the library already"),
        ({"distributions": [KUMARASWAMY, KUMARASWAMY]}, "`kumaraswamy_lpdf` is in the library already"),
        ({"functions": [unary("exp", "", squash)]}, "`exp` is in the library already"),
        ({"functions": [unary("int_divide", "", squash)]}, "`int_divide` is in the library already"),
        ({"functions": [unary("my_lpdf", "", squash)]}, "ends in _lpdf"),
        ({"functions": [unary("2x", "", squash)]}, "'2x' is not a valid name of a function"),
        ({"functions": [unary("x__", "", squash)]}, "'x__' is not a valid name of a function"),
        ({"functions": [function("f", "", ("(vektor) => real", squash))]}, "is not a signature"),
        ({"functions": [function("f", "", ("(vector) real", squash))]}, "is not a signature"),
        ({"functions": [function("f", "")]}, "has no overload"),
        ({"distributions": [changed(args=(("y", "unit"), ("a", "positive"), ("b", "positive")))]}, "'unit'"),
        ({"distributions": [changed(signatures=("reals | reals",))]}, "is of 2 arguments, not 3"),
        ({"distributions": [changed(signatures=("reals, reals, reals",))]}, "variate | parameters"),
        ({"distributions": [changed(signatures=())]}, "has no signature"),
        ({"constraints": [Constraint("c", "", tuple, squash, squash, squash)]}, "must say its `value`"),
        (
            {"constraints": [Constraint("c", "", tuple, squash, squash, squash, ("b",), value="vector")]},
            "only one of reals may have arguments",
        ),
    ],
)  # fmt: skip
def test_what_a_library_refuses(records, message):
    with pytest.raises(ValueError) as error:
        library(**records)
    assert message in str(error.value)


@pytest.mark.parametrize("name", ["reduce_sum", "ode_rk45", "target", "dae", "array", "real", "print"])
def test_words_of_the_language_are_kept(name):
    with pytest.raises(ValueError, match=f"'{name}' cannot name a function"):
        ppl.compile_model("model { }", library=library(functions=[unary(name, "", squash)]))


def test_a_library_leaves_the_standard_one_as_it_was():
    before = set(library().callees)
    library(functions=[SQUASH])
    assert set(library().callees) == before


def test_a_program_with_discrete_parameters_calls_them_too() -> None:
    cube = unary("cube", "x cubed", lambda xp, x: x * x * x)
    program = """
      parameters { real x; int<lower=0, upper=1> z; }
      model { x ~ normal(0, 1); z ~ bernoulli_logit(cube(x)); target += normal_lpdf(1 | z * cube(x), 1); }
    """
    posterior = ppl.compile_model(program, library=library(functions=[cube])).condition()
    x, normal = 0.7, scipy.stats.norm.logpdf
    p = 1 / (1 + np.exp(-(x**3)))
    expected = normal(x) + np.log(p * np.exp(normal(1, x**3)) + (1 - p) * np.exp(normal(1, 0)))
    assert posterior.log_density(np.array([x])) == pytest.approx(expected, rel=1e-12)
