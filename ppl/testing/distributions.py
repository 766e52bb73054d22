"""The laws of a univariate distribution."""

import itertools
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.integrate
import scipy.stats
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from ppl.arrays import AUTOGRAD, NUMPY, Namespace
from ppl.errors import ArgumentError
from ppl.floats import Floats
from ppl.records import dataclass
from ppl.stdlib.library import refuse_distribution
from ppl.stdlib.record import Distribution, Impl
from ppl.stdlib.supports import SUPPORTS
from ppl.testing.law import Law, elementwise_slope, gradient
from ppl.testing.tails import Parameters, assert_tails, values_text

SCALARS = {"reals", "ints", "real", "int"}
TAILS = ("log_density", "cdf", "lcdf", "lccdf")
UNBOUNDED_SUM = 4000
"""Up to which count the masses are added; what lies beyond is the upper tail, where the record has one."""

Points = list[NDArray[Any]]


@dataclass(frozen=True)
class Subject:
    """A distribution and what check_distribution was told of it."""

    d: Distribution
    proper: bool = True
    reference: Callable[..., Any] | None = None
    reference_has_cdf: bool = True


def check_distribution(
    d: Distribution,
    proper: bool = True,
    reference: Callable[..., Any] | None = None,
    reference_has_cdf: bool = True,
) -> None:
    """Test a univariate distribution against every law, at random points of the supports in its record.

    The density integrates (the mass sums) to one, unless it is not `proper`. Derivatives equal finite
    differences. Cdfs agree with the density and with each other, and draws with both. Arrays equal loops.
    Values outside the support or the domain are -inf or nan. `reference(*parameters)` is a frozen
    distribution of SciPy that must agree; its cdf is compared if `reference_has_cdf`.

    Raises:
        AssertionError: a law does not hold; the message says which, and gives the numbers.
        ArgumentError: the record is not well formed, or not of a univariate distribution, whose arguments are
            all scalars.

    Example:
        >>> from ppl.stdlib.distributions.normal import NORMAL
        >>> check_distribution(NORMAL, reference=lambda mu, sigma: scipy.stats.norm(mu, sigma))
    """
    refuse_distribution(d)
    if not is_univariate(d):
        raise ArgumentError(f"`{d.name}` is not univariate: there are no laws for {d.signatures[0]!r} here")
    subject = Subject(d, proper, reference, reference_has_cdf)
    for law in LAWS:
        if law.applies(subject):
            law.check(subject, d.name)


def is_univariate(d: Distribution) -> bool:
    return bool(d.signatures) and set(re.findall(r"\w+", d.signatures[0])) <= SCALARS


# --- Points ----------------------------------------------------------------------------------------


def sample_variate(d: Distribution, rng: np.random.Generator, parameters: Sequence[Any]) -> float | int:
    if d.rng is not None:
        return np.asarray(d.rng(rng, *parameters)).item()
    return SUPPORTS[d.args[0][1]].sample(rng, ()).item()


def sample_points(d: Distribution, n: int, seed: int = 1) -> Points:
    """n points (y, *parameters) of positive density, one array of shape (n,) for each argument."""
    rng, points = np.random.default_rng(seed), []
    for _ in range(1000):
        parameters = [SUPPORTS[support].sample(rng, ()).item() for _, support in d.args[1:]]
        if np.isnan(d.log_density(NUMPY, 0, *parameters)):
            continue
        point = [sample_variate(d, rng, parameters), *parameters]
        if np.isfinite(d.log_density(NUMPY, *point)):
            points.append(point)
        if len(points) == n:
            return [np.array(column) for column in zip(*points, strict=True)]
    raise AssertionError("the supports of its record give no point of positive density")


def sample_valid_parameters(d: Distribution, seed: int = 1) -> Parameters:
    return [column[0].item() for column in sample_points(d, 1, seed)[1:]]


def functions_of(d: Distribution) -> list[tuple[str, Impl]]:
    return [(name, getattr(d, name)) for name in TAILS if getattr(d, name) is not None]


def real_arguments(d: Distribution) -> list[int]:
    return [i for i, (_, support) in enumerate(d.args) if not SUPPORTS[support].discrete]


HALF_LINE, UNIT = (0.0, np.inf), (0.0, 1.0)
ENDS = {"positive": HALF_LINE, "nonnegative": HALF_LINE, "unit_interval": UNIT, "open_unit": UNIT}
ENDS["angle"] = (-np.pi, np.pi)


def ends(support: str) -> tuple[float, float]:
    return ENDS.get(support, (-np.inf, np.inf))


# --- Derivatives -----------------------------------------------------------------------------------


def arguments_are_known(s: Subject) -> None:
    assert {support for _, support in s.d.args} <= SUPPORTS.keys()
    assert s.d.args[0][0] == "y", f"the variate is called {s.d.args[0][0]!r}"


def gradient_is_the_difference(s: Subject) -> None:
    d, points = s.d, sample_points(s.d, 12)
    for name, function in functions_of(d):
        finite = np.isfinite(function(NUMPY, *points))
        some = [column[finite] for column in points]
        for i in real_arguments(d):
            of_one = of_argument(function, some, i)
            at = some[i].astype(float)
            expected = elementwise_slope(partial(of_one, NUMPY), at, *ends(d.args[i][1]))
            assert_allclose(
                gradient(of_one, at), expected, rtol=1e-6, atol=1e-8, err_msg=f"{name} in {d.args[i][0]}"
            )


def of_argument(function: Impl, points: Points, i: int) -> Callable[..., Any]:
    """The function of one argument alone."""
    return lambda xp, x: function(xp, *points[:i], x, *points[i + 1 :])


def shared_gradient_is_the_sum(s: Subject) -> None:
    d, points = s.d, sample_points(s.d, 6, seed=5)
    for name, function in functions_of(d):
        for i in real_arguments(d):
            shared = points[i][0]
            mixed = [np.full(6, shared) if j == i else column for j, column in enumerate(points)]
            finite = np.isfinite(function(NUMPY, *mixed))
            some = [column[finite] for column in mixed]
            of_one = of_argument(function, some, i)
            entries, total = gradient(of_one, some[i].astype(float)), gradient(of_one, np.float64(shared))
            message = f"{name} in {d.args[i][0]}"
            assert np.shape(total) == (), message
            assert_allclose(total, np.sum(entries), rtol=1e-10, atol=1e-12, err_msg=message)


def gradient_of_a_single_point(s: Subject) -> None:
    """Scalars taken from a vector of parameters, as a program takes them."""
    points = [column[:1] for column in sample_points(s.d, 1, seed=6)]
    real = real_arguments(s.d)
    u = np.array([float(points[i][0]) for i in real])

    def at(function: Impl, xp: Namespace, v: Any) -> Any:
        return function(xp, *(v[real.index(i)] if i in real else points[i][0] for i in range(len(points))))

    for name, function in functions_of(s.d):
        if not np.isfinite(function(NUMPY, *points)[0]):
            continue
        slopes = gradient(partial(at, function), u)
        for i in real:
            entry = gradient(of_argument(function, points, i), points[i].astype(float))
            assert_allclose(slopes[real.index(i)], entry[0], rtol=1e-12, atol=1e-14, err_msg=name)


# --- Arrays ----------------------------------------------------------------------------------------


def namespaces_agree(s: Subject) -> None:
    points = sample_points(s.d, 5)
    for name, function in functions_of(s.d):
        assert_allclose(function(AUTOGRAD, *points), function(NUMPY, *points), rtol=1e-14, err_msg=name)


def arrays_are_loops(s: Subject) -> None:
    points = sample_points(s.d, 5)
    for name, function in functions_of(s.d):
        loop = [function(NUMPY, *(column[k].item() for column in points)) for k in range(5)]
        assert_allclose(function(NUMPY, *points), loop, rtol=1e-12, atol=1e-14, err_msg=name)
        for i in range(len(points)):
            mixed = [column[0].item() if j == i else column for j, column in enumerate(points)]
            loop = [function(NUMPY, *(np.broadcast_to(c, 5)[k].item() for c in mixed)) for k in range(5)]
            assert_allclose(function(NUMPY, *mixed), loop, rtol=1e-12, atol=1e-14, err_msg=name)


def empty_variates_have_empty_densities(s: Subject) -> None:
    parameters = sample_valid_parameters(s.d)
    empty = np.zeros(0, int if s.d.discrete else float)
    for name, function in functions_of(s.d):
        shape = np.shape(function(NUMPY, empty, *parameters))
        assert shape == (0,), f"{name} of no variate has the shape {shape}"


# --- Probabilities ---------------------------------------------------------------------------------


def panels(d: Distribution, parameters: Parameters, seed: int = 3) -> list[tuple[float, float]]:
    """Intervals on which the density is smooth: between quantiles of draws, parameters and ends."""
    rng = np.random.default_rng(seed)
    draws = [sample_variate(d, rng, parameters) for _ in range(400)]
    low, high = ends(d.args[0][1])
    inner = [*np.quantile(draws, [0.0, 0.1, 0.35, 0.65, 0.9, 1.0]), *parameters]
    edges = [low, *sorted({x for x in inner if low < x < high}), high]
    return list(itertools.pairwise(edges))


def integral(d: Distribution, parameters: Parameters) -> float:
    def density(y: float) -> float:
        return float(np.exp(d.log_density(NUMPY, y, *parameters)))

    return sum(float(scipy.integrate.quad(density, a, b, epsabs=1e-11)[0]) for a, b in panels(d, parameters))


def density_integrates_to_one(s: Subject) -> None:
    for seed in (1, 2):
        parameters = sample_valid_parameters(s.d, seed)
        total = integral(s.d, parameters)
        assert abs(total - 1.0) <= 1e-8, f"it is {total:.10g} at {values_text(s.d, parameters)}"


def mass_sums_to_one(s: Subject) -> None:
    d = s.d
    for seed in (1, 2):
        parameters = sample_valid_parameters(d, seed)
        y = np.arange(-50, UNBOUNDED_SUM)
        total = np.sum(np.exp(d.log_density(NUMPY, y, *parameters)))
        tail = np.exp(d.lccdf(NUMPY, y[-1], *parameters)) if d.lccdf else 0.0
        assert abs(total + tail - 1.0) <= 1e-9, f"it is {total + tail:.10g} at {values_text(d, parameters)}"


def slope_of_the_cdf_is_the_density(s: Subject) -> None:
    d, points = s.d, sample_points(s.d, 12, seed=2)
    assert d.cdf is not None
    slope = gradient(of_argument(d.cdf, points, 0), points[0])
    assert_allclose(slope, np.exp(d.log_density(NUMPY, *points)), rtol=1e-10)


def steps_of_the_cdf_are_the_mass(s: Subject) -> None:
    d, (y, *parameters) = s.d, sample_points(s.d, 12, seed=2)
    assert d.cdf is not None
    step = d.cdf(NUMPY, y, *parameters) - d.cdf(NUMPY, y - 1, *parameters)
    assert_allclose(step, np.exp(d.log_density(NUMPY, y, *parameters)), rtol=1e-8, atol=1e-12)


def cdfs_agree(s: Subject) -> None:
    d, points = s.d, sample_points(s.d, 12, seed=3)
    assert d.lccdf is not None and d.lcdf is not None, "it has lccdf, but no lcdf"
    lower, upper = np.exp(d.lcdf(NUMPY, *points)), np.exp(d.lccdf(NUMPY, *points))
    assert_allclose(lower + upper, 1.0, rtol=1e-12, err_msg="exp(lcdf) + exp(lccdf)")
    if d.cdf is not None:
        assert_allclose(lower, d.cdf(NUMPY, *points), rtol=1e-11, err_msg="exp(lcdf) and cdf")


def tails_are_the_mass_beyond(s: Subject) -> None:
    for seed in (1, 2):
        parameters = sample_valid_parameters(s.d, seed)
        assert_tails(s.d, parameters, middle(s.d, parameters), ends)


def middle(d: Distribution, parameters: Parameters) -> float:
    """The median of a few draws."""
    rng = np.random.default_rng(3)
    return float(np.median([sample_variate(d, rng, parameters) for _ in range(99)]))


# --- Draws -----------------------------------------------------------------------------------------


def draws_broadcast(s: Subject) -> None:
    d, parameters = s.d, sample_points(s.d, 4)[1:]
    assert d.rng is not None
    rng = np.random.default_rng(1)
    assert np.shape(d.rng(rng, *(p[0].item() for p in parameters))) == ()
    if parameters:
        assert np.shape(d.rng(rng, *parameters)) == (4,)
        assert np.shape(d.rng(rng, parameters[0], *(p[0].item() for p in parameters[1:]))) == (4,)
    kind = "iu" if d.discrete else "f"
    assert np.asarray(d.rng(rng, *(p[0].item() for p in parameters))).dtype.kind in kind


def many_draws(d: Distribution, parameters: Parameters, n: int) -> NDArray[Any]:
    assert d.rng is not None
    rng = np.random.default_rng(11)
    if not parameters:
        return np.array([d.rng(rng) for _ in range(n)])
    return np.asarray(d.rng(rng, np.full(n, parameters[0]), *parameters[1:]))


def draws_follow_the_cdf(s: Subject) -> None:
    """The probability transform of draws is uniform (Kolmogorov-Smirnov)."""
    d, parameters = s.d, sample_valid_parameters(s.d)
    draws = many_draws(d, parameters, 3000)
    pvalue = scipy.stats.kstest(heights(d, draws, parameters), "uniform").pvalue
    assert pvalue > 1e-3, f"the Kolmogorov-Smirnov test has p = {pvalue:.2g} at {values_text(d, parameters)}"


def heights(d: Distribution, draws: Floats, parameters: Parameters) -> Floats:
    """The cdf at draws, by the density where the record has none."""
    if d.cdf is not None:
        return np.asarray(d.cdf(NUMPY, draws, *parameters))
    if d.lcdf is not None:
        return np.asarray(np.exp(d.lcdf(NUMPY, draws, *parameters)))
    return by_the_density(d, draws, parameters)


def by_the_density(d: Distribution, draws: Floats, parameters: Parameters) -> Floats:
    """The cdf at draws, integrated from one to the next."""

    def density(y: float) -> float:
        return float(np.exp(d.log_density(NUMPY, y, *parameters)))

    order = np.argsort(draws)
    edges = [ends(d.args[0][1])[0], *draws[order]]
    steps = [scipy.integrate.quad(density, a, b, epsabs=1e-8)[0] for a, b in itertools.pairwise(edges)]
    probabilities = np.empty(len(draws))
    probabilities[order] = np.cumsum(steps)
    return probabilities


def draws_follow_the_mass(s: Subject) -> None:
    """Frequencies of the values against their probabilities, each within five standard errors."""
    d, parameters = s.d, sample_valid_parameters(s.d)
    draws = many_draws(d, parameters, 4000)
    values = np.arange(draws.min() - 1, min(draws.max() + 2, draws.min() + 40))
    mass = np.exp(d.log_density(NUMPY, values, *parameters))
    frequency = np.mean(draws[:, None] == values, axis=0)
    far = np.abs(frequency - mass) > 5.0 * np.sqrt(mass * (1.0 - mass) / 4000) + 1e-12
    assert not far.any(), (
        f"{values[far][0]} has the share {frequency[far][0]:.4f} of the draws, and mass {mass[far][0]:.4f}, "
        f"at {values_text(d, parameters)}"
    )


# --- Outside ---------------------------------------------------------------------------------------

OUTSIDE: dict[str, tuple[float, ...]] = {
    "positive": (-0.5,),
    "nonnegative": (-0.5,),
    "unit_interval": (-0.2, 1.5),
    "count": (-1,),
    "binary": (-1, 2),
}
INVALID = {"positive": (-1.0, 0.0), "open_unit": (-0.1, 1.2), "unit_interval": (-0.1, 1.2)}


def zero_outside_the_support(s: Subject) -> None:
    for y in OUTSIDE[s.d.args[0][1]]:
        value = s.d.log_density(NUMPY, y, *sample_valid_parameters(s.d))
        assert value == -np.inf, f"the log density of {y} is {value}"


def no_number_outside_the_domain(s: Subject) -> None:
    d, points = s.d, [column[0].item() for column in sample_points(s.d, 1)]
    for i, (argument, support) in list(enumerate(d.args))[1:]:
        for bad in INVALID.get(support, ()):
            for name, function in functions_of(d):
                value = function(NUMPY, *points[:i], bad, *points[i + 1 :])
                fine = np.isnan(value) or (name == "log_density" and value == -np.inf)
                assert fine, f"{name} is {value} at {argument} = {bad}"


def constants_are_finite(s: Subject) -> None:
    d = s.d
    points = dict(zip([name for name, _ in d.args], sample_points(d, 4), strict=True))
    for needs, term, *sizes in d.constants:
        names = (*needs, *(sizes[0] if sizes else ()))
        assert set(names) <= points.keys(), f"a constant needs {names}; the arguments are {', '.join(points)}"
        values = term(NUMPY, *(points[name] for name in names))
        assert np.all(np.isfinite(values)), f"the constant of {needs} is {values}"


def agrees_with_the_reference(s: Subject) -> None:
    d, points = s.d, sample_points(s.d, 20, seed=4)
    assert s.reference is not None
    y, reference = points[0], s.reference(*points[1:])
    theirs = {
        "log_density": reference.logpmf if d.discrete else reference.logpdf,
        "cdf": reference.cdf,
        "lcdf": reference.logcdf,
        "lccdf": reference.logsf,
    }
    for name, function in functions_of(d):
        if name == "log_density" or s.reference_has_cdf:
            assert_allclose(function(NUMPY, *points), theirs[name](y), rtol=1e-9, atol=1e-12, err_msg=name)


LAWS: tuple[Law[Subject], ...] = (
    Law("every argument has a support, and the variate is y", arguments_are_known),
    Law(
        "outside its support the density is zero",
        zero_outside_the_support,
        lambda s: s.d.args[0][1] in OUTSIDE,
    ),
    Law("a parameter outside its domain gives nan, or no density", no_number_outside_the_domain),
    Law("both namespaces give the same values", namespaces_agree),
    Law("arrays are loops over scalars", arrays_are_loops),
    Law("no variate has no density", empty_variates_have_empty_densities),
    Law("the gradient is the finite difference", gradient_is_the_difference),
    Law(
        "the gradient of a scalar beside arrays is the sum of theirs",
        shared_gradient_is_the_sum,
        lambda s: len(s.d.args) > 1,
    ),
    Law("the gradient at a single point", gradient_of_a_single_point, lambda s: bool(real_arguments(s.d))),
    Law(
        "the density integrates to one",
        density_integrates_to_one,
        lambda s: not s.d.discrete and s.proper,
    ),
    Law("the mass sums to one", mass_sums_to_one, lambda s: s.d.discrete and s.proper),
    Law(
        "the slope of the cdf is the density",
        slope_of_the_cdf_is_the_density,
        lambda s: not s.d.discrete and s.d.cdf is not None,
    ),
    Law(
        "the steps of the cdf are the mass",
        steps_of_the_cdf_are_the_mass,
        lambda s: s.d.discrete and s.d.cdf is not None,
    ),
    Law("cdf, lcdf and lccdf agree", cdfs_agree, lambda s: s.d.lccdf is not None),
    Law(
        "far in the tails lcdf and lccdf are logs of the mass beyond",
        tails_are_the_mass_beyond,
        lambda s: s.d.lcdf is not None or s.d.lccdf is not None,
    ),
    Law("one draw for each entry of the arguments", draws_broadcast, lambda s: s.d.rng is not None),
    Law("draws follow the cdf", draws_follow_the_cdf, lambda s: not s.d.discrete and s.d.rng is not None),
    Law("draws follow the mass", draws_follow_the_mass, lambda s: s.d.discrete and s.d.rng is not None),
    Law("constants are finite terms of named arguments", constants_are_finite),
    Law("the reference has the same values", agrees_with_the_reference, lambda s: s.reference is not None),
)
"""Every law of a univariate distribution, those that explain most first."""
