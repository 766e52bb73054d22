"""Arguments that Stan's functions refuse by the checks in its headers: the log density is nan there.

Each function is called in a program, wrapped in atan, so that an infinite value of it is no refusal.
"""

import numpy as np
import pytest
from laws.every import every

import ppl
from ppl.errors import PPLError

INF, NAN = np.inf, np.nan
NOT_POSITIVE, NOT_FINITE = (0.0, -1.0, NAN), (0.0, -1.0, INF, NAN)

POINTS, OTHERS = "{0.1, 0.5, 1.2}", "{0.3, 0.9}"
VECTORS, OTHER_VECTORS = "{[0.1, 0.3]', [0.5, 0.2]', [1.2, -0.4]'}", "{[0.3, 0.9]', [0.2, 0.1]'}"
HMM = "hmm_marginal([[-0.1, -0.3], [-0.8, -0.2]], [[{}, 0.7], [0.4, 0.6]], [{}, 0.5]')"
STATES = "hmm_hidden_state_prob([[-0.1, -0.3], [-0.8, -0.2]], [[{}, 0.7], [0.4, 0.6]], [{}, 0.5]')[1, 2]"

STATIONARY = [
    (f"gp_{kind}_cov({points}, {arguments})[1, 2]", (0.7,), bad)
    for kind in ("exp_quad", "exponential", "matern32", "matern52")
    for points, arguments, bad in [
        *[
            (points, arguments, NOT_POSITIVE if kind == "exp_quad" else NOT_FINITE)
            for points in (POINTS, f"{POINTS}, {OTHERS}", VECTORS, f"{VECTORS}, {OTHER_VECTORS}")
            for arguments in ("x, 0.8", "1.1, x")
        ],
        *[
            (points, arguments, NOT_FINITE)
            for points in (VECTORS, f"{VECTORS}, {OTHER_VECTORS}")
            for arguments in ("x, {0.8, 0.4}", "1.1, {0.8, x}")
        ],
    ]
]
PERIODIC = [
    (f"gp_periodic_cov({points}, {arguments})[1, 2]", (0.7,), NOT_POSITIVE)
    for points in (POINTS, f"{POINTS}, {OTHERS}", VECTORS, f"{VECTORS}, {OTHER_VECTORS}")
    for arguments in ("x, 0.8, 2.0", "1.1, x, 2.0", "1.1, 0.8, x")
]
DOT_PRODUCT = [
    (f"gp_dot_prod_cov({points}, x)[1, 2]", (0.0, 0.7), (-1.0, INF, NAN))
    for points in (POINTS, f"{POINTS}, {OTHERS}", VECTORS, f"{VECTORS}, {OTHER_VECTORS}")
]
MODELS = [
    (HMM.format("x", "0.5"), (0.3, 0.3 + 1e-9), (0.31, -0.3, NAN)),
    (HMM.format("0.3", "x"), (0.5, 0.5 + 1e-9), (0.51, -0.5, NAN)),
    ("hmm_marginal([[-0.1], [-0.8]], [[x, 0.7], [0.4, 0.6]], [0.5, 0.5]')", (0.3,), (0.31,)),
    ("log_mix([x, 0.7]', [-1, -2]')", (0.0, 0.3, 0.9, 1.0), (1.1, -0.1, NAN)),
    ("log_mix([0.3, 0.7]', [x, -2]')", (-1.0, -800.0), (-INF, INF, NAN)),
    ("log_mix([0.3, 0.6, 0.1], {x, -2, -1})", (-1.0,), (-INF, INF, NAN)),
    ("log_mix({0.3, 0.7}, {[x, -2]', [-1, -2]'})", (-1.0,), (-INF, INF, NAN)),
    ("log_mix(x, -1, -2)", (0.0, 0.3, 1.0), (1.1, -0.1, NAN)),
    ("log_mix(0.3, x, -2)", (-1.0, -INF), (NAN,)),
]
SCALARS = [
    *[(f"bessel_second_kind({v}, x)", (0.5,), (0.0, -1.0)) for v in (-1, 0, 2)],
    *[(f"modified_bessel_second_kind({v}, x)", (0.5,), (0.0, -1.0)) for v in (-1, 0, 2)],
    ("log_modified_bessel_first_kind(x, 0.5)", (-0.5, 0.0, 2.5), (-1.1, -2.0, -2.5)),
    ("log_modified_bessel_first_kind(1.5, x)", (0.0, 0.5), (-0.5, -1.0)),
    ("rising_factorial(x, -1)", (), (2.5, -2.5)),
    ("falling_factorial(x, -1)", (), (2.5, -2.5)),
    ("rising_factorial(x, 0)", (2.5, -2.5), (NAN,)),
    ("falling_factorial(x, 0)", (2.5, -2.5), (NAN,)),
    ("gamma_p(x, 0.5)", (0.3,), (0.0, -1.0)),
    ("gamma_q(x, 0.5)", (0.3,), (0.0, -1.0)),
    ("tgamma(x)", (0.5, -0.5), (0.0, -1.0, -2.0)),
    ("beta(x, 1)", (0.5,), (-1.0, -2.0)),
    ("inv_erfc(x)", (1e-9, 1.0), (0.0, 2.0, -0.1, 2.1)),
    ("lmultiply(0.0, x)", (0.0, 2.0), (-1.0,)),
    ("inv_inc_beta(x, 2, 0.4)", (0.5,), (0.0, -1.0)),
    ("acosh(x)", (1.0,), (0.9,)),
    ("atanh(x)", (1.0,), (1.1,)),
    ("log1m(x)", (1.0,), (1.1,)),
    ("inv_Phi(x)", (0.0, 1.0), (-0.1, 1.1)),
    ("lbeta(x, 1)", (0.5,), (-0.5,)),
    ("lchoose(x, 1)", (2.5,), (-1.5,)),
    ("log_rising_factorial(x, 1)", (2.5,), (0.0, -1.5)),
    ("lower_upper_bound_constrain(0.4, 0, x)", (0.1,), (0.0, -0.1)),
    ("offset_multiplier_constrain(0.4, 0, x)", (0.1,), (0.0, -0.1, INF)),
    ("offset_multiplier_unconstrain(0.4, 0, x)", (0.1,), (0.0, -0.1, INF)),
    ("lower_bound_unconstrain(x, 1)", (1.1,), (0.9,)),
]
CONTAINERS = [
    ("cholesky_decompose([[2, x], [0.3, 1]])[1, 1]", (0.3,), (0.31, NAN)),
    ("chol2inv([[2, x], [0.3, 1]])[1, 1]", (0.0,), (0.31, NAN)),
    ("quad_form_sym([[2, x], [0.3, 1]], [1, 2]')", (0.3,), (0.31, NAN)),
    ("eigenvalues_sym([[2, x], [0.3, 1]])[1]", (0.3,), (0.31, NAN)),
    ("mdivide_left_spd([[2, x], [0.3, 1]], [1, 2]')[1]", (0.3,), (0.31, NAN)),
    ("log_determinant_spd([[2, 0.3], [0.3, x]])", (1.0,), (-1.0, NAN)),
    ("matrix_power([[2, 0.3], [0.3, x]], 0)[1, 1]", (1.0,), (INF, NAN)),
    ("sort_asc([x, 1]')[1]", (2.0, INF), (NAN,)),
    ("sort_desc({x, 1})[1]", (2.0, INF), (NAN,)),
    ("ordered_unconstrain([x, 1, 2]')[3]", (0.3,), (1.0, 1.1)),
    ("positive_ordered_unconstrain([x, 1, 2]')[3]", (0.3,), (-0.3, 1.1)),
    ("simplex_unconstrain([x, 0.7]')[1]", (0.3,), (0.31, -0.3)),
    ("unit_vector_unconstrain([x, 0.8]')[1]", (0.6, -0.6), (0.61,)),
    ("sum_to_zero_unconstrain([x, 0.8]')[1]", (-0.8,), (-0.81,)),
    ("sum_to_zero_unconstrain([[x, 0.8], [0.8, -0.8]])[1, 1]", (-0.8,), (-0.81,)),
    ("stochastic_row_unconstrain([[x, 0.8], [0.4, 0.6]])[1, 1]", (0.2,), (0.21,)),
    ("stochastic_column_unconstrain([[x, 0.4], [0.8, 0.6]])[1, 1]", (0.2,), (0.21,)),
    ("corr_matrix_unconstrain([[x, 0.4], [0.4, 1]])[1]", (1.0,), (1.1, -1.0)),
    ("cov_matrix_unconstrain([[x, 0.4], [0.4, 1]])[1]", (1.1,), (-1.0,)),
    ("cholesky_factor_cov_unconstrain([[2, x], [0.3, 1]])[1]", (0.0,), (0.1,)),
    ("cholesky_factor_cov_unconstrain([[2, 0], [0.3, x]])[1]", (1.0,), (0.0, -1.0)),
]
OF_DATA = [
    (STATES.format("x", "0.5"), (0.3,), (0.31, NAN)),
    (STATES.format("0.3", "x"), (0.5,), (0.51, NAN)),
    ("quantile([x, 1, 2]', 0.1)", (0.3,), (NAN,)),
    ("quantile([3, 1, 2]', x)", (0.0, 0.3, 1.0), (-0.1, 1.1, NAN)),
]
TABLE = [*STATIONARY, *PERIODIC, *DOT_PRODUCT, *MODELS, *SCALARS, *CONTAINERS]


NOTHING = [
    "mean(rep_vector(x, 0))",
    "variance(rep_vector(x, 0))",
    "sd(rep_vector(x, 0))",
    "quantile(rep_vector(1, 0), 0.5)",
    "sum(log_softmax(rep_vector(x, 0)))",
    "max(rep_array(1, 0))",
    "min(rep_array(1, 0))",
]
BAD_INTS_AND_DATA = [
    ("linspaced_vector(3, 2, 1)[1]", "the upper one must not be below"),
    ("linspaced_array(3, 0, positive_infinity())[1]", "must be finite"),
    ("to_int(3e9)", "no int from"),
    ("to_int(not_a_number())", "no int from"),
    ("csr_to_dense_matrix(1, 2, [x, x]', {1, 1}, {2, 3})[1, 1]", "begin with 1"),
    ("csr_to_dense_matrix(2, 2, [x]', {1}, {1, 3, 2})[1, 1]", "never fall"),
    ("size(csr_to_dense_matrix(0, 2, rep_vector(x, 0), rep_array(1, 0), {1}))", "a row and a column"),
]


def posterior_of(call):
    program = f"parameters {{ real x; }} model {{ target += atan({call}); }}"
    return ppl.compile_model(program).condition({})


@pytest.mark.rotate
@every("call, taken, refused", TABLE)
def test_stan_takes_and_refuses(call, taken, refused):
    """Alone, with its gradient, and many points at once, where one that is refused spoils no other."""
    posterior = posterior_of(call)
    us = np.array([*taken, *refused])[:, None]
    alone = [posterior.log_density(u) for u in us]
    np.testing.assert_array_equal(np.isfinite(alone), [True] * len(taken) + [False] * len(refused))
    together, slopes = posterior.log_density_gradients(us)
    np.testing.assert_allclose([posterior.log_density_gradient(u)[0] for u in us], alone, rtol=1e-12)
    np.testing.assert_allclose(together[: len(taken)], alone[: len(taken)], rtol=1e-12)
    assert not np.any(np.isfinite(together[len(taken) :]))
    one_by_one = [posterior.log_density_gradient(u)[1] for u in us[: len(taken)]]
    np.testing.assert_allclose(slopes[: len(taken)], np.reshape(one_by_one, (-1, 1)), rtol=1e-12)


@every("call, taken, refused", OF_DATA)
def test_stan_takes_and_refuses_data(call, taken, refused):
    """The same of functions that take no parameters."""
    model = ppl.compile_model(
        f"data {{ real x; }} parameters {{ real z; }} model {{ target += z * atan({call}); }}"
    )
    found = [model.condition({"x": x}).log_density(np.array([1.0])) for x in (*taken, *refused)]
    np.testing.assert_array_equal(np.isfinite(found), [True] * len(taken) + [False] * len(refused))


@every("call", NOTHING)
def test_nothing_has_no_mean(call):
    with pytest.raises(PPLError, match="no elements"):
        posterior_of(call).log_density_gradient(np.array([1.0]))


@every("call, words", BAD_INTS_AND_DATA)
def test_ints_and_data_are_refused_in_words(call, words):
    with pytest.raises(PPLError, match=words):
        posterior_of(call).log_density(np.array([1.0]))


INTEGRAL = """
functions { real f(real x, real xc, array[] real theta, data array[] real x_r, data array[] int x_i) {
  return exp(-square(x) * theta[1]); } }
parameters { real<lower=0> a; real b; }
model { target += integrate_1d(f, a, b, {a}, {0.0}, {0}, 1e-8); }
"""


def test_limits_of_an_integral_in_order():
    """Ends at one point give 0 and its slopes, ends out of order no value."""
    posterior = ppl.compile_model(INTEGRAL).condition({})
    us = np.array([[0.0, 2.0], [0.0, 1.0], [0.0, 0.5]])
    values, slopes = posterior.log_density_gradients(us)
    assert np.isfinite(values[:2]).all() and not np.isfinite(values[2])
    assert values[1] == 0.0
    np.testing.assert_allclose(slopes[1], [1.0 - np.exp(-1.0), np.exp(-1.0)])
    assert posterior.log_density(us[2]) == -np.inf


SIZES = """
data {{ array[3] vector[1] z; array[3] vector[2] x; }} parameters {{ real a; }}
model {{ {} target += dot_product(z[i], a * x[i]); }} }}
"""


@pytest.mark.parametrize("head", ["for (i in 1:3) {", "{ int i = 1;"])
def test_a_dot_product_of_two_sizes_is_refused_in_loops_too(head):
    """NumPy repeats what has size 1."""
    data = {"z": [[1], [2], [3]], "x": [[1, 2], [3, 4], [5, 6]]}
    posterior = ppl.compile_model(SIZES.format(head)).condition(data)
    with pytest.raises(PPLError, match=r"Sizes do not match: \[1\] and \[2\]"):
        posterior.log_density(np.array([1.0]))
