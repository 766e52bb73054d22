"""Types of arrays: real numbers of points, draws and gradients, and places in them."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
