"""Laws of every constraint: inverse both ways, lands inside, log-Jacobian, gradient, array axes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ppl.arrays import AUTOGRAD, NUMPY, value_and_grad
from ppl.stdlib.constraints.table import ALTERNATIVES, CONSTRAINT_BY_KEYWORD, CONSTRAINTS

RECORDS = {c.keyword: c for c in CONSTRAINTS} | {f"{c.keyword}_{i}": c for i, c in enumerate(ALTERNATIVES, 2)}


def everything(x):
    return x.ravel()


def all_but_last(x):
    return x[..., :-1].ravel()


def lower_triangle(x):
    return x[np.tril_indices(x.shape[0], m=x.shape[1])]


def strictly_lower_triangle(x):
    return x[np.tril_indices(x.shape[0], -1)]


@dataclass(frozen=True)
class Sample:
    """A value's shape and arguments, coordinates that determine it, and values that must be refused.

    `identity` marks a sample whose map leaves every element as it is.
    """

    shape: tuple[int, ...]
    arguments: tuple = ()
    chart: Callable = everything
    refused: tuple = ()
    identity: bool = False


NAN = np.nan
SAMPLES = {
    "identity": [
        Sample((), identity=True),
        Sample((3,), identity=True),
        Sample((2, 3), identity=True),
    ],
    "lower": [
        Sample((), (1.5,), refused=(1.4, NAN)),
        Sample((), (2,), refused=(1,)),
        Sample((3,), (np.array([0.0, -np.inf, -2.0]),), refused=([-0.1, 0.0, 0.0],)),
        Sample((2, 3), (np.arange(6.0).reshape(2, 3),), refused=(np.zeros((2, 3)),)),
    ],
    "lower_2": [
        Sample((), (1.5,), refused=(1.4,)),
        Sample((2,), (np.array([0.0, -np.inf]),), refused=([-0.1, 0.0],)),
    ],
    "upper": [
        Sample((), (-0.5,), refused=(0.0, NAN)),
        Sample((3,), (np.array([0.0, np.inf, -2.0]),), refused=([0.1, 0.0, -3.0],)),
    ],
    "lower_upper": [
        Sample((), (-2.0, 3.0), refused=(-2.1, 3.1, NAN)),
        Sample((), (0, 7), refused=(8,)),
        Sample((), (-np.inf, np.inf), identity=True),
        Sample((2, 2), (0.0, np.array([[1.0, np.inf], [2.0, 3.0]])), refused=([[0.5, 9.0], [2.1, 0.0]],)),
        Sample((4,), (np.array([-1.0, -np.inf, 0.0, -np.inf]), np.array([1.0, 2.0, np.inf, np.inf]))),
    ],
    "offset_multiplier": [
        Sample((), (2.0, 3.0)),
        Sample((3,), (np.array([0.0, 1.0, -2.0]), np.array([0.5, 1.0, 2.0]))),
        Sample((3,), (1.0, 2.0)),
        Sample((3,), (0.0, 2)),
    ],
    "ordered": [
        Sample((4,), refused=([0.0, 1.0, 1.0, 2.0],)),
        Sample((1,), identity=True),
        Sample((0,), identity=True),
    ],
    "positive_ordered": [
        Sample((4,), refused=([-1.0, 1.0, 2.0, 3.0], [1.0, 3.0, 2.0, 4.0])),
        Sample((1,), refused=([-0.1],)),
    ],
    "simplex": [
        Sample((4,), chart=all_but_last, refused=([0.5, 0.5, 0.5, -0.5], [0.3, 0.3, 0.3, 0.3])),
        Sample((2,), chart=all_but_last),
        Sample((1,), chart=all_but_last),
    ],
    "unit_vector": [Sample((3,), refused=([1.0, 0.1, 0.0],)), Sample((2,))],
    "sum_to_zero_vector": [Sample((5,), refused=([1.0, 0.0, 0.0, 0.0, 0.0],)), Sample((1,))],
    "sum_to_zero_matrix": [Sample((3, 4), refused=(np.eye(3, 4),)), Sample((2, 2))],
    "cov_matrix": [
        Sample((3, 3), chart=lower_triangle, refused=(np.tri(3), np.diag([1.0, 0.0, 1.0]))),
        Sample((1, 1), chart=lower_triangle, refused=([[-1.0]],)),
    ],
    "corr_matrix": [
        Sample((4, 4), chart=strictly_lower_triangle, refused=(1.5 * np.eye(4), np.ones((4, 4)))),
        Sample((2, 2), chart=strictly_lower_triangle, refused=([[1.0, 0.3], [0.2, 1.0]],)),
        Sample((1, 1), chart=strictly_lower_triangle),
    ],
    "cholesky_factor_cov": [
        Sample((3, 3), chart=lower_triangle, refused=(np.ones((3, 3)), -np.eye(3))),
        Sample((4, 2), chart=lower_triangle),
    ],
    "cholesky_factor_corr": [
        Sample((4, 4), chart=strictly_lower_triangle, refused=(np.tri(4), np.ones((4, 4)))),
        Sample((2, 2), chart=strictly_lower_triangle),
    ],
    "row_stochastic_matrix": [Sample((2, 3), chart=all_but_last, refused=(np.full((2, 3), 0.4),))],
    "column_stochastic_matrix": [
        Sample((3, 2), chart=lambda x: all_but_last(x.T), refused=(np.full((3, 2), 0.5),)),
    ],
}
CASES = [
    pytest.param(RECORDS[name], sample, id=f"{name}-{i}")
    for name, samples in SAMPLES.items()
    for i, sample in enumerate(samples)
]


def unconstrained(record, sample, arrays=(), seed=1, scale=1.5):
    return np.random.default_rng(seed).uniform(-scale, scale, (*arrays, *record.free_shape(sample.shape)))


def constrain(record, xp, u, shape, *arguments):
    """The value, and the whole log-Jacobian."""
    x, terms = record.constrain(xp, u, shape, *arguments)
    return x, xp.np.sum(terms)


def jacobian(f, u, step=1e-5):
    """Rows are outputs, columns the elements of `u`, by central differences."""
    steps = step * np.eye(u.size).reshape(u.size, *u.shape)
    columns = [np.ravel(f(u + h) - f(u - h)) / (2 * step) for h in steps]
    return np.array(columns).reshape(u.size, np.size(f(u))).T


def test_every_constraint_has_samples():
    assert set(SAMPLES) == set(RECORDS)
    assert set(CONSTRAINT_BY_KEYWORD) == {c.keyword for c in CONSTRAINTS + ALTERNATIVES}


@pytest.mark.parametrize("record, sample", CASES)
@pytest.mark.parametrize("scale", [1.5, 8.0])
def test_inverse_both_ways_and_lands_inside(record, sample, scale):
    u = unconstrained(record, sample, scale=scale)
    x, _ = constrain(record, NUMPY, u, sample.shape, *sample.arguments)
    assert np.shape(x) == sample.shape
    if scale < 2:
        assert record.check(x, sample.shape, *sample.arguments) is None
    back = record.unconstrain(x, sample.shape, *sample.arguments)
    again, _ = constrain(record, NUMPY, back, sample.shape, *sample.arguments)
    assert_allclose(again, x, rtol=1e-7, atol=1e-9)
    if record.keyword == "unit_vector":
        assert_allclose(back, u / np.linalg.norm(u))
    elif scale < 2:
        assert_allclose(back, u, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("record, sample", CASES)
def test_log_jacobian(record, sample):
    u = unconstrained(record, sample)
    _, log_jacobian = constrain(record, NUMPY, u, sample.shape, *sample.arguments)
    if record.keyword == "unit_vector":
        assert_allclose(log_jacobian, -0.5 * np.sum(u**2))
        return
    j = jacobian(lambda u: sample.chart(constrain(record, NUMPY, u, sample.shape, *sample.arguments)[0]), u)
    assert_allclose(log_jacobian, 0.5 * np.linalg.slogdet(j.T @ j)[1], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("record, sample", CASES)
def test_gradient(record, sample):
    u = unconstrained(record, sample)
    weights = np.random.default_rng(2).normal(size=sample.shape)

    def objective(xp, u):
        x, log_jacobian = constrain(record, xp, u, sample.shape, *sample.arguments)
        return xp.np.sum(weights * x) + log_jacobian

    value, gradient = value_and_grad(lambda u: objective(AUTOGRAD, u), u)
    assert_allclose(value, objective(NUMPY, u))
    assert_allclose(
        gradient.ravel(), jacobian(lambda u: objective(NUMPY, u), u).ravel(), rtol=1e-6, atol=1e-7
    )


@pytest.mark.parametrize("name", ["lower", "lower_2", "upper", "lower_upper", "offset_multiplier"])
@pytest.mark.parametrize("arguments", [np.array([0.3, 1.7]), np.array([[0.3, -0.2], [1.7, 0.9]])])
def test_gradient_of_the_arguments(name, arguments):
    record = RECORDS[name]
    u, shape = np.array([0.4, -0.7]), (2,)

    def objective(xp, arguments):
        chosen = tuple(arguments[i] for i in range(len(record.arguments)))
        x, log_jacobian = constrain(record, xp, u, shape, *chosen)
        return xp.np.sum(np.array([1.0, 2.0]) * x) + log_jacobian

    _, gradient = value_and_grad(lambda a: objective(AUTOGRAD, a), arguments)
    assert_allclose(
        gradient.ravel(), jacobian(lambda a: objective(NUMPY, a), arguments).ravel(), rtol=1e-6, atol=1e-7
    )


@pytest.mark.parametrize("record, sample", CASES)
def test_array_axes_are_a_loop(record, sample):
    u = unconstrained(record, sample, arrays=(2, 3))
    x, log_jacobian = constrain(record, NUMPY, u, sample.shape, *sample.arguments)
    one_by_one = [constrain(record, NUMPY, u[i], sample.shape, *sample.arguments) for i in np.ndindex(2, 3)]
    assert_allclose(x.reshape(6, *sample.shape), [value for value, _ in one_by_one])
    assert_allclose(log_jacobian, sum(term for _, term in one_by_one))
    _, terms = record.constrain(NUMPY, u, sample.shape, *sample.arguments)
    if np.ndim(terms):
        each = [np.sum(terms[i]) for i in np.ndindex(2, 3)]
        assert_allclose(each, [term for _, term in one_by_one], rtol=1e-12, atol=1e-12)
    back = record.unconstrain(x, sample.shape, *sample.arguments)
    expected = [record.unconstrain(value, sample.shape, *sample.arguments) for value, _ in one_by_one]
    assert_allclose(back.reshape(6, -1), np.reshape(expected, (6, -1)), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("record, sample", [case for case in CASES if not case.values[1].identity])
def test_not_the_identity(record, sample):
    u = unconstrained(record, sample)
    x, _ = constrain(record, NUMPY, u, sample.shape, *sample.arguments)
    assert np.size(u) != np.size(x) or not np.allclose(u, x.ravel())


@pytest.mark.parametrize(
    "record, sample, value",
    [
        pytest.param(RECORDS[name], sample, value, id=f"{name}-{i}-{k}")
        for name, samples in SAMPLES.items()
        for i, sample in enumerate(samples)
        for k, value in enumerate(sample.refused)
    ],
)
def test_check_refuses(record, sample, value):
    assert record.check(np.array(value), sample.shape, *sample.arguments)


@pytest.mark.parametrize("keyword", sorted(set(RECORDS) - {"identity", "offset_multiplier"}))
def test_check_refuses_nan(keyword):
    record, sample = RECORDS[keyword], SAMPLES[keyword][0]
    assert record.check(np.full(sample.shape, np.nan), sample.shape, *sample.arguments)


@pytest.mark.parametrize(
    "keyword, value, arguments, sentence",
    [
        ("lower", -0.2, (0,), "is -0.2, but must be at least 0"),
        ("lower", [1.0, 0.0, -0.2], (0.0,), "[3] is -0.2, but must be at least 0"),
        ("upper", [[1.0, 2.0], [3.0, 5.0]], (4,), "[2,2] is 5, but must be at most 4"),
        ("lower_upper", [0.5, 3.0], (0, [1, 2]), "[2] is 3, but must be at most 2"),
        (
            "ordered",
            [1, 1],
            (),
            "is not ordered: element [2] is 1, but must be greater than the element before it, 1",
        ),
        (
            "simplex",
            [[0.5, 0.5], [0.6, 0.6]],
            (),
            "[2] is not a simplex: sums to 1.2, but must sum to 1 (tolerance 1e-08)",
        ),
        (
            "cov_matrix",
            [[1.0, 2.0], [2.0, 1.0]],
            (),
            "is not positive definite: its smallest eigenvalue is -1, but must be positive",
        ),
        (
            "offset_multiplier",
            1.0,
            (0.0, -1.0),
            "has a multiplier that is -1, but must be positive and finite",
        ),
    ],
)
def test_sentences(keyword, value, arguments, sentence):
    x = np.array(value)
    assert CONSTRAINT_BY_KEYWORD[keyword].check(x, x.shape, *arguments) == sentence


@pytest.mark.parametrize(
    "keyword", ["lower", "upper", "lower_upper", "ordered", "positive_ordered", "simplex"]
)
@pytest.mark.parametrize("size", [50.0, 600.0])
def test_far_out_the_jacobian_stays_finite(keyword, size):
    record = CONSTRAINT_BY_KEYWORD[keyword]
    arguments = (0.0, 1.0)[: len(record.arguments)]
    u = np.array([-size, size, -size])
    _, gradient = value_and_grad(lambda u: constrain(record, AUTOGRAD, u, (len(u),), *arguments)[1], u)
    assert np.isfinite(constrain(record, NUMPY, u, (len(u),), *arguments)[1])
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize(
    "keyword", ["corr_matrix", "cholesky_factor_corr", "cov_matrix", "cholesky_factor_cov"]
)
def test_fifty_by_fifty(keyword):
    record, shape = CONSTRAINT_BY_KEYWORD[keyword], (50, 50)
    u = np.random.default_rng(3).normal(scale=0.3, size=record.free_shape(shape))
    x, log_jacobian = constrain(record, NUMPY, u, shape)
    assert record.check(x, shape) is None
    assert_allclose(record.unconstrain(x, shape), u, rtol=1e-6, atol=1e-8)
    _, gradient = value_and_grad(lambda u: constrain(record, AUTOGRAD, u, shape)[1], u)
    assert np.isfinite(log_jacobian) and np.isfinite(gradient).all()


def test_extreme_correlations_keep_their_distance_from_one():
    record = CONSTRAINT_BY_KEYWORD["cholesky_factor_corr"]
    x, log_jacobian = constrain(record, NUMPY, np.array([50.0]), (2, 2))
    assert_allclose(x[1, 1], 2 * np.exp(-50.0))
    assert_allclose(log_jacobian, 2 * np.log(2) - 100.0)
    assert_allclose(record.unconstrain(x, (2, 2)), [50.0])


@pytest.mark.parametrize(
    "keyword, shape, u, log_jacobian, places",
    [
        (
            "simplex",
            (4,),
            [-0.073092, 0.27048, -0.64142],
            -5.111006151377694,
            {(0,): 0.20649869441180355, (3,): 0.40838197942194376},
        ),
        (
            "corr_matrix",
            (4, 4),
            [-0.973939, 0.691452, -0.32661, -0.84701, -0.1404, -0.91521],
            -4.493237553707618,
            {(2, 1): -0.8143958888065417, (3, 1): 0.14925469786231993, (3, 2): -0.5102407816275321},
        ),
        (
            "cholesky_factor_corr",
            (4, 4),
            [0.4795, 0.26873, 0.648895, -0.394931, -0.737549, -0.572419],
            -2.0896789262467625,
            {(2, 1): 0.5509132915833895, (3, 0): -0.3756033970776214, (3, 3): 0.6175229042220275},
        ),
        (
            "cov_matrix",
            (3, 3),
            [0.300252, 0.348572, -0.031674, -0.740737, -0.735462, 0.677915],
            4.541257541679836,
            {(0, 1): 0.4706415710077206, (2, 1): -0.9707322130182756, (2, 2): 4.969575660560021},
        ),
    ],
)
def test_numbers_of_stan(keyword, shape, u, log_jacobian, places):
    x, found = constrain(CONSTRAINT_BY_KEYWORD[keyword], NUMPY, np.array(u), shape)
    assert_allclose(found, log_jacobian, rtol=1e-14)
    for place, value in places.items():
        assert_allclose(x[place], value, rtol=1e-13)
