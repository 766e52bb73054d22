"""Ctrl-C, with what there was by then."""

from typing import Any


class Interrupted(KeyboardInterrupt):
    """A run was interrupted; `fit` is what it gives so far: a Fit, or Chains."""

    def __init__(self, fit: Any):
        self.fit = fit
        super().__init__(
            "The run was interrupted. The partial fit is the attribute `fit` of this exception; "
            'on_interrupt="return" returns it.'
        )
