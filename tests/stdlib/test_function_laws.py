"""Every function and operator obeys the laws."""

import numpy as np
import pytest
from laws import functions as laws

from ppl.stdlib.functions.operators import OPERATORS
from ppl.stdlib.functions.table import FUNCTIONS

CASES = list(laws.cases(dict.fromkeys([*FUNCTIONS, *OPERATORS.values()])))


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("case", CASES, ids=str)
def test_both_namespaces_agree(case):
    laws.check_backends(case)


@pytest.mark.parametrize("case", [c for c in CASES if laws.differentiable(c)], ids=str)
def test_gradient_is_the_central_difference(case):
    laws.check_gradient(case)


@pytest.mark.parametrize("case", [c for c in CASES if c.overload.batch != "none" and c.types], ids=str)
def test_a_leading_axis_is_a_loop(case):
    laws.check_batch(case)
