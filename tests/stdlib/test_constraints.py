"""Laws of every constraint: inverse both ways, lands inside, log-Jacobian, gradient, array axes."""

import numpy as np
import pytest
from laws.every import every
from numpy.testing import assert_allclose

from ppl.arrays import AUTOGRAD, NUMPY, value_and_grad
from ppl.stdlib.constraints.bounds import LOWER_SOFTPLUS
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD, CONSTRAINTS
from ppl.testing.constraints import LAWS, Sample
from ppl.testing.law import jacobian

RECORDS = {c.keyword: c for c in CONSTRAINTS} | {"lower_2": LOWER_SOFTPLUS}


def all_but_last(x):
    return x[..., :-1].ravel()


def lower_triangle(x):
    return x[np.tril_indices(x.shape[0], m=x.shape[1])]


def strictly_lower_triangle(x):
    return x[np.tril_indices(x.shape[0], -1)]


def sample(shape, arguments=(), **more):
    """A sample of a record that is still to be named."""
    return lambda record: Sample(record, shape, arguments, **more)


NAN = np.nan
SAMPLES = {
    "complex": [sample(()), sample((3,)), sample((2, 3)), sample((0,), identity=True)],
    "identity": [
        sample((), identity=True),
        sample((3,), identity=True),
        sample((2, 3), identity=True),
    ],
    "lower": [
        sample((), (1.5,), refused=(1.4, NAN)),
        sample((), (2,), refused=(1,)),
        sample((3,), (np.array([0.0, -np.inf, -2.0]),), refused=([-0.1, 0.0, 0.0],)),
        sample((2, 3), (np.arange(6.0).reshape(2, 3),), refused=(np.zeros((2, 3)),)),
    ],
    "lower_2": [
        sample((), (1.5,), refused=(1.4,)),
        sample((2,), (np.array([0.0, -np.inf]),), refused=([-0.1, 0.0],)),
    ],
    "upper": [
        sample((), (-0.5,), refused=(0.0, NAN)),
        sample((3,), (np.array([0.0, np.inf, -2.0]),), refused=([0.1, 0.0, -3.0],)),
    ],
    "lower_upper": [
        sample((), (-2.0, 3.0), refused=(-2.1, 3.1, NAN)),
        sample((), (0, 7), refused=(8,)),
        sample((), (-np.inf, np.inf), identity=True),
        sample((2, 2), (0.0, np.array([[1.0, np.inf], [2.0, 3.0]])), refused=([[0.5, 9.0], [2.1, 0.0]],)),
        sample((4,), (np.array([-1.0, -np.inf, 0.0, -np.inf]), np.array([1.0, 2.0, np.inf, np.inf]))),
    ],
    "offset_multiplier": [
        sample((), (2.0, 3.0)),
        sample((3,), (np.array([0.0, 1.0, -2.0]), np.array([0.5, 1.0, 2.0]))),
        sample((3,), (1.0, 2.0)),
        sample((3,), (0.0, 2)),
    ],
    "ordered": [
        sample((4,), refused=([0.0, 1.0, 1.0, 2.0],)),
        sample((1,), identity=True),
        sample((0,), identity=True),
    ],
    "positive_ordered": [
        sample((4,), refused=([-1.0, 1.0, 2.0, 3.0], [1.0, 3.0, 2.0, 4.0])),
        sample((1,), refused=([-0.1],)),
    ],
    "simplex": [
        sample((4,), chart=all_but_last, refused=([0.5, 0.5, 0.5, -0.5], [0.3, 0.3, 0.3, 0.3])),
        sample((2,), chart=all_but_last),
        sample((1,), chart=all_but_last),
    ],
    "unit_vector": [
        sample((3,), refused=([1.0, 0.1, 0.0],), one_to_one=False),
        sample((2,), one_to_one=False),
    ],
    "sum_to_zero_vector": [sample((5,), refused=([1.0, 0.0, 0.0, 0.0, 0.0],)), sample((1,))],
    "sum_to_zero_matrix": [sample((3, 4), refused=(np.eye(3, 4),)), sample((2, 2))],
    "cov_matrix": [
        sample((3, 3), chart=lower_triangle, refused=(np.tri(3), np.diag([1.0, 0.0, 1.0]))),
        sample((1, 1), chart=lower_triangle, refused=([[-1.0]],)),
    ],
    "corr_matrix": [
        sample((4, 4), chart=strictly_lower_triangle, refused=(1.5 * np.eye(4), np.ones((4, 4)))),
        sample((2, 2), chart=strictly_lower_triangle, refused=([[1.0, 0.3], [0.2, 1.0]],)),
        sample((1, 1), chart=strictly_lower_triangle),
    ],
    "cholesky_factor_cov": [
        sample((3, 3), chart=lower_triangle, refused=(np.ones((3, 3)), -np.eye(3))),
        sample((4, 2), chart=lower_triangle),
    ],
    "cholesky_factor_corr": [
        sample((4, 4), chart=strictly_lower_triangle, refused=(np.tri(4), np.ones((4, 4)))),
        sample((2, 2), chart=strictly_lower_triangle),
    ],
    "row_stochastic_matrix": [sample((2, 3), chart=all_but_last, refused=(np.full((2, 3), 0.4),))],
    "column_stochastic_matrix": [
        sample((3, 2), chart=lambda x: all_but_last(x.T), refused=(np.full((3, 2), 0.5),)),
    ],
}
CASES = {f"{name}-{i}": of(RECORDS[name]) for name, chosen in SAMPLES.items() for i, of in enumerate(chosen)}


def constrain(record, xp, u, shape, *arguments):
    """The value, and the whole log-Jacobian."""
    x, terms = record.constrain(xp, u, shape, *arguments)
    return x, xp.np.sum(terms)


def test_every_constraint_has_samples():
    assert set(SAMPLES) == set(RECORDS)
    assert set(CONSTRAINT_BY_KEYWORD) == {c.keyword for c in CONSTRAINTS}


@every(
    "law, case",
    [(law, case) for case in CASES.values() for law in LAWS if law.applies(case)],
    lambda of: of[1].constraint.keyword,
)
def test_laws(law, case):
    law.check(case, case.constraint.keyword)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("scale", [1.5, 8.0])
def test_a_unit_vector_is_a_direction(size, scale):
    u = np.random.default_rng(1).uniform(-scale, scale, size)
    record = CONSTRAINT_BY_KEYWORD["unit_vector"]
    x, log_jacobian = constrain(record, NUMPY, u, (size,))
    assert_allclose(record.unconstrain(x, (size,)), u / np.linalg.norm(u))
    assert_allclose(log_jacobian, -0.5 * np.sum(u**2))


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


@pytest.mark.parametrize("keyword", sorted(set(RECORDS) - {"identity", "complex", "offset_multiplier"}))
def test_check_refuses_nan(keyword):
    first = CASES[f"{keyword}-0"]
    assert first.check(np.full(first.shape, np.nan))


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
