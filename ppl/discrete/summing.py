"""A program with discrete parameters, and the models it becomes: with sums, with tilted weights, with maxima.

What meets what may depend on data; then the program is a model only once there are data.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from ppl.discrete import refused
from ppl.discrete.concrete import NeedsData
from ppl.discrete.emit import MAXIMUM
from ppl.discrete.evaluate import known_value
from ppl.discrete.parameters import discrete_parameters, is_discrete
from ppl.discrete.rewrite import Setting, Summed, summed_out
from ppl.discrete.steps import Step
from ppl.discrete.transformed import divided
from ppl.discrete.uses import check_uses
from ppl.frontend import ast
from ppl.frontend.check import check
from ppl.frontend.facts import Facts

Build = Callable[[ast.Program, Facts], Any]
"""The last phases of the compiler, which make a Model."""


@dataclass(frozen=True)
class Summing:
    """A checked program with discrete parameters; `build` makes models of programs without."""

    tree: ast.Program = field(repr=False)
    facts: Facts = field(repr=False)
    most: int
    build: Build = field(repr=False)
    steps: tuple[Step, ...] = field(default=(), repr=False)
    """How they were summed out, once that is known."""

    @classmethod
    def of(cls, tree: ast.Program, facts: Facts, most: int, build: Build) -> "Summing":
        """Raises ModelError where a discrete parameter is used so that it cannot be summed out."""
        check_uses(tree, facts)
        return cls(tree, facts, most, build)

    @property
    def names(self) -> tuple[str, ...]:
        """The discrete parameters."""
        return tuple(d.name for d in self.tree.parameters if is_discrete(d))

    def summed(self, setting: Setting) -> Summed:
        """The program with the sums; NeedsData where that takes values that the setting does not have."""
        return summed_out(self.tree, self.facts, setting)

    def model(self) -> Any:
        """The model, or where that needs data one that becomes it when conditioned."""
        try:
            return self.made(Setting(most=self.most))
        except NeedsData:
            return replace(self.built(without(self.tree)), discrete=self, waits=True)

    def built(self, program: ast.Program) -> Any:
        """The model of a program that was made of this one."""
        return self.build(program, check(program, self.facts.library))

    def made(self, setting: Setting) -> Any:
        summed = self.summed(setting)
        return replace(self.built(summed.program), discrete=replace(self, steps=summed.steps))

    def with_data(self, values: Mapping[str, Any]) -> Any:
        """The model for these values of data and transformed data; ModelError where they do not tell all."""
        try:
            return self.made(Setting(most=self.most, values=values))
        except NeedsData as missing:
            why = f"how its entries meet depends on {missing}, which is not analysed"
            raise refused.unplanned(
                self.names, why, discrete_parameters(self.tree.parameters)[0].span
            ) from None

    def tilted(self, values: Mapping[str, Any]) -> tuple[Any, dict[str, str]]:
        """A model with further parameters, by the names of the discrete ones: weights of their values."""
        summed = self.summed(Setting(most=self.most, tilted=True, values=values))
        return self.built(summed.program), dict(summed.tilts)

    def most_probable(self, values: Mapping[str, Any]) -> Any:
        """A model whose discrete variables have their jointly most probable values, given the others."""
        return self.made(Setting(way=MAXIMUM, most=self.most, values=values))

    def check_sizes(self, values: Mapping[str, Any]) -> None:
        """Refuses a table that is too large for these data."""
        for d in discrete_parameters(self.tree.parameters):
            lower, upper = (known_value(e, values) for e in (d.lower, d.upper))
            if lower is not None and upper is not None and lower > upper:
                raise refused.bounds(d.name, "leave no value: the upper one is below the lower one", d.span)
        for step in self.steps:
            if step.order and known_value(step.parameter.dims[step.along], values) == 0:
                raise refused.unplanned([step.parameter.name], "a chain has no entry", step.parameter.span)
            sizes = [known_value(e, values) for e in step.entries]
            if None not in sizes and (entries := prod(map(int, sizes))) > self.most:
                raise refused.too_large(step.together, entries, self.most, step.parameter.span)


def summed(tree: ast.Program, facts: Facts, values: Mapping[str, Any]) -> Summed:
    """The program with its discrete parameters summed out; ModelError where that takes more data."""
    check_uses(tree, facts)
    try:
        return summed_out(tree, facts, Setting(values=values))
    except NeedsData:
        found = discrete_parameters(tree.parameters)
        raise refused.waits([d.name for d in found], found[0].span) from None


def check_discrete(tree: ast.Program, facts: Facts) -> None:
    """ModelError where a discrete parameter cannot be summed out, as far as the program alone tells."""
    check_uses(tree, facts)
    with suppress(NeedsData):
        summed_out(tree, facts)


def without(p: ast.Program) -> ast.Program:
    """The program of the continuous parameters alone: its data are read and its sizes known."""
    discrete = {d.name for d in p.parameters if is_discrete(d)}
    kept, _ = divided(p.transformed_parameters, discrete)
    real = tuple(d for d in p.parameters if d.name not in discrete)
    return replace(p, parameters=real, transformed_parameters=kept, model=(), generated_quantities=())
