"""What many points at once raise, for which each of them is then evaluated by itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from ppl.backend.draws import DrawsRejected
from ppl.density import many_points
from ppl.density.many_points import Batched, Floats, Found, Scalar
from ppl.errors import PPLError, Rejection


@contextmanager
def errors_of_batches() -> Iterator[list[str]]:
    """The errors of batches from here on, rejections aside: a wrong shape in the emitted code is one."""
    found: list[str] = []
    plain = many_points.evaluated

    def evaluated(us: Floats, batched: Batched, scalar: Scalar) -> Found:
        def watched(us: Floats) -> Found:
            try:
                return batched(us)
            except (DrawsRejected, Rejection):
                raise
            except PPLError as error:
                found.append(str(error))
                raise

        return plain(us, watched, scalar)

    with patch.object(many_points, "evaluated", evaluated):
        yield found
