"""The laws of lcdf and lccdf far in the tails, where probabilities underflow.

A tail's mass is integrated from the density relative to its value at the variate, so that nothing underflows:
by the double exponential rule (Takahasi and Mori 1974, Publ. RIMS 9), which copes with tails that decay as
exponentials, as powers or up to an end of the support.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.special
from numpy.testing import assert_allclose

from ppl.arrays import NUMPY, Namespace
from ppl.floats import Floats
from ppl.records import dataclass
from ppl.stdlib.record import Distribution, Impl
from ppl.stdlib.supports import SUPPORTS
from ppl.testing.law import elementwise_slope, gradient

Parameters = Sequence[float | int]


def values_text(d: Distribution, parameters: Parameters) -> str:
    names = [name for name, _ in d.args[1:]]
    return (
        ", ".join(f"{name} = {x:.6g}" for name, x in zip(names, parameters, strict=True)) or "no parameters"
    )


Ends = tuple[float, float]


@dataclass(frozen=True)
class TailLimits:
    """Where tails are looked at, and how closely they have to agree."""

    highest: float = -30.0
    """The log probability at which a tail begins."""

    lowest: float = -700.0
    """The log probability beyond which it is not followed: doubles end there."""

    points: int = 12
    """Points of a tail, evenly spread over its log probabilities."""

    candidates: int = 100
    """Points of a tail at which its mass is computed, to find those."""

    tolerance: float = 1e-8
    """Relative, of log probabilities and of slopes in the variate."""

    slope_tolerance: float = 1e-5
    """Relative, of slopes in the parameters: finite differences are no better."""

    nearest_end: float = 1e-6
    """Distance from an end of the support other than 0, relative to the end, as far as doubles resolve it."""

    terms: int = 8_000
    """Masses that are added in a tail of a count."""


FAR_TAIL = TailLimits()


@dataclass(frozen=True)
class Tail:
    """One tail of a distribution at some parameters.

    `sign` is -1 of the lower tail and 1 of the upper, `function` the record's lcdf or lccdf; `log_mass` (n,)
    is the log of the mass beyond the variates `y` (n,), from the inside out.
    """

    d: Distribution
    parameters: Parameters
    name: str
    function: Impl
    sign: int
    y: Any
    log_mass: Floats


def tails_of(
    d: Distribution, parameters: Parameters, centre: float, ends: tuple[float, float]
) -> Iterator[Tail]:
    """The tails of a distribution around `centre` whose mass is known; `ends` are those of its support."""
    density = partial(_log_density, d, parameters)
    for name, function, sign, end in (("lcdf", d.lcdf, -1, ends[0]), ("lccdf", d.lccdf, 1, ends[1])):
        if function is None:
            continue
        y, log_mass = (_counts if d.discrete else _variates)(density, centre, sign, end)
        inside = np.flatnonzero((log_mass <= FAR_TAIL.highest) & (log_mass >= FAR_TAIL.lowest))
        if inside.size:
            some = spread(inside, FAR_TAIL.points)
            yield Tail(d, parameters, name, function, sign, y[some], log_mass[some])


def _log_density(d: Distribution, parameters: Parameters, y: Any) -> Floats:
    with np.errstate(all="ignore"):
        return np.asarray(d.log_density(NUMPY, y, *parameters), float)


def spread(x: Any, n: int) -> Any:
    """At most n entries of an array, evenly spread over their places."""
    return x[np.unique(np.linspace(0, x.size - 1, min(n, x.size)).round().astype(int))]


# --- Counts ----------------------------------------------------------------------------------------


def _counts(density: Callable[[Any], Floats], centre: float, sign: int, _end: float) -> tuple[Any, Floats]:
    """Counts y (n,) in a tail, and the log of the sum of the masses beyond, y excluded in the upper one."""
    y = int(centre) + sign * np.unique(np.geomspace(1, FAR_TAIL.terms, 400).astype(int))
    mass = density(y)
    y = spread(y[(mass <= 0.5 * FAR_TAIL.highest) & (mass >= FAR_TAIL.lowest)], 2 * FAR_TAIL.points)
    beyond = np.arange(FAR_TAIL.terms) if sign < 0 else 1 + np.arange(FAR_TAIL.terms)
    logs = [density(count + sign * beyond) for count in y.tolist()]
    masses = np.array(logs).reshape(y.size, FAR_TAIL.terms)
    complete = (masses[:, -1] <= masses[:, 0] - 40.0) if y.size else np.zeros(0, bool)
    return y[complete], np.asarray(scipy.special.logsumexp(masses[complete], axis=1))


# --- Continuous variates ---------------------------------------------------------------------------


def _variates(density: Callable[[Any], Floats], centre: float, sign: int, end: float) -> tuple[Any, Floats]:
    """Variates y (n,) in a tail, from the inside out, and the log of the integral of the density beyond."""
    end = _end_of_density(density, centre, sign, end)
    y = _ladder(centre, sign, end)
    at = density(y)
    y, at = y[np.isfinite(at)], at[np.isfinite(at)]
    if not y.size:
        return y, y
    y = y[_evenly(at, np.log(np.abs(y - centre) if np.isinf(end) else np.abs(y - end)))]
    fine, coarse = (
        log_tail(density, y, sign, end, step, nearest)
        for step, nearest in ((1 / 32, 1e-307), (1 / 16, 1e-290))
    )
    settled = np.abs(fine - coarse) <= 0.1 * FAR_TAIL.tolerance
    return y[settled], fine[settled]


def _ladder(centre: float, sign: int, end: float) -> Floats:
    """Points from near the centre outwards to a finite end or to very far, geometrically from either."""
    room = abs(centre - end)
    outwards = max(1e-3, abs(centre)) * 10.0 ** np.arange(-9.0, 140.0, 0.03)
    if np.isinf(end):
        return centre + sign * outwards
    inwards = room * 10.0 ** -np.arange(0.0, 300.0, 0.05)
    inwards = inwards[inwards > FAR_TAIL.nearest_end * abs(end)]
    outer = 0.5 * room
    return np.concatenate(
        [centre + sign * outwards[outwards < outer], end - sign * inwards[inwards <= outer]]
    )


def _evenly(at: Floats, log_distance: Floats) -> Any:
    """Places at which density and distance, in logs, have changed by about as much from one to the next."""
    change = np.cumsum(
        np.abs(np.diff(at, prepend=at[0])) + np.abs(np.diff(log_distance, prepend=log_distance[0]))
    )
    most = -3.0 * FAR_TAIL.lowest
    wanted = np.linspace(0.0, min(most, change[-1]), FAR_TAIL.candidates)
    return np.unique(np.minimum(np.searchsorted(change, wanted), len(at) - 1))


def _end_of_density(density: Callable[[Any], Floats], centre: float, sign: int, end: float) -> float:
    """Where the density ends: at `end`, or before it at a place that a parameter gives."""
    away = 10.0 ** np.arange(-9.0, 140.0, 0.1)
    y = centre + sign * away
    zero = np.flatnonzero((y * sign < end * sign) & (density(y) == -np.inf))
    if not zero.size or zero[0] == 0:
        return end
    inner, outer = float(y[zero[0] - 1]), float(y[zero[0]])
    for _ in range(200):
        middle = 0.5 * (inner + outer)
        inner, outer = (middle, outer) if np.isfinite(density(np.array([middle]))[0]) else (inner, middle)
    underflows = density(np.array([inner]))[0] < 2 * FAR_TAIL.lowest
    return end if underflows else outer


def log_tail(
    density: Callable[[Any], Floats], y: Floats, sign: int, end: float, step: float, nearest: float
) -> Floats:
    """The log of the integral of exp(density) from each y (n,) to the end of that side, (n,).

    Nothing is added nearer than `nearest` to a finite end.
    """
    at = density(y)[:, None]

    def relative(v: Floats) -> Floats:
        """The log integrand at distances v (n, k), in the log of what is left before an end."""
        if np.isinf(end):
            return density(y[:, None] + sign * v) - at
        left = (end - y)[:, None] * np.exp(-v)
        x = end - left
        resolved = np.abs(left) > nearest
        return np.where(resolved, density(x), -np.inf) - at + np.log(np.abs(left))

    scale = _scale(relative, y.size)
    u = np.arange(-6.0, 6.0 + step, step)
    log_nodes = 0.5 * np.pi * np.sinh(u)
    log_weights = np.log(0.5 * np.pi * step * np.cosh(u)) + log_nodes
    with np.errstate(all="ignore"):
        terms = relative(scale * np.exp(log_nodes)) + log_weights + np.log(scale)
    return np.asarray(scipy.special.logsumexp(np.where(np.isnan(terms), -np.inf, terms), axis=1) + at[:, 0])


def _scale(relative: Callable[[Floats], Floats], n: int) -> Floats:
    """The distance (n, 1) over which the integrand falls by a factor of e, about."""
    trial = np.broadcast_to(10.0 ** np.arange(-25.0, 145.0, 0.5), (n, 340))
    with np.errstate(all="ignore"):
        falls = relative(trial) - relative(np.zeros((n, 1)))
    best = np.argmin(np.where(np.isfinite(falls), np.abs(falls + 1.0), np.inf), axis=1)
    return np.asarray(trial[0, best][:, None])


# --- Laws ------------------------------------------------------------------------------------------


def assert_tails(d: Distribution, parameters: Parameters, centre: float, ends: Callable[[str], Ends]) -> None:
    """Hold lcdf and lccdf to the mass of their tails, and their gradients; `ends` are those of a support."""
    supports = [None if SUPPORTS[name].discrete else ends(name) for _, name in d.args]
    with np.errstate(all="ignore"):
        for tail in tails_of(d, parameters, centre, ends(d.args[0][1])):
            assert_values(tail)
            if not d.discrete:
                assert_slopes_in_the_variate(tail)
            assert_slopes_in_the_parameters(tail, supports[1:])


def assert_values(tail: Tail) -> None:
    value = np.asarray(tail.function(NUMPY, tail.y, *tail.parameters))
    assert_allclose(value, tail.log_mass, rtol=FAR_TAIL.tolerance, err_msg=_where(tail))
    assert (np.diff(value) < 0).all(), f"{_where(tail)} is not monotone: {value}"


def assert_slopes_in_the_variate(tail: Tail) -> None:
    """The slope of the log mass is the density over the mass."""
    slopes = gradient(lambda xp, y: tail.function(xp, y, *tail.parameters), tail.y)
    density = _log_density(tail.d, tail.parameters, tail.y)
    expected = -tail.sign * np.exp(density - tail.log_mass)
    assert_allclose(slopes, expected, rtol=FAR_TAIL.tolerance, err_msg=f"the slope of {_where(tail)} in y")


def assert_slopes_in_the_parameters(tail: Tail, supports: Sequence[Ends | None]) -> None:
    """The gradient in each parameter is the finite difference, where one can be taken.

    `supports` are the ends of the parameters', None of one that is an integer. Steps are relative.
    """
    for i, support in enumerate(supports):
        if support is None:
            continue
        scale = abs(tail.parameters[i]) or 1.0
        at = np.full(len(tail.y), tail.parameters[i] / scale)
        in_parameter = partial(_in_parameter, tail, i, scale)
        with np.errstate(all="ignore"):
            expected = elementwise_slope(
                partial(in_parameter, NUMPY), at, support[0] / scale, support[1] / scale
            )
        slopes = gradient(in_parameter, at)
        assert np.isfinite(slopes).all(), (
            f"the slope of {_where(tail)} in {tail.d.args[i + 1][0]} is {slopes}"
        )
        assert_allclose(
            np.where(np.isfinite(expected), slopes, 0.0),
            np.where(np.isfinite(expected), expected, 0.0),
            rtol=FAR_TAIL.slope_tolerance,
            atol=1e-10 * np.abs(tail.log_mass).max(),
            err_msg=f"the slope of {_where(tail)} in {tail.d.args[i + 1][0]}, times {scale:.3g}",
        )


def _in_parameter(tail: Tail, i: int, scale: float, xp: Namespace, x: Any) -> Any:
    """The function of the parameter i alone, in units of `scale`."""
    before, after = tail.parameters[:i], tail.parameters[i + 1 :]
    return tail.function(xp, tail.y, *before, scale * x, *after)


def _where(tail: Tail) -> str:
    y = np.array2string(np.asarray(tail.y), precision=6)
    return f"{tail.name} at y = {y}; {values_text(tail.d, tail.parameters)}"
