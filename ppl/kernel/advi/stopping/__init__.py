"""Stopping rules."""

from collections.abc import Callable
from typing import Any

from ppl.kernel.advi.stopping.gradient_norm import GradientNorm
from ppl.kernel.advi.stopping.iterate_rhat import IterateRhat
from ppl.kernel.advi.stopping.relative_elbo import RelativeElbo
from ppl.kernel.advi.stopping.rolling_bound import RollingBound
from ppl.kernel.advi.stopping.stopping_rule import FixedIterations, StoppingRule

# Each rule is made from the iteration budget, the iterations between ELBOs, and a tolerance.
STOPPING: dict[str, Callable[[int, int, float], StoppingRule[Any]]] = {
    "relative-elbo": RelativeElbo.over,
    "gradient-norm": lambda iterations, eval_elbo, tolerance: GradientNorm(tolerance),
    "rolling-bound": RollingBound.over,
    "iterate-rhat": lambda iterations, eval_elbo, tolerance: IterateRhat(tolerance),
    "fixed": lambda iterations, eval_elbo, tolerance: FixedIterations(iterations),
}
