import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import qmc

from ppl.methods.numerics.fixed_noise import MOST_DIMENSIONS, sobol


@pytest.mark.rotate
@pytest.mark.parametrize("dim", [1, 2, 7, 33, MOST_DIMENSIONS])
@pytest.mark.parametrize("n", [1, 2, 64, 2048])
def test_the_points_are_those_of_scipy(n, dim):
    ours, theirs = np.random.default_rng(dim), np.random.default_rng(dim)
    for _ in range(2):  # every call spawns a generator anew
        np.testing.assert_array_equal(sobol(n, dim, ours), qmc.Sobol(dim, seed=theirs).random(n))
    assert ours.random() == theirs.random()


def test_each_coordinate_has_one_point_of_each_set_in_every_interval():
    sets = sobol(256, MOST_DIMENSIONS, np.random.default_rng(5), 3).reshape(3, 256, MOST_DIMENSIONS)
    for points in sets:
        cells = np.sort((points * 256).astype(int), axis=0)
        np.testing.assert_array_equal(cells, np.arange(256)[:, None] * np.ones(MOST_DIMENSIONS, dtype=int))


def test_the_means_of_sets_are_uncorrelated_and_unbiased():
    """Of an integrand that one set of 16 points integrates with an error."""
    rng = np.random.default_rng(3)
    points = np.array([sobol(16, 2, rng, 4) for _ in range(300)]).reshape(300, 4, 16, 2)
    means = np.exp(4 * points.sum(axis=-1)).mean(axis=-1) / ((np.exp(4) - 1) / 4) ** 2 - 1
    assert abs(means.mean()) < 4 * means.std() / np.sqrt(means.size) < 0.1
    assert np.abs(np.corrcoef(means.T) - np.eye(4)).max() < 4 / np.sqrt(300)


@pytest.mark.rotate
def test_a_fit_does_not_wait_for_all_of_scipy_stats(tmp_path):
    script = (
        "import sys, ppl; "
        "p = ppl.compile_model('parameters { vector[3] x; } model { x ~ normal(0, 1); }').condition(); "
        "p.variational(seed=1).save_csv(sys.argv[1]); sys.exit('scipy.stats' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(tmp_path / "output.csv")], check=False)
    assert ended.returncode == 0
