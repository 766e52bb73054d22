"""What a variational run was asked to do, with CmdStan's defaults."""

from dataclasses import dataclass
from typing import Any

from ppl.errors import InferenceError
from ppl.inference.run.settings import Settings as InferenceSettings
from ppl.results.arguments.tree import BACKENDS, DEVICES


@dataclass(frozen=True, kw_only=True)
class Settings(InferenceSettings):
    """The settings of one run, with a start that the user may give on the constrained scale.

    Attributes:
        init: radius of the uniform start on the unconstrained scale, 0 for its origin, or
            {name: value} of constrained values (the path of such a JSON file will do).
        runs: independent runs, in parallel, with the seeds that follow `seed`; the one with the best ELBO is
            kept and judged by how far the others are from it.
        rows: the size variable that counts the rows `minibatch` takes some of; None for the largest along
            which the target splits.
        ard: the parameter vector whose Gaussian prior `dsvi-ard` optimises away.
        marginal: the unconstrained parameter that `optimize` integrates out (Type-II maximum likelihood).
        backend: what computes the log density: "autograd", "jax", or "auto" for the faster of the two.
        device: where JAX computes, "cpu" or "gpu".
        sharded: whether the rows of data are spread over all of JAX's devices, of all processes (`ppl.join`).
        quick_jit: whether JAX is to compile quickly and little where the program is small, as a single fit
            calls for; the command does. The last digits of a fit are then others.
    """

    init: Any = 2.0
    runs: int = 1
    rows: str | None = None
    ard: str | None = None
    marginal: str | None = None
    backend: str = "auto"
    device: str = "cpu"
    sharded: bool = False
    quick_jit: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.runs, int) and self.runs >= 1):
            raise InferenceError(f"runs = {self.runs!r} is out of range; expected an integer of at least 1.")
        for name, words in (("backend", BACKENDS), ("device", DEVICES)):
            if getattr(self, name) not in words:
                raise InferenceError(f"{name} = {getattr(self, name)!r}; expected one of {', '.join(words)}.")
        if self.sharded and (self.backend == "autograd" or self.runs > 1):
            raise InferenceError(
                'sharded spreads one run over devices by JAX: backend is then "jax" or "auto", and runs 1.'
            )
        if self.marginal is not None and self.algorithm != "optimize":
            raise InferenceError(
                'marginal names the parameter that algorithm "optimize" integrates out, and goes with it; '
                f"here algorithm = {self.algorithm!r} and marginal = {self.marginal!r}."
            )
        if (self.ard is not None) != (self.algorithm == "dsvi-ard"):
            raise InferenceError(
                'ard names the parameter vector of algorithm "dsvi-ard", and goes with it; '
                f"here algorithm = {self.algorithm!r} and ard = {self.ard!r}."
            )
