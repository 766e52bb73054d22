"""Every function and operator obeys the laws."""

import pytest
from laws import functions as laws

from ppl.stdlib.functions.operators import OPERATORS
from ppl.stdlib.functions.table import FUNCTIONS
from ppl.testing.functions import LAWS

CASES = list(laws.cases(dict.fromkeys([*FUNCTIONS, *OPERATORS.values()])))


@pytest.mark.parametrize(
    ("law", "case"),
    [pytest.param(law, c, id=f"{law.holds.__name__}-{c}") for law in LAWS for c in CASES if law.applies(c)],
)
def test_law(law, case):
    law.check(case, str(case))
