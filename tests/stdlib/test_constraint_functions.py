"""The functions that add a log-Jacobian agree with those that do not, and with their gradient."""

import numpy as np
import pytest
from laws.every import every

from ppl.arrays import NUMPY
from ppl.stdlib.functions.table import FUNCTIONS, JACOBIAN_FUNCTIONS
from tests.laws import functions as laws

CASES = list(laws.cases(JACOBIAN_FUNCTIONS))
CONSTRAIN = {f.name: f for f in FUNCTIONS if f.name.endswith("_constrain")}
UNCONSTRAIN = {f.name: f for f in FUNCTIONS if f.name.endswith("_unconstrain")}


def stem(case):
    return case.name.removesuffix("_jacobian")


def sibling(case, table, suffix):
    """The other function's implementation for the same types."""
    position = next(f for f in JACOBIAN_FUNCTIONS if f.name == case.name).overloads.index(case.overload)
    return table[f"{stem(case)}_{suffix}"].overloads[position].impl


def applied(case):
    free = case.draw(case.rng())
    return [d.into(NUMPY, x) for d, x in zip(case.domains, free, strict=True)]


def test_every_map_has_its_three_functions():
    stems = {f.name.removesuffix("_jacobian") for f in JACOBIAN_FUNCTIONS}
    assert stems == {n.removesuffix("_constrain") for n in CONSTRAIN}
    assert stems == {n.removesuffix("_unconstrain") for n in UNCONSTRAIN}


@pytest.mark.rotate
@every("case", CASES)
def test_gradient(case):
    laws.LAW["gradient_is_the_difference"].check(case, str(case))


@every("case", CASES)
def test_value_is_that_of_constrain_and_inverts(case):
    args = applied(case)
    x, _ = case.overload.impl(NUMPY, *args)
    np.testing.assert_array_equal(x, sibling(case, CONSTRAIN, "constrain")(NUMPY, *args))
    further = [] if "int" in case.overload.signature else args[1:]
    back = sibling(case, UNCONSTRAIN, "unconstrain")(NUMPY, x, *further)
    if case.name == "unit_vector_jacobian":
        np.testing.assert_array_equal(back, x)
    elif np.shape(x) == np.shape(args[0]) or "bound" not in case.name:
        np.testing.assert_allclose(np.broadcast_to(args[0], np.shape(back)), back, rtol=1e-12, atol=1e-12)


@every("case", [c for c in CASES if c.overload.batch == "leading"])
def test_each_leading_entry_has_its_own_log_jacobian(case):
    args = applied(case)
    _, once = case.overload.impl(NUMPY, *args)
    _, twice = case.overload.impl(NUMPY, np.stack([args[0], args[0]]), *args[1:])
    each = [np.sum(terms) for terms in (twice if np.ndim(twice) else (0.0, 0.0))]
    np.testing.assert_allclose(each, np.sum(once), rtol=1e-12, atol=1e-12)
