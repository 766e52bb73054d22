"""The same fit from the same seed on both backends, program by program.

Of the paper's loop, which has no stage that forgets where it came from: a gradient or a draw that differed
would be carried through all iterations into the parameters of q.  One program in fourteen, and with
`--whole` all that JAX can run.
"""

from collections.abc import Iterator
from operator import attrgetter

import numpy as np
import pytest
from conformance.pack import Case, programs
from conformance.test_on_jax import OUT_OF_REACH
from laws.sampled import sampled

import ppl

jax = pytest.importorskip("jax")

LOOP = {
    "start": "random",
    "refine": False,
    "correct": False,
    "average": False,
    "resample": False,
    "move": False,
    "iter": 60,
    "adapt_iter": 10,
    "eval_elbo": 30,
    "elbo_samples": 10,
    "draws": 20,
    "seed": 3,
}
REACHED = [case for case in programs() if case.id not in OUT_OF_REACH]


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    yield
    jax.clear_caches()


@pytest.mark.rotate
@pytest.mark.parametrize("case", sampled(14, REACHED, attrgetter("id")))
def test_the_same_seed_gives_the_same_fit(case: Case) -> None:
    try:
        posterior = ppl.compile_model(case.program).condition(case.data)
        expected = posterior.variational(backend="autograd", **LOOP)
    except ppl.PPLError:
        pytest.skip("refused on both")
    fit = posterior.variational(backend="jax", **LOOP)
    np.testing.assert_allclose(fit.elbo_trace, expected.elbo_trace, rtol=1e-6)
    np.testing.assert_allclose(fit.draws(), expected.draws(), rtol=1e-6, atol=1e-6)
    assert fit.outcome == expected.outcome
