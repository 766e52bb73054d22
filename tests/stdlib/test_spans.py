"""Reductions of ranges that differ from entry to entry are those of one range after the other."""

import numpy as np
import pytest
from autograd import grad

from ppl.arrays import AUTOGRAD, NUMPY
from ppl.stdlib import spans
from ppl.stdlib.functions.log_sums import log_sum_exp
from ppl.stdlib.functions.sums import product, total

ONE_BY_ONE = {
    spans.sums_of_spans: total,
    spans.products_of_spans: product,
    spans.log_sums_of_spans: log_sum_exp,
}
LOWER, UPPER = np.array([1, 3, 5, 2, 6, 1, 4]), np.array([6, 2, 5, 4, 6, 1, 3])  # two are empty
ROWS = np.array([2, 1, 3, 3, 1, 2, 2])
ENDS = {
    "any": (LOWER, UPPER),
    "one beginning": (1, UPPER),
    "one end": (LOWER, 6),
    "one range": (np.full(7, 2), 4),
    "none": (np.zeros(0, int), np.zeros(0, int)),
}


def one_by_one(xp, reduction, x, lower, upper, *at):
    bounds = zip(*np.broadcast_arrays(lower, upper), strict=True)
    found = [
        reduction(xp, x[(..., *(i[k] - 1 for i in at), slice(a - 1, max(b, a - 1)))])
        for k, (a, b) in enumerate(bounds)
    ]
    return xp.np.stack(found, axis=-1) if found else np.zeros((*x.shape[: x.ndim - 1 - len(at)], 0))


@pytest.mark.rotate
@pytest.mark.parametrize("overlap", [spans.MOST_OVERLAP, 0])
@pytest.mark.parametrize("most", [2**20, 9, 1])
@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("of_spans", ONE_BY_ONE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("case", ["list", "list of every draw", "rows", "rows of every draw"])
def test_it_is_one_range_after_the_other(monkeypatch, case, of_spans, ends, most, overlap):
    monkeypatch.setattr(spans, "MOST_AT_ONCE", most)
    monkeypatch.setattr(spans, "MOST_OVERLAP", overlap)
    shape = (2,) * ("draw" in case) + (3,) * ("rows" in case) + (6,)
    rng = np.random.default_rng(5)
    x, at = rng.normal(size=shape), (ROWS[: np.size(ends[0])],) if "rows" in case else ()
    if at and np.ndim(ends[0]) == 0:
        at = (ROWS,)
    expected = one_by_one(NUMPY, ONE_BY_ONE[of_spans], x, *ends, *at)
    np.testing.assert_allclose(of_spans(NUMPY, x, *ends, *at), expected, rtol=1e-13, atol=1e-15)
    if expected.size and np.isfinite(expected).all():
        weights = rng.normal(size=expected.shape)
        found, plain = (
            grad(lambda x, f=f: (f(x) * weights).sum())(x)
            for f in (
                lambda x: of_spans(AUTOGRAD, x, *ends, *at),
                lambda x: one_by_one(AUTOGRAD, ONE_BY_ONE[of_spans], x, *ends, *at),
            )
        )
        np.testing.assert_allclose(found, plain, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("of_spans", ONE_BY_ONE, ids=lambda f: f.__name__)
def test_a_range_outside_is_refused_unless_it_is_empty(of_spans):
    x = np.arange(4.0)
    assert of_spans(NUMPY, x, np.array([9, 1]), np.array([8, 2])).shape == (2,)
    for lower, upper in ((3, 5), (0, 2)):
        with pytest.raises(IndexError, match=rf"{lower}:{upper} lies outside 1:4"):
            of_spans(NUMPY, x, np.array([1, lower]), np.array([2, upper]))


def test_few_long_ranges_do_not_fill_up_many_short_ones():
    """Groups of one row and one of all rows: N numbers more, not N for each group."""
    widths = np.append(np.arange(999) % 3, 1000)
    _, parts = spans.alike(widths, 1)
    reduced = sum(len(widths[part]) * max(widths[part].max(), 1) for part in parts)
    assert reduced <= spans.MOST_FILLED * widths.sum()


@pytest.mark.parametrize("of_spans", ONE_BY_ONE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("ends", [(1, np.arange(1, 41)), (np.arange(1, 41), 40)], ids=["begin", "end"])
def test_ranges_that_overlap_are_running_reductions(of_spans, ends):
    x = np.random.default_rng(5).normal(size=(2, 40))
    x[:, 3] = -np.inf if of_spans is spans.log_sums_of_spans else 0.0
    expected = one_by_one(NUMPY, ONE_BY_ONE[of_spans], x, *ends)
    np.testing.assert_allclose(of_spans(NUMPY, x, *ends), expected, rtol=1e-12, atol=1e-14)  # of sums near 0
    slopes = grad(lambda x: (of_spans(AUTOGRAD, x, *ends) * np.sin(np.arange(40))).sum())(x)
    plain = grad(
        lambda x: (one_by_one(AUTOGRAD, ONE_BY_ONE[of_spans], x, *ends) * np.sin(np.arange(40))).sum()
    )(x)
    np.testing.assert_allclose(slopes, plain, rtol=1e-10, atol=1e-13)
