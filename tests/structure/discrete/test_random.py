"""Random small programs: density, gradient, probabilities, most probable values and draws, by enumeration.

`python -m tests.structure.discrete.test_random 100 200` tries further seeds.
"""

import sys

import pytest

from tests.laws.sampled import sampled
from tests.structure.discrete.held import hold
from tests.structure.discrete.random_programs import random_program

SEEDS, EVERY = range(32), 4


@pytest.mark.rotate
@pytest.mark.parametrize("seed", sampled(EVERY, SEEDS))
def test_a_random_program_is_the_sum_over_every_configuration(seed: int) -> None:
    hold(*random_program(seed), seed=seed, draws=2000)


if __name__ == "__main__":
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        print(seed, len(hold(*random_program(seed), seed=seed, draws=2000).values), flush=True)
