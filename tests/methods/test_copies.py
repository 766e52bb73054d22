"""How often the draws are in memory at once."""

import tracemalloc

import numpy as np
import pytest

from ppl.kernel.advi import parts
from ppl.kernel.advi.elbo import elbo_of
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.kernel.advi.target import Target
from ppl.methods.correct.correction import Corrected, DrawSource
from ppl.methods.correct.resampling import balanced
from ppl.methods.diagnose.psis import weighted_draws_of
from ppl.methods.diagnose.verdict import verdict_of
from ppl.methods.moves.ending import Moved
from ppl.methods.moves.mixing import Mixing
from ppl.methods.recipes.result import Path, result_of
from ppl.methods.run.phases import Context
from ppl.methods.run.settings import Settings

N, DIM = 200, 1000
COPY = 8 * N * DIM
DONE = Outcome(Ending.CONVERGED, "")


class Normal(Target):
    """A standard normal that takes no memory of its own, and is too costly to move draws of."""

    dim, width = DIM, 2_000_000

    def log_density(self, u):
        return -0.5 * float(u @ u)

    def log_density_gradient(self, u):
        return self.log_density(u), -u

    def explain(self, u):
        return ""


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """As much smaller than the draws as the parts are where there are very many draws."""
    monkeypatch.setattr(parts, "NUMBERS_A_PART", 1 << 12)
    monkeypatch.setattr(parts, "MOST_NUMBERS_DRAWN", 1)


def rng():
    return np.random.default_rng(1)


def copies(f):
    """The most memory that `f` has taken at once, its answer included, in copies of the draws."""
    f()  # so that imports are not counted
    tracemalloc.start()
    try:
        f()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak / COPY


def proposals():
    u = rng().standard_normal((N, DIM))
    return weighted_draws_of(u, np.zeros(N), 0.1 * u[:, 0])


def test_a_sample_is_balanced_without_a_copy_of_the_pool():
    """Of so many coordinates a few moments are balanced, and no others computed."""
    some = proposals()
    assert copies(lambda: balanced(some.u, some.weights.log_weights, N, rng())) < 0.3


def test_a_verdict_looks_at_the_pool_a_part_at_a_time():
    some = proposals()
    drawn = Corrected(some.u, some.log_p, DrawSource.RESAMPLED)
    elbo = elbo_of(some.log_p, 0.0, 0)
    limits = np.outer([-9.0, 9.0], np.ones(DIM))
    assert copies(lambda: verdict_of(some, elbo, DONE, None, drawn, limits)) < 0.1


def test_a_verdict_does_not_keep_the_positions_of_chains():
    some = proposals()
    mixing = Mixing(*[np.zeros(DIM)] * 3, 0.0)
    moved = Moved(some.u, some.log_p, np.zeros(len(some.u), dtype=int), mixing)
    drawn = Corrected(some.u[:10], some.log_p[:10], DrawSource.MOVED, moved)
    judged = verdict_of(some, elbo_of(some.log_p, 0.0, 0), DONE, None, drawn)
    assert not judged.moved.u.size and judged.moved.u.base is None


def test_resampled_draws_and_their_pool_are_all_there_is():
    family = MeanField(DIM)
    params, asked = family.start(np.zeros(DIM)), Settings(draws=N, elbo_samples=N, resample=True)
    made = []

    def run():
        made.append(result_of(Normal(), family, params, Path(np.zeros(DIM), DONE), Context.of(asked)))

    assert copies(run) < 2.5
    assert made[0].draws_u.nbytes == COPY and made[0].verdict.made is DrawSource.RESAMPLED
