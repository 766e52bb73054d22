"""Constraints of transformed parameters in compiled code, held to the checks of the library."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

jax = pytest.importorskip("jax")

import ppl  # noqa: E402
from ppl.arrays import NUMPY  # noqa: E402
from ppl.jax_backend.namespace import JAX  # noqa: E402
from ppl.jax_backend.target import compiled_target  # noqa: E402
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD, CONSTRAINTS  # noqa: E402

BOUNDS = {"lower": (-0.5,), "upper": (0.5,), "lower_upper": (-0.5, 0.5), "offset_multiplier": (1.0, 2.0)}
SHAPES = {"identity": (), "complex": (), "lower": (), "upper": (), "lower_upper": (), "offset_multiplier": ()}
MATRICES = ("matrix", "cov", "corr")


def compiled(keyword: str):
    return jax.jit(lambda *args: jax.numpy.all(CONSTRAINT_BY_KEYWORD[keyword].contains(JAX, *args)))


def shape_of(keyword: str) -> tuple[int, ...]:
    return SHAPES.get(keyword, (3, 3) if any(word in keyword for word in MATRICES) else (3,))


def spoilt(x: np.ndarray, rng: np.random.Generator):
    """x, and x with one number changed, a little, much, to nan, to 0, or with the sign turned."""
    yield x
    for change in (
        lambda v: v + 1e-9,
        lambda v: v + 1e-7,
        lambda v: v + 3.0,
        lambda v: -v,
        lambda v: 0.0 * v,
    ):
        other = np.array(x)
        at = tuple(rng.integers(n) for n in other.shape)
        other[at] = change(other[at])
        yield other
    other = np.array(x)
    other[tuple(0 for _ in other.shape)] = np.nan
    yield other


@pytest.mark.rotate
@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=lambda c: c.keyword)
@pytest.mark.parametrize("lead", [(), (2,)])
def test_a_verdict_is_that_of_the_check(constraint, lead) -> None:
    """Law over the table."""
    rng = np.random.default_rng(2)
    shape, bounds = shape_of(constraint.keyword), BOUNDS.get(constraint.keyword, ())
    verdict = compiled(constraint.keyword)
    found = set()
    for _ in range(6):
        u = rng.normal(size=(*lead, *constraint.free_shape(shape)))
        valid = np.asarray(constraint.constrain(NUMPY, u, shape, *bounds)[0])
        for x in spoilt(valid, rng):
            kept = constraint.check(x, shape, *bounds) is None
            with jax.enable_x64(True):
                assert bool(verdict(x, *bounds)) == kept, x
            found.add(kept)
    assert found == (
        {True} if constraint.keyword in ("identity", "complex", "offset_multiplier") else {True, False}
    )


def test_an_offset_and_a_multiplier_are_at_fault_themselves() -> None:
    verdict = compiled("offset_multiplier")
    assert verdict(1.0) and verdict(1.0, 2.0, 3.0)
    assert not verdict(1.0, np.inf, 3.0)
    assert not verdict(1.0, 2.0, 0.0) and not verdict(1.0, 2.0, np.inf) and not verdict(1.0, 2.0, np.nan)


def test_a_matrix_that_is_symmetric_only() -> None:
    with jax.enable_x64(True):
        assert not compiled("cov_matrix")(np.array([[1.0, 2.0], [2.0, 1.0]]))
        assert not compiled("corr_matrix")(np.array([[1.0, 0.5], [0.5, 1.1]]))


RESCALED = """
parameters { cov_matrix[2] Sigma; real shift; }
transformed parameters {
  corr_matrix[2] Rho = quad_form_diag(Sigma, inv_sqrt(diagonal(Sigma)));
  Rho[1, 2] += shift;
  Rho[2, 1] += shift;
}
model { Sigma ~ inv_wishart(4, identity_matrix(2)); shift ~ normal(Rho[1, 2], 1); }
"""


def test_a_transformed_correlation_matrix_stays_in_compiled_code() -> None:
    posterior = ppl.compile_model(RESCALED).condition({})
    target = compiled_target(posterior)
    u = np.array([0.1, 0.4, -0.2, 0.1])
    value, gradient = target.log_density_gradient(u)
    expected = posterior.log_density_gradient(u)
    assert_allclose([value, *gradient], [expected[0], *expected[1]], rtol=1e-12)
    u[3] = 1.0
    assert target.log_density(u) == posterior.log_density(u) == -np.inf
    with jax.enable_x64(True):
        code = target.density.gradient.lower(target.shape, True, target.arguments, u)
    assert "callback" not in code.as_text()
