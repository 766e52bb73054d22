"""Laws of every rng of the table: with leading axes, one call draws what one call for each entry would."""

import itertools
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.stdlib.record import Distribution
from ppl.stdlib.supports import SUPPORTS

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

FAMILIES = {d.name: d for d in DISTRIBUTIONS if d.rng is not None}
WITHOUT = {
    "std_normal": "has no argument that could have a leading axis",
    "hmm_latent": "batch none without cores: one call for each draw",
}
TAKING = [name for name in FAMILIES if name not in WITHOUT]

VECTOR, MATRIX = (3,), (3, 3)
SHAPES = {
    "multi_normal": (VECTOR, MATRIX),
    "multi_normal_cholesky": (VECTOR, MATRIX),
    "multi_student_t": ((), VECTOR, MATRIX),
    "multi_student_t_cholesky": ((), VECTOR, MATRIX),
    "wishart": ((), MATRIX),
    "wishart_cholesky": ((), MATRIX),
    "inv_wishart": ((), MATRIX),
    "inv_wishart_cholesky": ((), MATRIX),
    "dirichlet": (VECTOR,),
    "multinomial": (VECTOR,),
    "multinomial_logit": (VECTOR,),
    "dirichlet_multinomial": (VECTOR,),
    "categorical": (VECTOR,),
    "categorical_logit": (VECTOR,),
    "ordered_logistic": ((), VECTOR),
    "ordered_probit": ((), VECTOR),
    "bernoulli_logit_glm": ((4, 2), (4,), (2,)),
}
"""The parameters of one draw, where they are no scalars."""

SIZE = 3
LKJ = ("lkj_corr", "lkj_corr_cholesky")


def arguments(name: str, setting: int) -> list:
    """What one call takes; the settings differ in every argument but a size."""
    family, rng = FAMILIES[name], np.random.default_rng(setting)
    shapes = SHAPES.get(name, ((),) * (len(family.args) - 1))
    params = [
        SUPPORTS[support].sample(rng, shape)
        for (_, support), shape in zip(family.args[1:], shapes, strict=True)
    ]
    if "wishart" in name:
        params[0] = params[0] + 4.0
    if name == "uniform":
        params[1] = params[1] + 10.0
    if name in LKJ:
        return [SIZE, *params]
    return [*params, (6, 25)[setting % 2]] if "multinomial" in name else params


def varying(name: str) -> list[int]:
    """The arguments that may have a leading axis."""
    return [i for i in range(len(arguments(name, 0))) if not (name in LKJ and i == 0)]


def over(name: str, which: int, values: np.ndarray) -> np.ndarray:
    """An argument with leading axes: before the rows of a regression, of which beta has none."""
    return values[..., None, :] if (name, which) == ("bernoulli_logit_glm", 2) else values


def spread(name: str, which: int, lead: tuple[int, ...]) -> np.ndarray:
    value = np.asarray(arguments(name, 0)[which])
    return over(name, which, np.broadcast_to(value, (*lead, *value.shape)))


def subsets(items: list[int]) -> list[tuple[int, ...]]:
    return [c for n in range(1, len(items) + 1) for c in itertools.combinations(items, n)]


def drawn(name: str, leads: dict[int, tuple[int, ...]]) -> np.ndarray:
    args = [spread(name, i, leads[i]) if i in leads else a for i, a in enumerate(arguments(name, 0))]
    return FAMILIES[name].rng(np.random.default_rng(1), *args)


def kind(family: Distribution) -> str:
    return "i" if family.discrete else "f"


def test_every_family_takes_leading_axes_or_its_record_says_no():
    assert set(WITHOUT) <= set(FAMILIES)
    for name in WITHOUT:
        assert len(FAMILIES[name].args) == 1 or (FAMILIES[name].batch, FAMILIES[name].cores) == ("none", ())
    for name in TAKING:
        assert FAMILIES[name].batch != "none" or FAMILIES[name].cores


@pytest.mark.parametrize("name", TAKING)
def test_leading_axes_come_first(name):
    one = drawn(name, {})
    assert np.asarray(one).dtype.kind == kind(FAMILIES[name])
    for chosen in subsets(varying(name)):
        for lead in ((5,), (2, 3), (1,), (0,)):
            several = drawn(name, dict.fromkeys(chosen, lead))
            assert several.shape == (*lead, *np.shape(one))
            assert several.dtype.kind == kind(FAMILIES[name])


@pytest.mark.parametrize("name", [name for name in TAKING if len(varying(name)) > 1])
def test_leads_broadcast(name):
    leads = {i: (2, 1) if at % 2 else (1, 3) for at, i in enumerate(varying(name))}
    assert drawn(name, leads).shape == (2, 3, *np.shape(drawn(name, {})))


# --- Law -----------------------------------------------------------------------------------------

ONCE, ROWS = 2000, 3000  # single calls, and rows of one call, for each setting


@cache
def one_by_one(name: str, settings: tuple[int, ...]) -> np.ndarray:
    args = [arguments(name, setting)[i] for i, setting in enumerate(settings)]
    rng = np.random.default_rng(7)
    return np.stack([FAMILIES[name].rng(rng, *args) for _ in range(ONCE)])


def moments(draws: np.ndarray, middle: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Each coordinate, squeezed so that heavy tails have moments, products of two, and the fourth power.

    A random number that all draws have in common shows in the fourth, one that two have in the products with
    the draw before.
    """
    z = np.arctan((draws.reshape(len(draws), -1) - middle) / scale)
    inside, before = z[:, :, None] * z[:, None, :], z * np.roll(z, 1, axis=0)
    return np.concatenate([z, inside.reshape(len(z), -1), z**4, before], axis=1)


def assert_same_law(found: np.ndarray, expected: np.ndarray) -> None:
    """Means of the moments within five standard errors of one another."""
    flat = expected.reshape(len(expected), -1).astype(float)
    scale = np.std(np.clip(flat, *np.quantile(flat, [0.05, 0.95], axis=0)), axis=0) + 1e-6
    a, b = (moments(x, np.median(flat, axis=0), scale) for x in (found, expected))
    error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
    assert np.all(np.abs(a.mean(axis=0) - b.mean(axis=0)) <= 5.0 * error + 1e-7)


def cases() -> list:
    """Each argument alone with a leading axis, and all of them."""
    return [
        pytest.param(name, chosen, id="-".join((name, *map(str, chosen))))
        for name in TAKING
        for chosen in dict.fromkeys([*((i,) for i in varying(name)), tuple(varying(name))])
    ]


@pytest.mark.rotate
@pytest.mark.parametrize("name, chosen", cases())
def test_each_row_follows_its_own_parameters(name, chosen):
    """Two settings, row by row in turn, against single calls with each."""
    pairs = [np.stack([a, b]) for a, b in zip(arguments(name, 2), arguments(name, 3), strict=True)]
    turns = np.tile([0, 1], ROWS)
    first = arguments(name, 2)
    args = [over(name, i, pair[turns]) if i in chosen else first[i] for i, pair in enumerate(pairs)]
    draws = FAMILIES[name].rng(np.random.default_rng(8), *args)
    for turn, setting in enumerate((2, 3)):
        settings = tuple(setting if i in chosen else 2 for i in range(len(pairs)))
        assert_same_law(draws[turns == turn], one_by_one(name, settings))


def test_small_concentrations_of_many_simplexes():
    """Where gamma variates themselves are too small for floating point."""
    draws = FAMILIES["dirichlet"].rng(np.random.default_rng(1), np.full((20_000, 3), [2e-4, 4e-4, 4e-4]))
    assert_allclose(draws.sum(axis=-1), 1.0)
    assert_allclose(draws.mean(axis=0), [0.2, 0.4, 0.4], atol=5 * 0.5 / 20_000**0.5)


def test_an_array_of_locations_for_each_of_many_scales():
    """The scale matrices get an axis for the array, which lies between the leading axis and the core."""
    mu = 10.0 * np.arange(6.0).reshape(2, 3)
    scales = np.array([0.1, 2.0])[np.arange(4000) % 2, None, None, None] * np.eye(3)
    draws = FAMILIES["multi_normal_cholesky"].rng(np.random.default_rng(4), mu, scales)
    assert draws.shape == (4000, 2, 3)
    assert_allclose(draws[::2].std(axis=0), 0.1, rtol=0.1)
    assert_allclose(draws[1::2].std(axis=0), 2.0, rtol=0.1)
    assert_allclose(draws[::2].mean(axis=0), mu, atol=0.02)


# --- Without leading axes ------------------------------------------------------------------------

S, L = [[2.0, 0.5], [0.5, 1.0]], [[1.5, 0.0], [0.5, 1.0]]
KNOWN = [
    ("dirichlet", [[2.0, 1.0, 3.0]], [0.23260660773095354, 0.26518146410429533, 0.502211928164751]),
    ("multinomial", [[0.2, 0.3, 0.5], 20], [5, 5, 10]),
    ("multinomial_logit", [[0.2, 1.0, -0.5], 20], [7, 11, 2]),
    ("dirichlet_multinomial", [[2.0, 1.0, 3.0], 20], [9, 5, 6]),
    ("multi_normal", [[1.0, -1.0], S], [1.4309350268754408, -1.865082296591701]),
    ("multi_student_t", [4.0, [1.0, -1.0], S], [1.361929341611774, -1.7265565491754162]),
    (
        "multi_student_t_cholesky",
        [4.0, [[1.0, -1.0], [0.0, 2.0]], L],
        [[1.4768952476610455, -1.9261146211259947], [1.241184844049393, 3.4508063106348796]],
    ),
    ("wishart", [5.0, S], [[9.441371754658515, 4.5173125654047315], [4.5173125654047315, 5.040223660039558]]),
    ("wishart_cholesky", [5.0, L], [[3.2590709142316663, 0.0], [1.8368081672170127, 1.8138745394878337]]),
    (
        "inv_wishart",
        [5.0, S],
        [[0.3712729523106178, 0.01309406127024476], [0.01309406127024476, 0.3039383561706858]],
    ),
    (
        "inv_wishart_cholesky",
        [5.0, L],
        [[0.6279943582480342, 0.0], [0.11223697343605026, 0.6060740936612228]],
    ),
    (
        "lkj_corr_cholesky",
        [3, 1.5],
        [
            [1.0, 0.0, 0.0],
            [0.11955051494739243, 0.9928281192511689, 0.0],
            [-0.04123857942324552, 0.02775127990709675, 0.9987638589930407],
        ],
    ),
    ("ordered_logistic", [0.4, [-1.0, 0.5, 2.0]], 3),
    ("ordered_probit", [0.4, [-1.0, 0.5, 2.0]], 3),
]


@pytest.mark.parametrize("name, args, expected", KNOWN, ids=[name for name, *_ in KNOWN])
def test_the_draw_of_a_seed(name, args, expected):
    """A seed gives the draws it gave before there were leading axes."""
    args = [a if isinstance(a, int | float) else np.array(a) for a in args]
    assert_allclose(FAMILIES[name].rng(np.random.default_rng(42), *args), expected, rtol=1e-13, atol=1e-15)


# --- Refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, args",
    [
        ("dirichlet", [np.array([[1.0, 2.0], [-0.5, 1.0]])]),
        ("multinomial", [np.array([[0.5, 0.5], [-0.5, 1.0]]), 3]),
        ("multinomial", [np.array([0.5, 0.5]), np.array([3, -1])]),
        ("multinomial_logit", [np.array([[0.0, 0.5], [np.nan, 1.0]]), 3]),
        ("dirichlet_multinomial", [np.array([[1.0, 2.0], [np.nan, 1.0]]), 3]),
        ("multi_normal", [np.zeros(2), np.stack([np.eye(2), -np.eye(2)])]),
        ("multi_student_t", [np.array([3.0, -1.0]), np.zeros(2), np.eye(2)]),
        ("wishart", [np.array([3.0, 0.5]), np.eye(2)]),
        ("inv_wishart_cholesky", [np.array([0.5, 3.0]), np.eye(2)]),
        ("lkj_corr", [3, np.array([1.0, -1.0])]),
    ],
)
def test_one_wrong_row_is_refused_as_alone(name, args):
    with pytest.raises(ValueError):
        FAMILIES[name].rng(np.random.default_rng(1), *args)


@pytest.mark.parametrize(
    "name, args",
    [
        ("dirichlet", [np.array([[1.0, 2.0], [np.nan, 1.0]])]),
        ("multi_student_t", [np.array([3.0, np.nan]), np.zeros(2), np.eye(2)]),
        ("wishart", [np.array([3.0, np.nan]), np.eye(2)]),
        ("lkj_corr_cholesky", [2, np.array([1.0, np.nan])]),
    ],
)
def test_a_row_without_parameters_has_no_draw(name, args):
    good, bad = FAMILIES[name].rng(np.random.default_rng(1), *args)
    assert np.isfinite(good).all()
    assert np.isnan(bad).any()
