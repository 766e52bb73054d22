"""What emitted code needs for many draws at once."""

import numpy as np

from ppl.arrays import NUMPY
from ppl.kernel.emit.entries import put_back


def test_no_entries_put_back_are_reals() -> None:
    """NumPy counts nothing in ints, to which no adjoint could be added in place."""
    none = np.zeros(0, dtype=np.intp)
    out = put_back(NUMPY, np.zeros((2, 0)), (slice(None), none), (2, 3))
    assert out.dtype == float and out.shape == (2, 3)
