"""Chains of nutpie: where they start."""

import numpy as np
import pytest
from toy_targets import ByPrecision

from ppl.errors import InferenceError
from ppl.methods.nuts.chain import Start, off_the_flat, run_chains
from ppl.methods.run.settings import SampleSettings


def test_a_start_is_moved_where_the_gradient_is_zero_and_only_there():
    half = ByPrecision(np.diag([1.0, 4.0]))
    np.testing.assert_array_equal(off_the_flat(half, np.array([0.5, -2.0])), [0.5, -2.0])
    np.testing.assert_allclose(off_the_flat(half, np.array([0.5, 0.0])), [0.5, 1e-4])
    with pytest.raises(InferenceError, match="flat in coordinate 2"):
        off_the_flat(ByPrecision(np.diag([1.0, 0.0])), np.array([0.5, 0.0]))


def test_nutpie_starts_at_the_origin_of_a_normal():
    pytest.importorskip("nutpie")
    settings = SampleSettings(num_warmup=50, num_samples=50)
    (chain,) = run_chains([Start(ByPrecision(np.eye(3)), np.zeros(3))], settings, [1])
    assert np.isfinite(chain.draws.u).all() and chain.draws.u.std(axis=0).all()
