"""Matrix functions: their defining identities, shapes that are not square, and matrices without an answer."""

import autograd
import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

from ppl.arrays import AUTOGRAD, NUMPY, values_and_grads
from ppl.errors import InferenceError
from ppl.stdlib.functions import covariance_functions, decompositions, quadratic_forms, solves, symmetric
from ppl.stdlib.functions.decompositions import eigenvalues_sym, eigenvectors_sym
from ppl.stdlib.functions.operators import OPERATORS

TOPICS = (covariance_functions, decompositions, quadratic_forms, solves, symmetric)
RECORDS = {f.name: f for topic in TOPICS for f in topic.FUNCTIONS} | OPERATORS

RNG = np.random.default_rng(7)
TALL, WIDE, SQUARE = (RNG.normal(size=s) for s in ((4, 3), (3, 4), (4, 4)))
SPD = SQUARE @ SQUARE.T + np.eye(4)
LOWER = np.tril(SQUARE) + 3.0 * np.eye(4)
V, W = RNG.normal(size=(2, 4))


def call(name, signature, *args, xp=NUMPY):
    found = [o.impl for o in RECORDS[name].overloads if o.signature.startswith(signature)]
    return found[0](xp, *args)


def of(name, *args):
    return RECORDS[name].overloads[-1].impl(NUMPY, *args)


VECTORS = of("eigenvectors_sym", SPD)

IDENTITIES = {
    "cholesky_decompose": (of("cholesky_decompose", SPD), np.linalg.cholesky(SPD)),
    "chol2inv": (of("chol2inv", LOWER), np.linalg.inv(LOWER @ LOWER.T)),
    "inverse_spd": (of("inverse_spd", SPD), np.linalg.inv(SPD)),
    "inverse": (of("inverse", SQUARE) @ SQUARE, np.eye(4)),
    "log_determinant_spd": (of("log_determinant_spd", SPD), np.log(np.linalg.det(SPD))),
    "determinant": (of("determinant", np.diag([2.0, -3.0])), -6.0),
    "log_determinant": (of("log_determinant", np.diag([2.0, -3.0])), np.log(6.0)),
    "mdivide_left_spd": (SPD @ of("mdivide_left_spd", SPD, TALL), TALL),
    "mdivide_right_spd": (of("mdivide_right_spd", WIDE, SPD) @ SPD, WIDE),
    "mdivide_left_tri_low": (LOWER @ of("mdivide_left_tri_low", LOWER + np.triu(SQUARE, 1), TALL), TALL),
    "mdivide_right_tri_low": (of("mdivide_right_tri_low", WIDE, LOWER + np.triu(SQUARE, 1)) @ LOWER, WIDE),
    "\\": (SQUARE @ of("\\", SQUARE, TALL), TALL),
    "/": (of("/", WIDE, SQUARE) @ SQUARE, WIDE),
    "'": (of("'", TALL), TALL.T),
    "generalized_inverse": (of("generalized_inverse", TALL), np.linalg.pinv(TALL)),
    "matrix_exp": (of("matrix_exp", SQUARE), scipy.linalg.expm(SQUARE)),
    "matrix_exp_multiply": (of("matrix_exp_multiply", SQUARE, TALL), scipy.linalg.expm(SQUARE) @ TALL),
    "scale_matrix_exp_multiply": (
        of("scale_matrix_exp_multiply", 0.3, SQUARE, TALL),
        scipy.linalg.expm(0.3 * SQUARE) @ TALL,
    ),
    "matrix_power": (of("matrix_power", SQUARE, 7), np.linalg.matrix_power(SQUARE, 7)),
    "quad_form": (of("quad_form", SPD, TALL), TALL.T @ SPD @ TALL),
    "quad_form_sym": (of("quad_form_sym", SPD, TALL), TALL.T @ SPD @ TALL),
    "quad_form_diag": (of("quad_form_diag", SPD, V), np.diag(V) @ SPD @ np.diag(V)),
    "diag_pre_multiply": (of("diag_pre_multiply", V, TALL), np.diag(V) @ TALL),
    "diag_post_multiply": (of("diag_post_multiply", WIDE, V), WIDE @ np.diag(V)),
    "trace": (of("trace", SQUARE), np.trace(SQUARE)),
    "trace_dot": (of("trace_dot", WIDE, TALL), np.trace(WIDE @ TALL)),
    "trace_quad_form": (of("trace_quad_form", SQUARE, TALL), np.trace(TALL.T @ SQUARE @ TALL)),
    "trace_gen_quad_form": (
        of("trace_gen_quad_form", SPD[:3, :3] + WIDE[:, :3], SQUARE, TALL),
        np.trace((SPD[:3, :3] + WIDE[:, :3]) @ TALL.T @ SQUARE @ TALL),
    ),
    "crossprod": (of("crossprod", TALL), TALL.T @ TALL),
    "tcrossprod": (of("tcrossprod", TALL), TALL @ TALL.T),
    "multiply_lower_tri_self_transpose": (
        of("multiply_lower_tri_self_transpose", SQUARE),
        np.tril(SQUARE) @ np.tril(SQUARE).T,
    ),
    "eigenvalues_sym": (of("eigenvalues_sym", SPD), np.linalg.eigvalsh(SPD)),
    "eigenvectors_sym": (SPD @ VECTORS, VECTORS * np.linalg.eigvalsh(SPD)),
    "singular_values": (of("singular_values", TALL), np.linalg.svd(TALL)[1]),
    "svd_U": (of("svd_U", TALL).T @ of("svd_U", TALL), np.eye(3)),
    "svd_V": (of("svd_V", WIDE).T @ of("svd_V", WIDE), np.eye(3)),
}  # fmt: skip
"""What was computed, and what it must be."""

BELOW = {"eigendecompose_sym", "svd", "qr", "qr_Q", "qr_R", "qr_thin", "qr_thin_Q", "qr_thin_R"} | {
    f.name for f in covariance_functions.FUNCTIONS
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_identity(name):
    found, expected = IDENTITIES[name]
    assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


def test_every_matrix_function_has_an_identity():
    names = {f.name for topic in TOPICS for f in topic.FUNCTIONS}
    assert names <= {*IDENTITIES, *BELOW}


@pytest.mark.parametrize("a", [TALL, WIDE, SQUARE], ids=["tall", "wide", "square"])
@pytest.mark.parametrize("kind", ["qr", "qr_thin"])
def test_qr_gives_back_the_matrix(a, kind):
    q, r = of(kind, a)
    k = min(a.shape)
    assert q.shape == ((4, 4) if kind == "qr" and a is TALL else (a.shape[0], k))
    assert_allclose(q @ r, a, atol=1e-14)
    assert_allclose(q.T @ q, np.eye(q.shape[1]), atol=1e-14)
    assert_allclose(r, np.triu(r))
    assert np.all(np.diagonal(r) >= 0)


@pytest.mark.parametrize("a", [TALL, WIDE], ids=["tall", "wide"])
def test_svd_gives_back_the_matrix(a):
    u, s, v = of("svd", a)
    assert_allclose(u * s @ v.T, a, atol=1e-14)
    assert np.all(np.diff(s) <= 0)


def test_eigendecomposition_gives_back_the_matrix():
    v, w = of("eigendecompose_sym", SPD)
    assert_allclose(v * w @ v.T, SPD, atol=1e-13)


@pytest.mark.parametrize("a", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize(
    "name", ["qr_Q", "qr_R", "qr_thin_Q", "qr_thin_R", "svd_U", "svd_V", "generalized_inverse"]
)
def test_gradients_off_the_square(name, a):
    def total(x, xp):
        result = call(name, "(matrix)", x, xp=xp)
        return AUTOGRAD.np.sum(result * np.cos(np.arange(result.size)).reshape(result.shape))

    found = autograd.grad(lambda x: total(x, AUTOGRAD))(a)
    for i in np.ndindex(a.shape):
        step = np.zeros(a.shape)
        step[i] = 1e-5
        expected = (total(a + step, NUMPY) - total(a - step, NUMPY)) / 2e-5
        assert_allclose(found[i], expected, rtol=1e-6, atol=1e-7)


NOT_POSITIVE = np.diag([1.0, -1.0])
NOT_SYMMETRIC = np.array([[2.0, 1.0], [0.5, 2.0]])
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])


@pytest.mark.parametrize("name", ["cholesky_decompose", "inverse_spd", "log_determinant_spd"])
@pytest.mark.parametrize("bad", [NOT_POSITIVE, NOT_SYMMETRIC], ids=["not positive", "not symmetric"])
def test_no_factor_is_nan(name, bad):
    assert np.any(np.isnan(of(name, bad)))


@pytest.mark.parametrize(
    "found",
    [
        of("inverse", SINGULAR),
        of("\\", SINGULAR, np.eye(2)),
        of("/", np.eye(2), SINGULAR),
        of("mdivide_left_tri_low", np.zeros((2, 2)), np.eye(2)),
        of("eigenvalues_sym", NOT_SYMMETRIC),
        of("singular_values", np.full((2, 3), np.nan)),
        of("qr_thin_Q", np.full((2, 2), np.inf)),
        of("matrix_exp", np.full((2, 2), np.nan)),
        of("matrix_exp", np.stack([SQUARE, np.full((4, 4), np.inf)]))[1],
        of("chol2inv", LOWER + np.triu(1e-9 * np.ones((4, 4)), 1)),  # a factor that is not one, as in Stan
    ],
)
def test_no_answer_is_nan(found):
    assert np.all(np.isnan(found))


def test_one_bad_matrix_of_a_batch_spoils_no_other():
    factors = of("cholesky_decompose", np.stack([np.eye(2), NOT_POSITIVE, 4.0 * np.eye(2)]))
    assert_allclose(factors[[0, 2]], [np.eye(2), 2.0 * np.eye(2)])
    assert np.all(np.isnan(factors[1]))


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_the_adjoint_of_the_matrix_exponential_is_linear(scale):
    """As in a model of log concentrations, which hands back reciprocals of what is almost eliminated."""
    a = np.array([[-24.0, 0.0, 0.0], [24.0, -120_000.0, 1.2], [0.0, 4.8, -1.2]])
    weights = np.array([[1.0, -0.5, 0.2], [0.4, 2.0, 0.1], [-1.0, 0.3, 0.6]])
    slope = autograd.grad(lambda a, by: AUTOGRAD.np.sum(by * solves.matrix_exp(AUTOGRAD, a)))
    assert_allclose(slope(a, scale * weights), scale * slope(a, weights), rtol=1e-12)


def test_negative_matrix_power_is_refused():
    with pytest.raises(InferenceError, match="power is -1"):
        of("matrix_power", SQUARE, -1)


def test_empty_matrices():
    assert of("cholesky_decompose", np.zeros((0, 0))).shape == (0, 0)
    assert of("*", np.zeros((2, 0)), np.zeros((0, 3))).tolist() == [[0.0] * 3] * 2


X, Y = RNG.normal(size=(5, 2)), RNG.normal(size=(3, 2))
DISTANCE = np.sqrt(((X[:, None] - Y[None]) ** 2).sum(-1))
SIGMA, LENGTH, PERIOD = 1.3, 0.7, 2.1
R = DISTANCE / LENGTH

KERNELS = {
    "gp_exp_quad_cov": np.exp(-0.5 * R**2),
    "gp_exponential_cov": np.exp(-R),
    "gp_matern32_cov": (1 + np.sqrt(3) * R) * np.exp(-np.sqrt(3) * R),
    "gp_matern52_cov": (1 + np.sqrt(5) * R + 5 / 3 * R**2) * np.exp(-np.sqrt(5) * R),
}


@pytest.mark.parametrize("name", KERNELS)
def test_stationary_covariances(name):
    cross = call(name, "(array[] vector, array[] vector, real, real)", X, Y, SIGMA, LENGTH)
    assert_allclose(cross, SIGMA**2 * KERNELS[name], rtol=1e-14)
    scales = np.array([0.5, 2.0])
    stretched = call(name, "(array[] vector, array[] vector, real, array[] real)", X, Y, SIGMA, scales)
    assert_allclose(
        stretched,
        call(name, "(array[] vector, array[] vector, real, real)", X / scales, Y / scales, SIGMA, 1.0),
    )
    single = call(name, "(array[] real, real, real)", X[:, 0], SIGMA, LENGTH)
    assert_allclose(np.diagonal(single), SIGMA**2)
    assert_allclose(single, call(name, "(array[] vector, real, real)", X[:, :1], SIGMA, LENGTH))


def test_periodic_and_dot_product_covariances():
    waves = np.sin(np.pi * DISTANCE / PERIOD) ** 2
    periodic = call("gp_periodic_cov", "(array[] vector, array[] vector", X, Y, SIGMA, LENGTH, PERIOD)
    assert_allclose(periodic, SIGMA**2 * np.exp(-2 * waves / LENGTH**2))
    assert_allclose(
        call("gp_dot_prod_cov", "(array[] vector, array[] vector", X, Y, SIGMA), SIGMA**2 + X @ Y.T
    )


def test_covariances_of_large_coordinates_keep_their_digits():
    near = call("gp_exp_quad_cov", "(array[] real, real, real)", 1e8 + np.array([0.0, 1.0]), 1.0, 1.0)
    assert_allclose(near[0, 1], np.exp(-0.5), rtol=1e-15)


@pytest.mark.parametrize("gap", [1e-2, 1e-8, 1e-12, 1e-15, 0.0])
def test_nearly_equal_eigenvalues_leave_the_derivatives_of_others_exact(gap: float) -> None:
    """The sum of W times V diag(exp(v)) V' of 15 x 15, whose derivative has the divided differences of exp
    (Daleckii and Krein); those of six eigenvalues at a gap have an error of some eps / gap, and no others.
    """
    rng = np.random.default_rng(0)
    v, w = np.linalg.qr(rng.normal(size=(15, 15)))[0], rng.normal(size=(15, 15))
    values = np.concatenate([1 + gap * np.arange(6), np.linspace(2, 4, 9)])

    def smooth(xs):
        vectors, found = eigenvectors_sym(AUTOGRAD, xs[0]), eigenvalues_sym(AUTOGRAD, xs[0])
        exp = AUTOGRAD.np.matmul(vectors * AUTOGRAD.np.exp(found), AUTOGRAD.np.transpose(vectors))
        return AUTOGRAD.np.sum((w + w.T) * exp)

    a = v * values @ v.T
    _, (gradient,) = values_and_grads(smooth, [0.5 * (a + a.T)])
    gaps = values - values[:, None]
    divided = np.exp(values)[:, None] * np.where(gaps == 0, 1, np.expm1(gaps) / np.where(gaps == 0, 1, gaps))
    wrong = np.abs(v.T @ gradient @ v - v.T @ (w + w.T) @ v * divided)
    of_cluster = np.max(wrong[:6, :6])
    wrong[:6, :6] = 0
    assert np.max(wrong) < 1e-11
    assert gap < 1e-13 or of_cluster < 100 * np.finfo(float).eps / gap
