"""Which arguments of a call must have the same sizes; NumPy would repeat one of size 1."""

from typing import NamedTuple

from ppl.kernel.ir import nodes as ir
from ppl.types import core, rank


class Meeting(NamedTuple):
    """Two arguments of a call, by position, whose last axes, so many, must have the same sizes.

    `inner` are how many axes each has after these. The first comes before the other.
    """

    one: int
    other: int
    axes: int = 1
    inner: tuple[int, int] = (0, 0)


def by_rows(x: int, *rows: int) -> tuple[Meeting, ...]:
    """Those of a matrix x, whose rows are as many as entries of other arguments."""
    first, *others = rows
    of_x = (Meeting(min(k, x), max(k, x), inner=(int(x < k), int(k < x))) for k in rows)
    return (*(Meeting(first, k) for k in others), *of_x)


OWN_MEETINGS = {
    "log_mix": (Meeting(0, 1),),
    "multi_gp": (Meeting(0, 1), Meeting(0, 2, inner=(1, 0))),
    "multi_gp_cholesky": (Meeting(0, 1), Meeting(0, 2, inner=(1, 0))),
    "categorical_logit_glm": (*by_rows(1, 0), Meeting(2, 3)),
    "ordered_logistic_glm": by_rows(1, 0),
    "binomial_logit_glm": by_rows(2, 0, 1, 3),
    **dict.fromkeys(("bernoulli_logit_glm", "poisson_log_glm"), by_rows(1, 0, 2)),
    **dict.fromkeys(("normal_id_glm", "neg_binomial_2_log_glm"), by_rows(1, 0, 2, 4)),
}
OF_PAIRS = ("distance", "squared_distance", "columns_dot_product", "rows_dot_product")
OF_TWO_LENGTHS = ("categorical", "categorical_logit", "ordered_logistic", "ordered_probit")
"""Densities of many draws at once whose arguments have lengths of their own."""


def meetings(e: ir.Apply) -> list[Meeting]:
    """Arguments that a call takes entry by entry, or row by row."""
    callee, ranks = e.callee, e.ranks
    name = callee.family.name if callee.family is not None else callee.name
    if name in OWN_MEETINGS and callee.implicit != "rng":
        own = OWN_MEETINGS[name]
        return [m for m in own if ranks[m.one] > m.inner[0] and ranks[m.other] > m.inner[1]]
    whole = callee.batch == "elementwise" or name in OF_PAIRS
    together = [r > 0 and (whole or not k) for r, k in zip(ranks, callee.cores or ranks, strict=True)]
    if not any(together) and is_of_vectors(callee):
        together = [r > 0 for r in ranks]
        ranks = tuple(r if rank(core(a.type)) == 1 else 1 for r, a in zip(ranks, e.args, strict=True))
    first, *others = (k for k, t in enumerate(together) if t) if any(together) else (0,)
    return [Meeting(first, k, min(ranks[first], ranks[k])) for k in others]


def is_of_vectors(callee: ir.Callee) -> bool:
    """Whether it is a density whose containers all have one length, or rows of one length."""
    family = callee.family
    return family is not None and family.batch == "leading" and family.name not in OF_TWO_LENGTHS
