"""Arrays of real numbers: points, draws, gradients."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
