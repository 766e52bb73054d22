import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import qmc

from ppl.methods.numerics.sobol import MOST_DIMENSIONS, sobol


@pytest.mark.parametrize("dim", [1, 2, 7, 33, MOST_DIMENSIONS])
@pytest.mark.parametrize("n", [1, 2, 64, 2048])
def test_the_points_are_those_of_scipy(n, dim):
    ours, theirs = np.random.default_rng(dim), np.random.default_rng(dim)
    for _ in range(2):  # every call spawns a generator anew
        np.testing.assert_array_equal(sobol(n, dim, ours), qmc.Sobol(dim, seed=theirs).random(n))
    assert ours.random() == theirs.random()


def test_each_coordinate_has_one_point_in_every_interval():
    points = sobol(256, MOST_DIMENSIONS, np.random.default_rng(5))
    cells = np.sort((points * 256).astype(int), axis=0)
    np.testing.assert_array_equal(cells, np.arange(256)[:, None] * np.ones(MOST_DIMENSIONS, dtype=int))


@pytest.mark.rotate(3)
def test_a_fit_does_not_wait_for_all_of_scipy_stats(tmp_path):
    script = (
        "import sys, ppl; "
        "p = ppl.compile_model('parameters { vector[3] x; } model { x ~ normal(0, 1); }').condition(); "
        "p.variational(seed=1).save_csv(sys.argv[1]); sys.exit('scipy.stats' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(tmp_path / "output.csv")], check=False)
    assert ended.returncode == 0
