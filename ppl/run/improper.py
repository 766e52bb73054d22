"""Directions in which a posterior is flat without end: then it is no distribution, and no fit can be one.

A parameter that the target does not depend on keeps its prior, which is flat over its declared range. Between
two bounds, or on a simplex, that is a proper one; over R or above one bound it has no integral (Stan User's
Guide, "Improper priors").
"""

from collections.abc import Callable, Sequence

import numpy as np

from ppl.density.problem import Problem
from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.target import Target
from ppl.kernel.density.layout import Positions
from ppl.run import improper_lines

FAR_OUT = 30.0
"""Where a density between two bounds falls off for good, on the unconstrained scale."""
MOST_FLAT_NAMED = 10
"""Parameters that the message names."""
FLAT_SEED = 0x666C61
"""The seed "fla" of the points and directions, so that the same program is told the same."""


def refuse_improper(problem: Problem, whole: Target, plain: Target) -> None:
    """Refuse a posterior that cannot be normalised because parameters do not enter it.

    The log density is that of the `whole`, and `plain` without the log-Jacobian of the transforms. An earlier
    fit is a proper prior.

    Raises:
        InferenceError: the target does not depend on a parameter whose range is unbounded, or does not change
            along a line, as where it depends on a sum of two; it names them.
    """
    if problem.is_updated:
        return
    endless = flat_directions(problem, whole, plain)
    if endless.size:
        raise InferenceError(sentence(problem.names, endless), "PPL976")
    lines = improper_lines.flat_lines(problem, whole, plain)
    if lines:
        raise InferenceError(improper_lines.sentence(problem.names, whole.kinds, lines), "PPL976")


def flat_directions(problem: Problem, whole: Target, plain: Target) -> Positions:
    """The elements of `u` along which the posterior is flat without end.

    The gradient says which may be, their values far away which are, whatever the Jacobian of a range does.
    """
    point = np.random.default_rng(FLAT_SEED).uniform(-1, 1, plain.dim)
    still = unmoved(plain, point, np.arange(plain.dim))
    if not still.size:
        return still
    still = unmoved(plain, -0.7 * point, still)
    flat = those_flat(still, lambda some: is_flat(plain, point, some))
    flat = flat[~problem.in_bounded_sets[flat]]
    return np.setdiff1d(flat, brought_back(whole, point, flat))


def unmoved(plain: Target, u: Floats, among: Positions) -> Positions:
    """Those elements in which the target has no slope at `u`; none where it is not finite there."""
    value, gradient = plain.log_density_gradient(u)
    return among[gradient[among] == 0.0] if np.isfinite(value) else among[:0]


def those_flat(some: Positions, flat: Callable[[Positions], bool]) -> Positions:
    """Those of some elements that can be moved without a change: by halves, as most often all can."""
    if not some.size or flat(some):
        return some
    if some.size == 1:
        return some[:0]
    half = len(some) // 2
    return np.concatenate([those_flat(part, flat) for part in (some[:half], some[half:])])


def is_flat(plain: Target, u: Floats, some: Positions) -> bool:
    """Whether the target stays what it is, to the last digit, wherever these elements are moved to."""
    here = plain.log_density(u)
    rng = np.random.default_rng(FLAT_SEED)
    for scale in (0.3, 3.0, FAR_OUT):
        point = u.copy()
        point[some] = rng.uniform(-scale, scale, len(some))
        if plain.log_density(point) != here:
            return False
    return True


def brought_back(whole: Target, u: Floats, some: Positions) -> Positions:
    """Those of the elements that the log-Jacobian of a range brings back from both sides, each by itself."""
    for side in (-FAR_OUT, FAR_OUT) if some.size else ():
        point = u.copy()
        point[some] = side
        slope = whole.log_density_gradient(point)[1][some]
        some = some[np.sign(slope) == -np.sign(side)]
    return some


def sentence(all_names: Sequence[str], endless: Positions) -> str:
    """What is wrong, with which parameters, and what to do."""
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
