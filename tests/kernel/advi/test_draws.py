import numpy as np
import pytest
from toy_targets import HalfSpace, correlated

from ppl.errors import InferenceError
from ppl.kernel.advi.elbo import draws_with_density, draws_with_gradient
from ppl.kernel.advi.families import FAMILIES

FAMILY = FAMILIES["meanfield"](2)
PARAMS = FAMILY.start(np.zeros(2))


@pytest.mark.parametrize("draw", [draws_with_density, draws_with_gradient])
def test_draws_outside_the_support_are_redrawn_and_counted(draw):
    found = draw(HalfSpace(2, bound=0.0), FAMILY, PARAMS, 400, np.random.default_rng(0))
    assert (found.u[:, 0] > 0).all()
    assert np.isfinite(found.log_density).all()
    assert 300 < found.dropped < 500
    np.testing.assert_allclose(found.u, FAMILY.transform(PARAMS, found.z))


@pytest.mark.parametrize("draw", [draws_with_density, draws_with_gradient])
def test_ten_failures_in_a_row_name_the_statement(draw):
    with pytest.raises(InferenceError, match=r"draws from.*10 times in a row\.\n.*line 7: sqrt of"):
        draw(HalfSpace(2, bound=50.0), FAMILY, PARAMS, 3, np.random.default_rng(0))


def test_gradients_belong_to_their_draws():
    target = correlated(2)
    found = draws_with_gradient(target, FAMILY, PARAMS, 5, np.random.default_rng(0))
    for u, value, gradient in zip(found.u, found.log_density, found.gradient, strict=True):
        assert value == pytest.approx(target.log_density(u), rel=1e-14)
        np.testing.assert_allclose(gradient, target.log_density_gradient(u)[1], rtol=1e-14)
