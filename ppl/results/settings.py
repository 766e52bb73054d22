"""What a variational run was asked to do, with CmdStan's defaults."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Settings:
    """The settings of one run; the names are CmdStan's and CmdStanPy's.

    Attributes:
        algorithm: "meanfield" or "fullrank".
        iter: most steps taken.
        grad_samples: draws an estimate of the gradient averages.
        elbo_samples: draws an estimate of the ELBO averages.
        eta: step size; None searches {100, 10, 1, 0.1, 0.01}.
        adapt_iter: steps each candidate of that search takes.
        tol_rel_obj: converged when the mean or median relative change of the ELBO falls below it.
        eval_elbo: steps between two estimates of the ELBO.
        average: answer with an average over the tail of the path, to remove the last steps' noise.
        draws: draws from the approximation at the end.
        init: radius of the uniform start on the unconstrained scale, 0 for its origin, or
            {name: value} of constrained values (the path of such a JSON file will do).
        seed: same seed, same answer, to the last bit.
    """

    algorithm: str = "meanfield"
    iter: int = 10_000
    grad_samples: int = 1
    elbo_samples: int = 100
    eta: float | None = None
    adapt_iter: int = 50
    tol_rel_obj: float = 0.01
    eval_elbo: int = 100
    average: bool = False
    draws: int = 1000
    init: Any = 2.0
    seed: int = 1
