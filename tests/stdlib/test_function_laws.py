"""Every function and operator obeys the laws."""

import pytest
from laws import functions as laws
from laws.every import every

from ppl.stdlib.functions.operators import OPERATORS
from ppl.stdlib.functions.table import FUNCTIONS
from ppl.testing.functions import LAWS

CASES = list(laws.cases(dict.fromkeys([*FUNCTIONS, *OPERATORS.values()])))


@pytest.mark.rotate
@every("case", CASES, lambda case: case.record.name)
def test_laws(case):
    for law in LAWS:
        if law.applies(case):
            law.check(case, str(case))
