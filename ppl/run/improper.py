"""Directions in which a posterior is flat without end: then it is no distribution, and no fit can be one.

A parameter that the target does not depend on keeps its prior, which is flat over its declared range. Between
two bounds, or on a simplex, that is a proper one; over R or above one bound it has no integral (Stan User's
Guide, "Improper priors").
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ppl.density.log_density import LogDensity
from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.density.layout import Positions
from ppl.run import improper_lines
from ppl.system.threads import as_many_threads_as_pay

FAR_OUT = 30.0
"""Where a density between two bounds falls off for good, on the unconstrained scale."""
MOST_FLAT_NAMED = 10
"""Parameters that the message names."""
FLAT_SEED = 0x666C61
"""The seed "fla" of the points and directions, so that the same program is told the same."""


def refuse_improper(posterior: LogDensity) -> None:
    """Refuse a posterior that cannot be normalised because parameters do not enter it.

    Raises:
        InferenceError: the target does not depend on a parameter whose range is unbounded, or does not change
            along a line, as where it depends on a sum of two; it names them.
    """
    endless = flat_directions(posterior)
    if endless.size:
        raise InferenceError(sentence(posterior, endless), "PPL976")
    with as_many_threads_as_pay(vars(posterior.d), lambda: posterior.width):
        lines = improper_lines.flat_lines(posterior)
    if lines:
        raise InferenceError(improper_lines.sentence(posterior, lines), "PPL976")


def flat_directions(posterior: LogDensity) -> Positions:
    """The elements of `u` along which the posterior is flat without end.

    The gradient says which may be, their values far away which are, whatever the Jacobian of a range does.
    """
    dim = posterior.param_unc_num()
    point = np.random.default_rng(FLAT_SEED).uniform(-1, 1, dim)
    still = unmoved(posterior, point, np.arange(dim))
    if not still.size:
        return still
    still = unmoved(posterior, -0.7 * point, still)
    flat = those_flat(posterior, still, lambda some: is_flat(posterior, point, some))
    return flat[~falls_off(posterior, point, flat)] if flat.size else flat


def unmoved(posterior: LogDensity, u: Floats, among: Positions) -> Positions:
    """Those elements in which the target has no slope at `u`; none where it is not finite there."""
    value, gradient = posterior.log_density_gradient(u, jacobian=False)
    return among[gradient[among] == 0.0] if np.isfinite(value) else among[:0]


def those_flat(posterior: LogDensity, some: Positions, flat: Callable[[Positions], bool]) -> Positions:
    """Those of some elements that can be moved without a change: by halves, as most often all can."""
    if not some.size or flat(some):
        return some
    if some.size == 1:
        return some[:0]
    half = len(some) // 2
    return np.concatenate([those_flat(posterior, part, flat) for part in (some[:half], some[half:])])


def is_flat(posterior: LogDensity, u: Floats, some: Positions) -> bool:
    """Whether the target stays what it is, to the last digit, wherever these elements are moved to."""
    here = posterior.log_density(u, jacobian=False)
    rng = np.random.default_rng(FLAT_SEED)
    for scale in (0.3, 3.0, FAR_OUT):
        point = u.copy()
        point[some] = rng.uniform(-scale, scale, len(some))
        if posterior.log_density(point, jacobian=False) != here:
            return False
    return True


def falls_off(posterior: LogDensity, u: Floats, some: Positions) -> NDArray[np.bool_]:
    """Which of the elements the log-Jacobian of a range brings back from both sides, each by itself."""
    inside = posterior.in_bounded_sets[some]
    left = some[~inside]
    for side in (-FAR_OUT, FAR_OUT) if left.size else ():
        point = u.copy()
        point[left] = side
        slope = posterior.log_density_gradient(point)[1][left]
        left = left[np.sign(slope) == -np.sign(side)]
    return inside | np.isin(some, left)


def sentence(posterior: LogDensity, endless: Positions) -> str:
    all_names = posterior.param_unc_names()
    names = [f"`{all_names[k]}`" for k in endless]
    whole = len(endless) == len(all_names)
    return (
        "The posterior is improper: the log density does not depend on "
        f"{'any parameter: ' if whole and len(names) > 1 else ''}{name_list(names)}, "
        f"and {'its range is' if len(names) == 1 else 'their ranges are'} infinite, so it cannot be "
        "normalised.\n"
        f"Give {'it' if len(names) == 1 else 'them'} a prior, as in `{all_names[endless[0]].split('.')[0]} ~ "
        "normal(0, 1);`, or bounds on both sides, or remove the declaration."
    )


def name_list(names: Sequence[str]) -> str:
    """The names; of many the first few, and how many more there are."""
    if len(names) > MOST_FLAT_NAMED:
        names = [*names[:MOST_FLAT_NAMED], f"{len(names) - MOST_FLAT_NAMED} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
