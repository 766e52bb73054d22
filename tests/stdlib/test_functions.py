"""Values of the scalar functions, computed with mpmath at 50 digits, and their behaviour at the edges."""

import math

import autograd
import numpy as np
import pytest
from laws.every import every

from ppl.arrays import AUTOGRAD, NUMPY
from ppl.errors import InferenceError
from ppl.stdlib.functions import (
    constants,
    elementary,
    gamma_functions,
    links,
    special_functions,
    steps,
)
from ppl.stdlib.functions.operators import OPERATORS, POW

TOPICS = (
    elementary,
    special_functions,
    gamma_functions,
    links,
)
RECORDS = {f.name: f for topic in (*TOPICS, constants, steps) for f in topic.FUNCTIONS} | {"pow": POW}

REFERENCES: dict[str, list[tuple[float, ...]]] = {
    "exp": [(-700, 9.85967654375977e-305), (0.3, 1.3498588075760032), (700, 1.0142320547350045e304)],
    "exp2": [(-1000.0, 9.332636185032189e-302), (0.3, 1.2311444133449163)],
    "log": [(1e-300, -690.7755278982137), (0.3, -1.2039728043259361), (1e300, 690.7755278982137)],
    "log2": [(1e-300, -996.5784284662087), (0.3, -1.7369655941662063)],
    "log10": [(1e-300, -300.0), (0.3, -0.5228787452803376)],
    "expm1": [(-1e-10, -9.999999999500001e-11), (3, 19.085536923187668)],
    "log1p": [(1e-12, 9.999999999995e-13), (-0.9, -2.302585092994046)],
    "abs": [(-2.5, 2.5), (0.3, 0.3)],
    "square": [(-3.5, 12.25)],
    "sqrt": [(1e-300, 1e-150), (3, 1.7320508075688772)],
    "cbrt": [(1e-300, 1e-100), (-3.0, -1.4422495703074083)],
    "inv": [(-3, -0.3333333333333333)],
    "inv_sqrt": [(1e-100, 1e50), (3.0, 0.5773502691896257)],
    "inv_square": [(1e-90, 1e180), (-3.0, 0.1111111111111111)],
    "log1m": [(1e-14, -1.000000000000005e-14), (-5, 1.791759469228055)],
    "log1p_exp": [(-700, 9.85967654375977e-305), (0.3, 0.8543552444685271), (40, 40.0), (900, 900.0)],
    "log1m_exp": [
        (-1e-20, -46.051701859880914),
        (-0.6, -0.7958703683463196),
        (-0.7, -0.6863410028083852),
        (-50, -1.9287498479639178e-22),
    ],
    "log_inv_logit": [(-800, -800.0), (-3, -3.048587351573742), (40, -4.248354255291589e-18)],
    "log1m_inv_logit": [(-700, -9.85967654375977e-305), (-3, -0.04858735157374206), (800, -800.0)],
    "logit": [(1e-300, -690.7755278982137), (0.2, -1.3862943611198906), (0.5000001, 3.99999999789463e-07)],
    "inv_logit": [(-700, 9.85967654375977e-305), (-3, 0.04742587317756678), (40, 1.0)],
    "inv_cloglog": [(-700, 9.85967654375977e-305), (-3, 0.04856800709954659), (1, 0.9340119641546875)],
    "Phi": [
        (-30, 4.906713927148187e-198),
        (-3, 0.0013498980316300946),
        (0.2, 0.579259709439103),
        (5, 0.9999997133484281),
    ],
    "Phi_approx": [(-3, 0.0012319552781176614), (0.2, 0.5793448404341407)],
    "inv_Phi": [(0.2, -0.8416212335729142), (0.7, 0.5244005127080407)],
    "std_normal_qf": [(1e-05, -4.264890793922825)],
    "std_normal_log_qf": [(-1.0, -0.33747496376420244), (-30, -7.35766681500875), (-900, -42.31631673584621)],
    "student_t_qf": [
        (0.001, 2.7, 0.5, 2.0, -23.620649086204846),
        (0.4999999, 1.0, 0.0, 1.0, -3.141592653680235e-07),
        (0.9, 10000.0, -1.0, 3.0, 2.844908689191433),
        (1e-20, 2.7, 0.0, 1.0, -24032629.034870137),
    ],
    "erf": [(1e-10, 1.1283791670955126e-10), (-0.4, -0.42839235504666845), (3, 0.9999779095030014)],
    "erfc": [(-0.4, 1.4283923550466684), (25, 8.300172571196523e-274)],
    "inv_erfc": [(0.2, 0.9061938024368232), (1.3, -0.2724627147267544)],
    "lambert_w0": [(-0.3, -0.4894022271802149), (0.1, 0.09127652716086226), (1000000.0, 11.383358086140053)],
    "lambert_wm1": [(-0.3, -1.7813370234216277), (-1e-09, -23.89701958453166)],
    "lgamma": [
        (1e-10, 23.025850929882736),
        (0.3, 1.0957979948180756),
        (1000000.0, 12815504.569147611),
        (-2.3, 0.36956666345500805),
    ],
    "tgamma": [(0.1, 9.51350769866873), (-2.3, -1.447107394255918), (100, 9.332621544394415e155)],
    "digamma": [(0.001, -1000.5755719318103), (50, 3.901989673427892), (-2.3, 3.3173231575618227)],
    "trigamma": [(0.001, 1000001.6425331958), (100000.0, 1.0000050000166667e-05), (-2.3, 14.725912160961292)],
    "tanh": [(0.3, 0.2913126124515909), (15, 0.9999999999998128)],
    "tan": [(1.5, 14.101419947171719)],
    "asin": [(-0.999999, -1.5693821131146521)],
    "acos": [(0.99999, 0.0044721396817777506)],
    "atan": [(0.3, 0.2914567944778671)],
    "asinh": [(1e-05, 9.999999999833334e-06), (-100000.0, -12.206072645555174)],
    "acosh": [(1.00001, 0.004472132228242651)],
    "atanh": [(-0.99999, -6.1030338227611125)],
    "cosh": [(-9, 4051.542025492594)],
    "sinh": [(1e-05, 1.0000000000166668e-05)],
    "cos": [(0.3, 0.955336489125606)],
    "sin": [(0.3, 0.29552020666133955)],
    "hypot": [(1e-200, 1e-200, 1.414213562373095e-200)],
    "atan2": [(0.3, -0.4, 2.498091544796509)],
    "beta": [(0.3, 5, 1.8855428359978412), (50, 60.0, 5.842564390641766e-34)],
    "lbeta": [
        (0.3, 5, 0.6342157560993353),
        (10000000000.0, 2.0, -46.051701859980916),
        (100000.0, 100000.0, -138633.92706134808),
    ],
    "lchoose": [(5.5, 2.5, 2.669828988282012), (100000000.0, 3.0, 53.470282732629045)],
    "log_diff_exp": [(1, 0.9999, -8.210390371559626), (800, 1, 800.0), (-800, -801.0, -800.4586751453871)],
    "log_inv_logit_diff": [
        (1, 0.9, -3.9065840232944016),
        (-700, -701, -700.4586751453871),
        (701, 700.0, -700.4586751453871),
    ],
    "lmultiply": [(2, 3, 2.1972245773362196)],
    "log_rising_factorial": [(2.3, 4.5, 6.053607656407833)],
    "log_falling_factorial": [(7.3, 4.5, 7.589444662007689)],
    "owens_t": [(1.2, 0.7, 0.042797442603088494), (-0.3, 5.0, 0.18887156345661174)],
    "pow": [(2, 3.5, 11.313708498984761), (0.1, -300.0, 9.999999999999834e299)],
    "fmod": [(7.5, 2.0, 1.5)],
    "log_modified_bessel_first_kind": [
        (2.3, 4.5, 2.210760786247265),
        (500, 1.0, -2957.9035497383807),
        (0, 100000.0, 99993.32459998432),
    ],
    "gamma_p": [(2.5, 1.5, 0.3000141641213725)],
    "gamma_q": [(2.5, 30.0, 1.215456977718304e-11)],
    "bessel_first_kind": [(2, 3.5, 0.4586291841943075)],
    "bessel_second_kind": [(2, 3.5, 0.045371437729180286)],
    "modified_bessel_first_kind": [(2, 3.5, 3.8320120480778423)],
    "modified_bessel_second_kind": [(2, 3.5, 0.032307121699467825)],
    "lmgamma": [(3, 2.3, 1.692025601311498)],
    "rising_factorial": [(2.5, 4, 216.5625)],
    "falling_factorial": [(2.5, 4, -0.9375)],
    "ldexp": [(0.3, -5, 0.009375)],
    "binary_log_loss": [(1, 0.3, 1.2039728043259361), (0, 1e-12, 1.0000000000005e-12)],
    "hypergeometric_1F0": [(1.5, 0.3, 1.7074694419062766)],
    "inc_beta": [(2.5, 1.5, 0.3, 0.0889437231706656)],
    "inv_inc_beta": [(2.5, 1.5, 0.3, 0.5094974124283413)],
    "fma": [(2.5, 1.5, 0.3, 4.05)],
    "hypergeometric_2F1": [
        (0.5, 1.5, 2.5, 0.95, 1.8262489839789269),
        (0.5, 1.5, 2.5, -7.0, 0.4684010502562655),
        (-2, 3, 1.5, 0.7, -0.232),
        (0.5, 0.5, 2.5, 1, 1.1780972450961724),
    ],
}
"""Arguments, then the value."""

ELSEWHERE = {"choose", "hypergeometric_3F2", "hypergeometric_pFq"}
"""Functions whose values are tested below."""

INF, NAN = math.inf, math.nan

EDGES = [
    ("log", (0.0,), -INF),
    ("log", (-1.0,), NAN),
    ("log1m", (1.0,), -INF),
    ("log1m_exp", (0.0,), -INF),
    ("log1m_exp", (0.1,), NAN),
    ("log_diff_exp", (1.0, -INF), 1.0),
    ("log_diff_exp", (2.0, 2.0), -INF),
    ("log_diff_exp", (-INF, -INF), -INF),
    ("log_diff_exp", (1.0, 2.0), NAN),
    ("lbeta", (-0.5, 2.0), NAN),
    ("lbeta", (0.0, 2.0), INF),
    ("lchoose", (-1.5, 0.0), NAN),
    ("lchoose", (3.0, -1.5), NAN),
    ("lchoose", (3.0, 4.5), NAN),
    ("log_falling_factorial", (-0.5, 1.0), NAN),
    ("log_rising_factorial", (-0.15, 1.5), NAN),
    ("lmultiply", (0.0, 0.0), 0.0),
    ("logit", (0.0,), -INF),
    ("logit", (1.0,), INF),
    ("logit", (1.5,), NAN),
    ("inv_Phi", (0.0,), -INF),
    ("inv_Phi", (1.0,), INF),
    ("student_t_qf", (0.0, 3.0, 1.0, 2.0), -INF),
    ("student_t_qf", (0.5, 3.0, 1.0, 2.0), 1.0),
    ("student_t_qf", (0.5, 0.0, 1.0, 2.0), NAN),
    ("inv", (0.0,), INF),
    ("sqrt", (-1.0,), NAN),
    ("pow", (-8.0, 1.0 / 3.0), NAN),
    ("pow", (0.0, -1.0), INF),
    ("pow", (2, -1), 0.5),
    ("pow", (0, 0), 1.0),
    ("round", (2.5,), 3.0),
    ("round", (-2.5,), -3.0),
    ("round", (0.49999999999999994,), 0.0),
    ("trunc", (-2.7,), -2.0),
    ("floor", (-2.5,), -3.0),
    ("ceil", (-2.5,), -2.0),
    ("fmod", (-7.5, 2.0), -1.5),
    ("fmax", (NAN, 1.0), 1.0),
    ("fmin", (1.0, NAN), 1.0),
    ("fdim", (1.0, 2.0), 0.0),
    ("step", (0.0,), 1.0),
    ("step", (-0.1,), 0.0),
    ("int_step", (0,), 0),
    ("int_step", (0.1,), 1),
    ("is_inf", (-INF,), 1),
    ("is_inf", (NAN,), 0),
    ("is_nan", (NAN,), 1),
    ("choose", (5, 2), 10),
    ("choose", (2, 5), 0),
    ("rising_factorial", (3, 3), 60),
    ("falling_factorial", (5, 2), 20),
    ("lambert_w0", (-1.0,), NAN),
    ("log_modified_bessel_first_kind", (0.0, 0.0), 0.0),
    ("log_modified_bessel_first_kind", (2.0, 0.0), -INF),
    ("hypergeometric_2F1", (1.0, 1.0, 2.0, 1.5), NAN),
]

CONSTANTS = {
    "pi": math.pi,
    "e": math.e,
    "sqrt2": math.sqrt(2.0),
    "log2": math.log(2.0),
    "log10": math.log(10.0),
    "positive_infinity": INF,
    "negative_infinity": -INF,
    "not_a_number": NAN,
    "machine_precision": 2.0**-52,
}


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def call(name, *args, xp=NUMPY):
    """The first overload for reals when an argument is one, otherwise the first of as many arguments."""
    fitting = [o for o in RECORDS[name].overloads if _arity(o.signature) == len(args)]
    whole = all(isinstance(a, int) for a in args)
    return (fitting[0] if whole else fitting[-1]).impl(xp, *args)


def _arity(signature):
    arguments = signature[1 : signature.index(")")]
    return len(arguments.split(",")) if arguments else 0


POINTS = [(name, row[:-1], row[-1]) for name, rows in REFERENCES.items() for row in rows]


@every("name, args, value", POINTS)
def test_value_is_the_exact_one(name, args, value):
    np.testing.assert_allclose(call(name, *args), value, rtol=1e-13)


@every("name, args, value", EDGES)
def test_edges(name, args, value):
    np.testing.assert_equal(float(call(name, *args)), float(value))


def test_every_function_has_a_reference():
    names = {f.name for topic in TOPICS for f in topic.FUNCTIONS}
    assert names <= {*REFERENCES, *ELSEWHERE}


def test_a_loop_of_no_iterations_divides_nothing_by_zero():
    none = np.array([], dtype=int)
    assert [OPERATORS[op].overloads[0].impl(NUMPY, none, 0).size for op in ("%", "%/%")] == [0, 0]


@every("name", CONSTANTS)
def test_constants(name):
    np.testing.assert_equal(call(name), CONSTANTS[name])


@pytest.mark.parametrize(
    ("name", "x", "slope"),
    [
        ("inv_logit", 40.0, math.exp(-40.0)),
        ("log_inv_logit", 800.0, 0.0),
        ("log_inv_logit", -800.0, 1.0),
        ("log1m_inv_logit", 800.0, -1.0),
        ("log1p_exp", 800.0, 1.0),
        ("tanh", 400.0, 0.0),
        ("abs", 0.0, 0.0),
        ("floor", 1.5, 0.0),
    ],
)
def test_slopes_in_the_tails(name, x, slope):
    found = autograd.grad(lambda t: call(name, t, xp=AUTOGRAD))(x)
    np.testing.assert_allclose(found, slope, rtol=1e-12, atol=1e-300)


def test_the_larger_argument_takes_the_slope():
    slopes = autograd.grad(lambda p: call("fmax", p[0], p[1], xp=AUTOGRAD))(np.array([2.0, 1.0]))
    np.testing.assert_equal(slopes, [1.0, 0.0])


def test_slope_of_log_bessel_in_its_order():
    slope = autograd.grad(lambda v: call("log_modified_bessel_first_kind", v, 3.0, xp=AUTOGRAD))(2.5)
    np.testing.assert_allclose(slope, -0.8520767054323678, rtol=1e-11)


def test_hypergeometric_series():
    p = np.array([1.0, 2.0, 3.0]), np.array([2.5, 4.0])
    np.testing.assert_allclose(call("hypergeometric_3F2", *p, 0.9), 2.7799008583549365, rtol=1e-13)
    np.testing.assert_allclose(
        call("hypergeometric_pFq", p[0][:1], p[1], 9.0), 2.5603805805531463, rtol=1e-13
    )


@pytest.mark.parametrize("args", [(40, 20), (-1, 2), (3, -1)])
def test_choose_refuses_what_no_int_can_be(args):
    with pytest.raises(InferenceError, match="choose"):
        call("choose", *args)


def operator(symbol, *args):
    return OPERATORS[symbol].overloads[0].impl(NUMPY, *args)


@pytest.mark.parametrize(
    ("a", "b", "quotient", "rest"), [(7, 2, 3, 1), (-7, 2, -3, -1), (7, -2, -3, 1), (-7, -2, 3, -1)]
)
def test_int_division_truncates_as_in_c(a, b, quotient, rest):
    assert operator("%/%", a, b) == quotient == operator("/", a, b)
    assert operator("%", a, b) == rest


@pytest.mark.parametrize("symbol", ["/", "%/%", "%"])
def test_int_division_by_zero_is_refused(symbol):
    with pytest.raises(InferenceError, match="division by zero"):
        operator(symbol, 1, 0)


def test_real_division_by_zero_is_infinite():
    real = next(o for o in OPERATORS["/"].overloads if o.signature == "(real, real) => real")
    assert real.impl(NUMPY, 1.0, 0.0) == INF


@pytest.mark.parametrize(
    ("symbol", "expected"), [("==", 0), ("!=", 1), ("<", 1), ("<=", 1), (">", 0), (">=", 0)]
)
def test_comparisons_give_ints(symbol, expected):
    result = operator(symbol, 1, 2)
    assert result == expected
    assert isinstance(result, int)
