"""Pharmacokinetics with Michaelis and Menten's elimination: data, and a reference.

The concentrations were computed with k_a = 1.2, K_m = 4, V_m = 5 and a dose of 3, and multiplied by the
exponential of normal noise of sd 0.15 (`default_rng(23)`). All of them lie below K_m, so that the ratio of
K_m and V_m is known better than either.

The reference is Stan 2.35's NUTS on made_to_fail/michaelis_menten.stan, 4 chains of 5000 draws after 1000,
delta 0.95, seed 23: no divergence, R-hat at most 1.0007, effective sample sizes of bulk, sd and tail at least
3838.
"""

from tests.benchmarks.errors import Quantity
from tests.benchmarks.verdicts.case import Data, Known

CONCENTRATIONS = [
    *(0.9938, 1.2341, 1.1608, 0.7142, 0.8624, 0.4445, 0.5088, 0.342, 0.243, 0.1639),
    *(0.1008, 0.0586, 0.0397, 0.0339, 0.0161, 0.0109, 0.0065, 0.0043, 0.0029, 0.002),
]
TIMES = [round(0.4 * k, 1) for k in range(1, 21)]
DATA: Data = {"N": 20, "t": TIMES, "dose": 3.0, "y": CONCENTRATIONS}

WORTH = 3838.0
REFERENCE = {
    "k_a": Quantity(1.18384, 0.123268, 1.01129, 1.40526, WORTH),
    "K_m": Quantity(3.8404, 1.84172, 1.80023, 7.07506, WORTH),
    "V_m": Quantity(4.83622, 1.95247, 2.70868, 8.31031, WORTH),
    "sigma": Quantity(0.160053, 0.0295386, 0.119804, 0.212947, WORTH),
}


def kinetics() -> tuple[Data, Known]:
    return DATA, Known(REFERENCE)
