"""The settings of a run, checked once."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from ppl.errors import InferenceError
from ppl.inference.estimators import ESTIMATORS
from ppl.inference.families.standard import STANDARDS
from ppl.inference.steps import STEPS
from ppl.inference.stopping import STOPPING

STARTS = ("pathfinder", "random")
PARTS: dict[str, Collection[str]] = {"estimator": ESTIMATORS, "step_rule": STEPS, "stop": STOPPING}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """CmdStan's names and defaults; InferenceError, with the allowed range, for a value outside of it.

    Attributes:
        algorithm: a name in recipes.RECIPES. "auto" finds a q, mean-field where that fits and full rank
        where it
            does not, and corrects its draws towards the posterior; draws of any other are those of its q.
        correct: make draws better than those of q: resampled where its importance weights can be relied on,
        else
            annealed. None for what `algorithm` says: yes for "auto", else no.
        seed: same seed, same answer, to the last bit.
        iter: most steps taken.
        grad_samples: draws an estimate of the gradient averages.
        elbo_samples: draws an estimate of the ELBO averages.
        eta: step size; None searches {100, 10, 1, 0.1, 0.01}.
        adapt_iter: steps each candidate of that search takes.
        tol_rel_obj: converged when the mean or median relative change of the ELBO falls below it.
        eval_elbo: steps between two estimates of the ELBO.
        draws: draws from the approximation at the end.
        start: "pathfinder" starts at the best Gaussian along an L-BFGS path, in coordinates scaled by its
            curvature; "random" where `init` says, in the model's own scales.
        init_scale: the sds of the first q at a random start; None for the algorithm's own, 1 for ADVI.
        average: answer with an average over the tail of the path, to remove the last steps' noise.
        polish: refine on fixed draws: from there to the maximum of the ELBO on draws held fixed (sample
            average approximation).
        step_up: where k-hat says that this q does not fit, optimise from another start; and, where draws
            are corrected, go on to full rank and move its mean to the importance-weighted one.
        linear_response: correct the covariance of a mean-field fit on fixed draws by its linear response.
        resample: write draws resampled by Pareto-smoothed importance weights, always or never; None where
            draws are corrected and the weights can be relied on.
        anneal: write draws that annealing carried from q to the posterior, always or never; None where
        draws are
            corrected and the weights are not enough.
        jacobian: whether the log-Jacobian of the transforms counts; None for yes, but no where `optimize`
            looks for a mode.
        rank: of the low-rank family; None for the square root of the dimension, rounded up.
        minibatch: rows of data a gradient sees, where the target splits by rows; None for all of them.
        estimator: of the gradient, a name in ESTIMATORS; None for the algorithm's own.
        step_rule: a name in STEPS; None for the algorithm's own.
        stop: the stopping rule, a name in STOPPING; None for the algorithm's own.
        noise: the distribution that q shifts and scales, a name in STANDARDS.
    """

    algorithm: str = "auto"
    correct: bool | None = None
    seed: int = 1
    iter: int = 10_000
    grad_samples: int = 1
    elbo_samples: int = 100
    eta: float | None = None
    adapt_iter: int = 50
    tol_rel_obj: float = 0.01
    eval_elbo: int = 100
    draws: int = 1000
    start: str = "pathfinder"
    init_scale: float | None = None
    average: bool = True
    polish: bool = True
    step_up: bool = True
    linear_response: bool = False
    resample: bool | None = None
    anneal: bool | None = None
    jacobian: bool | None = None
    rank: int | None = None
    minibatch: int | None = None
    estimator: str | None = None
    step_rule: str | None = None
    stop: str | None = None
    noise: str = "normal"

    def __post_init__(self) -> None:
        for name in ("iter", "grad_samples", "elbo_samples", "adapt_iter", "eval_elbo"):
            _require(name, getattr(self, name), "an integer of at least 1", _whole(getattr(self, name), 1))
        for name in ("seed", "draws"):
            _require(name, getattr(self, name), "an integer of at least 0", _whole(getattr(self, name), 0))
        _require("tol_rel_obj", self.tol_rel_obj, "a number above 0", _positive(self.tol_rel_obj))
        _require("start", self.start, f"one of {', '.join(STARTS)}", self.start in STARTS)
        if self.rank is not None:
            _require("rank", self.rank, "an integer of at least 1, or none", _whole(self.rank, 1))
        if self.minibatch is not None:
            _require(
                "minibatch", self.minibatch, "an integer of at least 1, or none", _whole(self.minibatch, 1)
            )
        for name, table in PARTS.items():
            value = getattr(self, name)
            _require(name, value, f"one of {', '.join(table)}, or none", value in (None, *table))
        _require("noise", self.noise, f"one of {', '.join(STANDARDS)}", self.noise in STANDARDS)
        if self.init_scale is not None:
            _require("init_scale", self.init_scale, "a number above 0, or none", _positive(self.init_scale))
        if self.eta is not None:
            _require("eta", self.eta, "a number above 0, or none to search for it", _positive(self.eta))

    @property
    def corrects(self) -> bool:
        """Whether the draws are made better than those of q, as the weights call for; no minibatch tells."""
        return (self.algorithm == "auto" if self.correct is None else self.correct) and self.minibatch is None


def _require(name: str, value: Any, expected: str, holds: bool) -> None:
    if not holds:
        raise InferenceError(f"{name} = {value!r} is out of range; expected {expected}.")


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _positive(value: Any) -> bool:
    return isinstance(value, int | float) and 0 < value < float("inf")
