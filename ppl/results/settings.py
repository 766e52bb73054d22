"""What a variational run was asked to do, with CmdStan's defaults."""

from dataclasses import dataclass
from typing import Any

from ppl.inference.settings import Settings as InferenceSettings


@dataclass(frozen=True, kw_only=True)
class Settings(InferenceSettings):
    """The settings of one run, with a start that the user may give on the constrained scale.

    Attributes:
        init: radius of the uniform start on the unconstrained scale, 0 for its origin, or
            {name: value} of constrained values (the path of such a JSON file will do).
    """

    init: Any = 2.0
