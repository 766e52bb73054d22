"""Many points at once give what each gives alone; what they raise, for which each is evaluated by itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from ppl.density import many_points
from ppl.density.many_points import Batched, Floats, PointDensities, Scalar
from ppl.errors import PPLError, Rejection
from ppl.kernel.emit.runtime import DrawsRejected
from ppl.posterior import Posterior


@contextmanager
def errors_of_batches() -> Iterator[list[str]]:
    """The errors of batches from here on, rejections aside: a wrong shape in the emitted code is one."""
    found: list[str] = []
    plain = many_points.evaluated

    def evaluated(us: Floats, batched: Batched, scalar: Scalar, *given: Any, **more: Any) -> PointDensities:
        def watched(us: Floats) -> PointDensities:
            try:
                return batched(us)
            except (DrawsRejected, Rejection):
                raise
            except PPLError as error:
                found.append(str(error))
                raise

        return plain(us, watched, scalar, *given, **more)

    with patch.object(many_points, "evaluated", evaluated):
        yield found


def assert_as_alone(posterior: Posterior, us: np.ndarray, **options: bool) -> None:
    """Values and gradients of all rows of `us`, infinities and nan included; where p is 0 it has no slope."""
    alone = [posterior.log_density_gradient(u, **options) for u in us]
    want = np.array([value for value, _ in alone])
    values, gradients = posterior.log_density_gradients(us, **options)
    close(values, want)
    close(posterior.log_densities(us, **options), [posterior.log_density(u, **options) for u in us])
    possible = np.array([density > -np.inf for density in want])  # not of nan: that has no gradient
    close(gradients[possible], np.reshape([gradient for _, gradient in alone], us.shape)[possible])


def close(got: np.ndarray, want: object) -> None:
    """To 1e-9: a covariance that is nearly singular rounds differently in a batch."""
    largest = np.max(np.abs(want), initial=1.0, where=np.isfinite(want))
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9 * largest)
