"""The settings of a run, checked once."""

from dataclasses import dataclass
from typing import Any

from ppl.errors import InferenceError
from ppl.inference.families import FAMILIES


@dataclass(frozen=True)
class Settings:
    """CmdStan's names. Raises InferenceError, with the allowed range, for a value outside of it."""

    algorithm: str
    seed: int
    iter: int
    grad_samples: int
    elbo_samples: int
    eta: float | None
    adapt_iter: int
    tol_rel_obj: float
    eval_elbo: int
    draws: int
    average: bool = False

    def __post_init__(self) -> None:
        if self.algorithm not in FAMILIES:
            raise InferenceError(
                f"algorithm = {self.algorithm!r} is unknown; expected one of {', '.join(FAMILIES)}."
            )
        for name in ("iter", "grad_samples", "elbo_samples", "adapt_iter", "eval_elbo"):
            _require(name, getattr(self, name), "an integer of at least 1", _whole(getattr(self, name), 1))
        for name in ("seed", "draws"):
            _require(name, getattr(self, name), "an integer of at least 0", _whole(getattr(self, name), 0))
        _require("tol_rel_obj", self.tol_rel_obj, "a number above 0", _positive(self.tol_rel_obj))
        if self.eta is not None:
            _require("eta", self.eta, "a number above 0, or none to search for it", _positive(self.eta))


def _require(name: str, value: Any, expected: str, holds: bool) -> None:
    if not holds:
        raise InferenceError(f"{name} = {value!r} is out of range; expected {expected}.")


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _positive(value: Any) -> bool:
    return isinstance(value, int | float) and 0 < value < float("inf")
