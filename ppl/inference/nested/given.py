"""What is drawn of blocks or a field given the outer coordinates."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.inference.objective.target import Array


class GivenDraws(NamedTuple):
    """A draw (n, ...) at each of n outer points, its log density (n,), and which rows are complete.

    `about` (n,) is what Laplace's approximation makes of the marginal of the outer points; `unsure` (n,) are
    those where few of several draws have most weight, so that their mean weight says little.
    """

    latent: Array
    log_q: Array
    complete: NDArray[np.bool_]
    about: Array
    unsure: NDArray[np.bool_]
