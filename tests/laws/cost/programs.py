"""The programs that the law is held to, with the data that are repeated."""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from laws.cost.counting import Counted, counted
from laws.cost.everyday import EVERYDAY
from laws.cost.repeated_data import Repeated, groups_of, rows_of

import ppl
from ppl.posterior import Posterior
from ppl.records import dataclass

ROOT = Path(__file__).parents[3]

BASE = 16
"""Rows that a program has at least, its data repeated."""
BASES: Mapping[str, int] = {
    "a length that depends on the row": 8,
    "an array of tuples": 8,
    "break": 8,
    "break by a parameter": 8,
    "break out of the rows": 8,
    "gp_logistic_matern": 8,
    "gp_regression": 8,
    "models/change_point": 8,
    "models/gp_poisson": 8,
    "models/gp_regression": 8,
    "models/influenza_sir": 3,
    "missing data, by a counter, in the loop": 8,
    "mpt_tree_and_int_logic": 6,
    "reject in a loop": 8,
    "shards": 24,
    "spatial_gp_binomial_matern52": 8,
    "tuples": 8,
    "zero_inflated_poisson": 32,
}
"""The same of some: fewer where rows are costly, more where a square is small at first."""
GROUPS = 8
"""Groups that a program has at most before they are repeated."""

SIZES: Mapping[str, tuple[str, ...]] = {
    "bym_icar_poisson": ("N_edges", "N"),
    "models/dawid_skene": ("N", "I", "J"),
    "dawid_skene_raters": ("I",),
    "local_level_missing": ("n_obs", "T"),
    "occupancy_ragged_visits": ("n_total", "S"),
}
"""What counts rows and groups, of programs whose largest size and bounds of indices do not say it."""

OTHER_COPIES: Mapping[str, tuple[str, ...]] = {"models/gp_poisson": ("x",)}
"""Data of which no two entries may be the same: the next copy is further on."""


@dataclass(frozen=True)
class Repeatable:
    """A program, and data of it with any number of rows."""

    name: str
    text: str
    data: Mapping[str, Any]
    sizes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name

    @cached_property
    def model(self) -> Counted:
        return counted(ppl.compile_model(self.text))

    @cached_property
    def rows(self) -> tuple[str, ...]:
        return self.sizes or SIZES.get(self.name) or rows_of(self.model, self.data)

    @cached_property
    def ways(self) -> tuple[Mapping[str, int], ...]:
        """What is repeated, with its sizes before: the rows, and the groups with them."""
        rows = {name: int(self.data[name]) for name in self.rows}
        base = BASES.get(self.name, BASE)
        factor = -(-base // max(rows.values(), default=base))
        if self.sizes or self.name in SIZES:
            return ({name: factor * n for name, n in rows.items()},)
        rows = {name: factor * min(n, 2 * base) for name, n in rows.items()}
        groups = {n: factor * min(self.data[n], GROUPS) for n in groups_of(self.model, self.rows)}
        return (rows, rows | groups) if groups else (rows,)

    def repeated(self, way: Mapping[str, int], times: int) -> Mapping[str, Any]:
        """The data with each of these sizes so many times as large."""
        values = Repeated(self.model, self.data, {name: times * n for name, n in way.items()}).values
        apart = {name: further(values[name]) for name in OTHER_COPIES.get(self.name, ())}
        return {**values, **apart}

    def posterior(self, way: Mapping[str, int], times: int) -> Posterior:
        return self.model.condition(self.repeated(way, times))


def further(x: Any) -> np.ndarray:
    """Numbers of which no two are the same, as far from one another as those given."""
    return np.linspace(np.min(x), np.max(x) + len(x), len(x))


def programs() -> list[Repeatable]:
    """The pack, the models, and everyday loops."""
    files = [*(ROOT / "tests/conformance/programs").glob("*.stan"), *(ROOT / "models").glob("*/*.model")]
    named = {name_of(file): file for file in sorted(files)}
    whole = [
        Repeatable(name, file.read_text("utf-8"), json.loads(file.with_suffix(".data.json").read_text()))
        for name, file in named.items()
    ]
    return whole + [Repeatable(name, text, data) for name, (text, data) in EVERYDAY.items()]


def name_of(file: Path) -> str:
    """The models that have a namesake in the pack are told apart."""
    return file.stem if file.suffix == ".stan" else f"models/{file.stem}"
