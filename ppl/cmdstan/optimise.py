"""Uphill to a mode by SciPy's optimisers, under CmdStan's names and rules for when to stop."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ppl.density.posterior import Floats
from ppl.inference.numerics.hessian import hessian
from ppl.inference.objective.target import Target

UNIT_ROUNDING = float(np.finfo(float).eps)
"""The unit in which CmdStan counts relative tolerances."""
SCIPY = {"lbfgs": "L-BFGS-B", "bfgs": "BFGS", "newton": "trust-exact"}
FLAT_GRADIENT = 1e-4
"""The norm of a gradient, in units of the log density or of 1, at which a point counts as a mode although the
line search failed.
"""
DETECTED = "Convergence detected: "


@dataclass(frozen=True)
class Rules:
    """CmdStan's tolerances; the relative one is in units of the machine epsilon."""

    iterations: int = 2000
    tol_obj: float = 1e-12
    tol_rel_obj: float = 1e4
    tol_grad: float = 1e-8
    tol_param: float = 1e-8
    history_size: int = 5

    def scipy(self, method: str) -> dict[str, Any]:
        """The options of SciPy's method."""
        if method != "L-BFGS-B":
            return {"maxiter": self.iterations, "gtol": self.tol_grad}
        return {
            "maxiter": self.iterations,
            "maxfun": 100 * self.iterations,
            "maxcor": self.history_size,
            "ftol": self.tol_rel_obj * UNIT_ROUNDING,
            "gtol": self.tol_grad,
        }


@dataclass
class Optimisation:
    """The path so far: points (dim,) from the start on, their log densities, evaluations of the gradient."""

    target: Target
    points: list[Floats]
    values: list[float]
    evaluations: int = 0
    worst: float = field(default=0.0, repr=False)

    @property
    def steps(self) -> int:
        return len(self.points) - 1

    @property
    def moved(self) -> float:
        """The length of the last step."""
        return float(np.linalg.norm(self.points[-1] - self.points[-2]))

    def loss(self, u: Floats) -> tuple[float, Floats]:
        """How far the log density is below the start's; off the support, far enough for any line search."""
        self.evaluations += 1
        value, gradient = self.target.log_density_gradient(u)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return 10 * (1 + self.worst), np.zeros_like(u)
        self.worst = max(self.worst, self.values[0] - value)
        return self.values[0] - value, -gradient

    def converged(self, rules: Rules) -> str:
        """Which of CmdStan's rules the last step meets, "" for none."""
        if abs(self.values[-1] - self.values[-2]) < rules.tol_obj:
            return DETECTED + "absolute change in objective function was below tolerance"
        if self.moved < rules.tol_param:
            return DETECTED + "absolute parameter change was below tolerance"
        return ""


@dataclass(frozen=True)
class Ending:
    """Whether a mode was found or the iterations were used up, as CmdStan tells them from errors, and why."""

    normal: bool
    reason: str


def optimise(
    target: Target, start: Floats, algorithm: str, rules: Rules, watch: Callable[[Optimisation], None]
) -> tuple[Optimisation, Ending]:
    """Optimisation from `start` (dim,); `algorithm` is a key of SCIPY, `watch` is called after each step."""
    path = Optimisation(target, [start], [target.log_density(start)])
    if not len(start):
        return path, Ending(True, "The program has no parameters")

    def follow(intermediate_result: Any) -> None:
        path.points.append(np.copy(intermediate_result.x))
        path.values.append(path.values[0] - float(intermediate_result.fun))
        watch(path)
        if path.converged(rules):
            raise StopIteration

    method = SCIPY[algorithm]
    found = minimize(
        path.loss,
        start,
        jac=True,
        hess=_curvature(target) if algorithm == "newton" else None,
        method=method,
        callback=follow,
        options=rules.scipy(method),
    )
    return path, _ending(path, rules, found)


def _ending(path: Optimisation, rules: Rules, found: Any) -> Ending:
    """SciPy calls it an error when rounding leaves a line search nothing to gain; at a mode it is none."""
    if path.steps and path.converged(rules):
        return Ending(True, path.converged(rules))
    if path.steps >= rules.iterations:
        return Ending(True, "Maximum number of iterations hit, may not be at an optima")
    value, gradient = path.target.log_density_gradient(path.points[-1])
    flat = np.linalg.norm(gradient) <= FLAT_GRADIENT * max(1.0, abs(value))
    if "REDUCTION" in str(found.message):
        return Ending(True, DETECTED + "relative change in objective function was below tolerance")
    if found.success or flat:
        return Ending(True, DETECTED + "gradient norm is below tolerance")
    return Ending(False, str(found.message))


def _curvature(target: Target) -> Callable[[Floats], Floats]:
    return lambda u: -hessian(target, u, np.ones_like(u))
