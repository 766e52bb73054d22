"""What a reference says of variables whose signs may all be turned."""

from pathlib import Path

import numpy as np

from tests.benchmarks.tail.problems import Problem
from tests.benchmarks.tail.reference import reference


def test_chains_in_mirror_images_of_a_mode_are_one_mode_of_two() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal([[[3.0]], [[0.5]]], [[[0.5]], [[1.0]]], (2, 4, 400))
    sign = np.array([[1], [-1], [1], [-1]])
    draws = np.stack([a * sign, b], axis=2)
    found = reference(Problem(Path(), dict, Path(), mirrored=("a",)), ["a.1", "b"], draws)
    assert found["rhat_max"] < 1.02
    assert found["ess_min"] > 1000
    assert found["params"]["a.1"]["mean"] == 0
    assert abs(found["params"]["a.1"]["sd"] - np.sqrt((a**2).mean())) < 1e-3
    assert abs(found["params"]["b"]["mean"] - 0.5) < 0.2


def test_moments_that_do_not_exist_are_left_out() -> None:
    draws = np.random.default_rng(2).standard_cauchy((4, 400, 1))
    found = reference(Problem(Path(), dict, Path(), no_moments=("tau",)), ["tau"], draws)
    assert found["params"]["tau"].keys() == {"q05", "q95", "ess"}
