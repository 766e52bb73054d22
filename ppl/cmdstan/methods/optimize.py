"""`method=optimize`: the mode, by SciPy's optimisers under CmdStan's names and tolerances."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ppl.cmdstan.density import Density
from ppl.cmdstan.job import Job
from ppl.inference.hessian import hessian
from ppl.inference.target import Target
from ppl.model import Floats
from ppl.results.draws import tabulate

EPSILON = float(np.finfo(float).eps)
SCIPY = {"lbfgs": "L-BFGS-B", "bfgs": "BFGS", "newton": "trust-exact"}


@dataclass
class Climb:
    """The path uphill so far: points (dim,), log densities, and how often the density was evaluated."""

    target: Target
    points: list[Floats] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    evaluations: int = 0
    worst: float = 0.0

    def objective(self, u: Floats) -> tuple[float, Floats]:
        """Minus the log density; off the support a value that every line search backs off from."""
        self.evaluations += 1
        value, gradient = self.target.log_density_gradient(u)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return 10 * abs(self.worst) + 1e10, np.zeros_like(u)
        self.worst = max(self.worst, -value)
        return -value, -gradient


def run(job: Job) -> int:
    """Writes the mode, or with `save_iterations` every iterate; status 1 when it could not be found."""
    method = job["optimize.algorithm"]
    options = {
        name: job.values.get(f"optimize.{method}.{name}")
        for name in ("tol_obj", "tol_param", "tol_rel_obj", "tol_grad", "history_size")
    }
    job.note_unused(*(f"optimize.{method}.{name}" for name in ("init_alpha", "tol_rel_grad")))
    density = Density(job.posterior, jacobian=job["optimize.jacobian"])
    climb = Climb(density)
    found = _climb(job, climb, job.start(density), SCIPY[method], options)
    print(f"Optimization terminated {'normally' if found.success else 'with error'}: \n  {found.message}")
    kept = slice(None) if job["optimize.save_iterations"] else slice(-1, None)
    table = tabulate(job.posterior, np.array(climb.points[kept]).reshape(-1, density.dim), job.seed)
    job.write_csv(["lp__", *table.columns], np.column_stack([climb.values[kept], table.rows]))
    return 0 if found.success else 1


@dataclass(frozen=True)
class Ending:
    success: bool
    message: str


def _climb(job: Job, climb: Climb, start: Floats, method: str, options: Mapping[str, Any]) -> Ending:
    """Follows SciPy uphill from `start`, with CmdStan's rules for when to stop beside SciPy's."""
    climb.points.append(start)
    climb.values.append(climb.target.log_density(start))
    print(f"Initial log joint probability = {climb.values[0]:g}")
    print("    Iter      log prob        ||dx||  # evals")
    reasons: list[str] = []

    def follow(intermediate_result: Any) -> None:
        climb.points.append(np.copy(intermediate_result.x))
        climb.values.append(-float(intermediate_result.fun))
        moved = float(np.linalg.norm(climb.points[-1] - climb.points[-2]))
        gained = abs(climb.values[-1] - climb.values[-2])
        count, refresh = len(climb.points) - 1, job["output.refresh"]
        if refresh and count % refresh == 0:
            print(f"{count:>8}{climb.values[-1]:>14.6g}{moved:>14.6g}{climb.evaluations:>9}", flush=True)
        if options["tol_obj"] is not None and gained < options["tol_obj"]:
            reasons.append("Convergence detected: absolute change in objective function was below tolerance")
        if options["tol_param"] is not None and moved < options["tol_param"]:
            reasons.append("Convergence detected: absolute parameter change was below tolerance")
        if reasons:
            raise StopIteration

    if not len(start):
        return Ending(True, "The program has no parameters")
    result = minimize(
        climb.objective,
        start,
        jac=True,
        hess=_hessian(climb.target) if method == "trust-exact" else None,
        method=method,
        callback=follow,
        options=_scipy_options(job, method, options),
    )
    last = f"{len(climb.points) - 1:>8}{climb.values[-1]:>14.6g}{'':>14}{climb.evaluations:>9}"
    print(last)
    if reasons:
        return Ending(True, reasons[0])
    if len(climb.points) - 1 >= job["optimize.iter"]:
        return Ending(True, "Maximum number of iterations hit, may not be at an optima")
    settled = result.success or _flat(climb)
    return Ending(
        bool(settled), f"Convergence detected: {result.message}" if settled else str(result.message)
    )


def _flat(climb: Climb) -> bool:
    """SciPy calls it an error when rounding leaves its line search nothing to gain; at a mode it is none."""
    value, gradient = climb.target.log_density_gradient(climb.points[-1])
    return bool(np.linalg.norm(gradient) <= 1e-4 * max(1.0, abs(value)))


def _hessian(target: Target) -> Any:
    return lambda u: -hessian(target, u, np.ones_like(u))


def _scipy_options(job: Job, method: str, options: Mapping[str, Any]) -> dict[str, Any]:
    most = {"maxiter": job["optimize.iter"]}
    if method == "L-BFGS-B":
        return most | {
            "maxcor": options["history_size"],
            "ftol": options["tol_rel_obj"] * EPSILON,
            "gtol": options["tol_grad"],
            "maxfun": 100 * job["optimize.iter"],
        }
    return most | {"gtol": options["tol_grad"] or 1e-8}
