"""A formula and its data as effects: columns of the design matrix, each with its text for one row."""

import re
from collections.abc import Iterable, Sequence, Set
from functools import reduce
from typing import Any

import numpy as np

from ppl.data.values import Numbers
from ppl.errors import ArgumentError, DataError
from ppl.formula.expressions import NAMESPACE, ExpressionText, expression
from ppl.formula.frame import formulae
from ppl.records import dataclass
from ppl.stdlib.functions.operators import LARGEST_INT

PROPORTIONS = ("p", "prop", "proportion")
"""The name of formulae for successes among trials."""
CODES_A_LEVEL = 3
"""Numbers of groups up to as many times the number of groups are taken for codes 1, 2, ..."""


@dataclass(frozen=True, eq=False)
class Effect:
    """A column of the design matrix: its name, text for one row and values. The intercept has no text."""

    name: str
    text: ExpressionText | None
    values: Numbers
    of_factors: bool
    variables: frozenset[str]
    is_product: bool = False

    @property
    def factor(self) -> str:
        """The text as a factor of a product."""
        return self.text.within(2) if self.text else "1"

    @property
    def sd(self) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.std(self.values))

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))


@dataclass(frozen=True, eq=False)
class GroupEffect:
    """An effect that varies over the groups of one or two variables."""

    effect: Effect
    groups: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Terms:
    """The columns that a formula reads.

    `trials` is the number of trials of a binomial outcome, a column or a number.
    """

    formula: str
    outcome: str
    trials: str
    frame: Any
    intercept: bool
    effects: tuple[Effect, ...]
    grouped: tuple[GroupEffect, ...]
    offsets: tuple[str, ...]
    exposure: Numbers
    coding: "Coding"


@dataclass(frozen=True)
class Coding:
    """How the program has each variable: as 0 and 1, as numbers of levels, as groups, else as reals.

    `row` is the name of a row's number.
    """

    levels: dict[str, tuple[str, ...]]
    binary: Set[str]
    ints: Set[str]
    groups: Set[str]
    row: str

    def of_row(self, variable: str) -> str:
        return f"{variable}[{self.row}]"

    def is_level(self, variable: str, level: Any) -> str:
        """1 in the rows of a level, else 0."""
        if variable in self.binary:
            return self.of_row(variable)
        code = self.levels[variable].index(level) + 1 if variable in self.levels else int(level)
        return f"({self.of_row(variable)} == {code})"


def read_formula(formula: str, frame: Any) -> Terms:
    """The terms of a formula, coded for the data in the frame.

    Raises:
        ArgumentError: a term is unsupported.
        DataError: a column does not fit its place in the formula.
    """
    try:
        with np.errstate(all="ignore"):
            design = formulae().design_matrices(formula, frame, extra_namespace=NAMESPACE)
    except Exception as error:  # whatever a function of the formula raises for these data
        raise ArgumentError(f"the formula {formula!r} cannot be read: {error}") from None
    if design.response is None:
        raise ArgumentError(f"the formula {formula!r} has no outcome; write `outcome ~ ...`")
    outcome, trials = outcome_of(design.response.term.term)
    require_last(design.response.term.term.components[0], frame)
    common = [*design.common.terms.values()] if design.common else []
    group = [*design.group.terms.values()] if design.group else []
    coding = coding_of(frame, common, group, {outcome, trials})
    plain = [term for term in common if hasattr(term, "components")]
    offsets = [term.components[0] for term in plain if term.kind == "offset"]
    terms = [term for term in plain if term.kind != "offset"]
    ones = np.ones(len(frame))
    grouped = [
        GroupEffect(effect, tuple(c.name for c in term.factor.components))
        for term in group
        for effect in effects_of(term.expr, coding, ones)
    ]
    return Terms(
        formula,
        outcome,
        trials,
        frame,
        len(plain) < len(common),
        tuple(effect for term in terms for effect in effects_of(term, coding, ones)),
        tuple(grouped),
        tuple(expression(c.call, coding.of_row, coding.ints).text for c in offsets),
        np.exp(sum((np.asarray(c.value, float) for c in offsets), np.zeros(len(frame)))),
        coding,
    )


def outcome_of(term: Any) -> tuple[str, str]:
    """The outcome, and of successes the trials."""
    (component,) = term.components
    tree = getattr(component, "call", None)
    if tree is None:
        return component.name, ""
    if (
        tree.callee in PROPORTIONS
        and len(tree.args) == 2
        and not any(hasattr(a, "symbol") for a in tree.args)
    ):
        return tree.args[0].name, str(tree.args[1])
    raise ArgumentError(
        f"the outcome `{tree}` is not a column. Add it to the data under a name; a binomial outcome is "
        "`p(successes, trials)`."
    )


def require_last(component: Any, frame: Any) -> None:
    """Refuse `outcome['no']` where the program has the probability of yes."""
    level = getattr(component, "reference", None)
    if level is not None and level != (last := frame[component.name].cat.categories[-1]):
        y = component.name
        raise ArgumentError(
            f"the program has the probability of {last}, the last level of {y}: remove ['{level}']"
        )


def coding_of(frame: Any, common: Sequence[Any], group: Sequence[Any], taken: Set[str]) -> Coding:
    """How the program codes each variable, which all terms that use it share."""
    terms = [t for t in (*common, *(g.expr for g in group)) if hasattr(t, "components")]
    components = [component for term in terms for component in term.components]
    groups = [component for term in group for component in term.factor.components]
    for component in groups:
        if component.name not in frame:
            raise ArgumentError(f"groups are those of a column, not of `{component.name}`")
    grouping = {component.name for component in groups}
    levels = {name: tuple(frame[name].cat.categories) for name in frame if is_words(frame[name])}
    called = {
        name for c in components if c.kind != "categoric" and hasattr(c, "call") for name in c.var_names
    }
    spanned = {variable_of(c) for c in components if c.kind == "categoric" and c.spans_intercept}
    two = {name for name in levels if len(levels[name]) == 2} - spanned
    factors = {variable_of(c) for c in components if c.kind == "categoric"} - levels.keys()
    flags = {name for name in frame if name not in levels and set(frame[name]) == {0, 1}} - called - factors
    numbered = (grouping | factors) - levels.keys()
    for name in numbered:
        require_codes(name, frame[name], name in grouping)
    binary = (two | flags) - grouping - taken
    row = next(name for name in ("n", "i", "row", "row_") if name not in frame)
    return Coding(levels, binary, binary | numbered, grouping, row)


def is_words(series: Any) -> bool:
    return hasattr(series, "cat")


def variable_of(component: Any) -> str:
    """The column that a factor is made of."""
    if not hasattr(component, "call"):
        return str(component.name)
    names = component.var_names - {""}
    if component.call.callee not in ("C", "T") or len(names) != 1:
        raise ArgumentError(f"`{component.name}` in a formula is unsupported; write C(column)")
    return str(*names)


def require_codes(name: str, series: Any, of_groups: bool) -> None:
    """Refuse numbers that cannot be numbers of groups or levels."""
    values = np.asarray(series, float)
    if not np.all(values == np.trunc(values)):
        raise DataError(
            f"{name} has numbers that are not integers, but the formula uses it as a factor", name
        )
    if np.abs(values).max() > LARGEST_INT:
        raise DataError(f"{name} has numbers above {LARGEST_INT}, the largest int: write them as words", name)
    if of_groups and not 1 <= values.min() <= values.max() <= CODES_A_LEVEL * len(set(values)):
        what = f"{name} has numbers from {values.min():g} to {values.max():g}, but groups are 1, 2, ..."
        raise DataError(f"{what} or words. Write them as words, such as {name}{values[0]:g}.", name)


def effects_of(term: Any, coding: Coding, ones: Numbers) -> list[Effect]:
    """The columns of a term; those of an interaction are products."""
    if not hasattr(term, "components"):
        return [Effect("", None, ones, True, frozenset())]
    columns = [columns_of(component, coding) for component in term.components]
    effects = reduce(lambda some, more: [joined(a, b) for a in some for b in more], columns)
    for effect in effects:
        if not np.all(np.isfinite(effect.values)):
            raise DataError(f"`{effect.factor}` of the formula is not finite in some row")
        if not np.isfinite(effect.sd):
            raise DataError(f"`{effect.factor}` of the formula is so large that its variance overflows")
    if constant := next((effect for effect in effects if effect.sd == 0), None):
        raise DataError(
            f"`{constant.factor}` of the formula is {constant.mean:g} in all rows: it has no effect"
        )
    return effects


def joined(a: Effect, b: Effect) -> Effect:
    return Effect(
        f"{a.name}_{b.name}",
        ExpressionText(f"{a.factor} * {b.factor}", 2),
        a.values * b.values,
        a.of_factors and b.of_factors,
        a.variables | b.variables,
        True,
    )


def columns_of(component: Any, coding: Coding) -> list[Effect]:
    """The columns of a variable or call: of numbers one, of a factor one a level but the reference."""
    if component.kind == "categoric":
        return factor_columns(component, coding)
    values = np.asarray(component.value, float)
    if values.ndim > 1:
        raise ArgumentError(f"`{component.name}` in a formula has several columns, which is unsupported")
    is_call = hasattr(component, "call")
    text = (
        expression(component.call, coding.of_row, coding.ints)
        if is_call
        else ExpressionText(coding.of_row(component.name))
    )
    variables = frozenset(component.var_names - {""})
    return [
        Effect(
            short_name(component.call if is_call else component.name),
            text,
            values,
            component.name in coding.binary,
            variables,
        )
    ]


def factor_columns(component: Any, coding: Coding) -> list[Effect]:
    name, values = variable_of(component), np.asarray(component.value, float)
    rows = component.contrast_matrix.matrix
    if not (np.isin(rows, (0, 1)).all() and (rows.sum(axis=0) == 1).all()):
        raise ArgumentError(
            f"`{component.name}` has contrasts other than those to a reference level; unsupported"
        )
    columns = values.reshape(len(values), -1).T
    codes = [int(np.argmax(column)) for column in rows.T]
    return [
        Effect(
            f"{name}_{as_name(str(int(level) if isinstance(level, float) else level)) or code}",
            ExpressionText(coding.is_level(name, level)),
            column,
            True,
            frozenset([name]),
        )
        for code, column in zip(codes, columns, strict=True)
        for level in [component.levels[code]]
    ]


def short_name(tree: Any) -> str:
    """A name for a number: of a column its own, else of what is computed from it."""
    text = str(tree)
    if getattr(tree, "callee", "") in ("center", "scale", "standardize", "I"):
        text = str(tree.args[0])
    return as_name(text.replace("np.", ""))


def as_name(text: str) -> str:
    """A text as part of a name, empty if none of its characters can be."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")


def far_from_zero(effects: Iterable[Effect], coding: Coding, frame: Any) -> list[str]:
    """Numbers as they are in these effects whose mean is more than an sd away from 0."""
    names = sorted(
        {name for effect in effects for name in effect.variables} - coding.levels.keys() - coding.ints
    )
    return [
        name
        for name in names
        if any(coding.of_row(name) in effect.factor.split(" * ") for effect in effects)
        and abs(frame[name].mean()) > frame[name].std()
    ]
