"""Solvers of ordinary differential equations: their arguments, and what they ask of the function they solve.

`ode_rk45(f, y0, t0, ts, ...)`, with `_tol` three more before what is passed on, and their predecessors
`integrate_ode_rk45(f, y0, t0, ts, theta, x_r, x_i)`.  Stan functions reference, "ODE solvers" and "Deprecated
functions".
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ppl.stdlib.signatures import promotes
from ppl.types import INT, REAL, VECTOR, Array, Type

REALS, INTS, STATES = Array(REAL), Array(INT), Array(REAL, 2)
TOLERANCE: tuple[Type, ...] = (REAL, REAL, INT)

EXPLICIT, IMPLICIT = (1e-6, 1e-6, 1_000_000), (1e-10, 1e-10, 100_000_000)
"""Relative and absolute tolerance and most steps, where a call gives none."""
DEFAULTS: Mapping[str, tuple[float, float, int]] = {
    "rk45": EXPLICIT,
    "ckrk": EXPLICIT,
    "adams": IMPLICIT,
    "bdf": IMPLICIT,
}
PASSING_ON = tuple(f"ode_{method}{tol}" for method in DEFAULTS for tol in ("", "_tol"))
PACKED = tuple(f"integrate_ode_{method}" for method in ("rk45", "adams", "bdf"))
ODES = (*PASSING_ON, *PACKED)


class Asked(NamedTuple):
    """What a call asks of its function, what it returns, and where its own arguments stand.

    Positions are those after the function: `tolerance` of the three tolerances, if they are given, `passed`
    of what the function gets besides time and state.
    """

    of_function: tuple[Type, ...]
    function_returns: Type
    returns: Type
    tolerance: range
    passed: range


def asked(name: str, args: Sequence[Type]) -> Asked | None:
    """None where the arguments after the function do not fit."""
    return of_packed(args) if name in PACKED else of_passing_on(name, args)


def of_passing_on(name: str, args: Sequence[Type]) -> Asked | None:
    own = (VECTOR, REAL, REALS, *(TOLERANCE if name.endswith("_tol") else ()))
    if not fits(args[: len(own)], own):
        return None
    rest = args[len(own) :]
    return Asked((REAL, VECTOR, *rest), VECTOR, Array(VECTOR), range(3, len(own)), range(len(own), len(args)))


def of_packed(args: Sequence[Type]) -> Asked | None:
    own = (REALS, REAL, REALS, REALS, REALS, INTS)
    if not (fits(args, own) or fits(args, (*own, *TOLERANCE))):
        return None
    return Asked((REAL, REALS, REALS, REALS, INTS), REALS, STATES, range(6, len(args)), range(3, 6))


def fits(args: Sequence[Type], wanted: Sequence[Type]) -> bool:
    same = len(args) == len(wanted)
    return same and all(promotes(a, w) is not None for a, w in zip(args, wanted, strict=True))
