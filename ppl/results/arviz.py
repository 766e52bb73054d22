"""Draws as ArviZ's InferenceData, its groups filled by Stan's habits of naming."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ppl.results.columns import Floats, reshape, variables
from ppl.results.draws import Table

PREDICTIVE, POINTWISE = "y_rep", "log_lik"


def to_arviz(table: Table, log_p: Floats, log_g: Floats, data: Mapping[str, Any]) -> Any:
    """InferenceData of one chain: `y_rep` is predictive, `log_lik` pointwise, the `y` in the data observed.

    Independent draws of an approximation have no chains, so `az.rhat` says nothing about them.
    Needs the extra `arviz`.
    """
    import arviz

    rows = table.rows[1:]
    values = {name: reshape(rows, table.columns, name)[np.newaxis] for name in variables(table.columns)}
    groups = {
        "posterior": {k: v for k, v in values.items() if k not in (PREDICTIVE, POINTWISE)},
        "posterior_predictive": {"y": values[PREDICTIVE]} if PREDICTIVE in values else {},
        "log_likelihood": {"y": values[POINTWISE]} if POINTWISE in values else {},
        "observed_data": {"y": np.asarray(data["y"])} if "y" in data else {},
        "sample_stats": {"lp": log_p[np.newaxis], "lp_approx": log_g[np.newaxis]},
    }
    return arviz.from_dict(**{group: content for group, content in groups.items() if content})
