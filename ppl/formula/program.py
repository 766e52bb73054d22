"""The terms of a formula as the text of a program."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from ppl.data import Inputs
from ppl.data.values import Numbers
from ppl.formula.expressions import number
from ppl.formula.families import WIDE, Family
from ppl.formula.outcome import numbers_of
from ppl.formula.terms import Effect, GroupEffect, Terms, far_from_zero
from ppl.printable import printable
from ppl.records import dataclass

LONGEST_LINE = 100
"""A comment that makes a line longer stands above it."""
MOST_TERMS = 100
"""Terms of one statement: the checker follows a sum to a bounded depth."""
DROPPED = "--missing drop"
"""The option that leaves incomplete rows out."""
WORDS = re.compile(r"\w+|\W+")


def line(code: str, text: str = "") -> str:
    """A line of a block, with a comment beside it or above."""
    beside = f"  {code}  {comment(text)}" if text else f"  {code}"
    return beside if len(beside) <= LONGEST_LINE or not text else f"  {comment(text)}\n  {code}"


def comment(text: str) -> str:
    """Text of the data or of the formula as one line that ends no comment."""
    return f"// {printable(text, kept='')}"


def distinct(wanted: Sequence[str], taken: Iterable[str]) -> list[str]:
    """Names as wanted, each with `_` behind it until it is none of the others."""
    used, names = {*taken}, []
    for name in wanted:
        while name in used:
            name += "_"
        used.add(name)
        names.append(name)
    return names


def written(terms: Terms, family: Family, inputs: Inputs) -> str:
    """The program of these terms, whose names are none of the data's."""
    program = Program(terms, family, frozenset(inputs.values))
    incomplete = len(inputs.values[terms.outcome]) - len(terms.frame)
    blocks = {
        "data": program.data(),
        "transformed data": program.sizes_from_numbers(),
        "parameters": program.parameters(),
        "model": program.model(),
    }
    head = "\n".join(map(comment, program.about(inputs.label, incomplete)))
    body = "\n".join(
        f"{name} {{\n{chr(10).join(lines)}\n}}" for name, block in blocks.items() if (lines := [*block])
    )
    return f"{head}\n{body}\n"


@dataclass(frozen=True, eq=False)
class Program:
    """The blocks of a program, line by line."""

    terms: Terms
    family: Family
    taken: frozenset[str]

    @cached_property
    def y(self) -> Numbers:
        return numbers_of(self.terms.frame[self.terms.outcome], 0)

    @cached_property
    def unit(self) -> float:
        """The unit of priors of coefficients: the sd of the outcome, or 1 on a link's scale."""
        return float(np.std(self.y)) if self.family.in_units else 1.0

    @cached_property
    def has_alpha(self) -> bool:
        return self.terms.intercept and not self.family.is_ordinal

    def name(self, wanted: str) -> str:
        """A name that no column has."""
        return distinct([wanted], self.taken)[0]

    def size_of(self, group: str) -> str:
        return self.name(f"J_{group}")

    # --- Declarations ----------------------------------------------------------------------------

    def about(self, label: str, incomplete: int) -> Iterator[str]:
        """The rows that the program is of: all rows of the data but the incomplete ones."""
        yield self.terms.formula
        yield f"Written by `ppl new --formula` for {len(self.terms.frame)} rows of {label}."
        if incomplete:
            yield f"{incomplete} rows have missing values: {DROPPED} leaves them out."
        products = [effect for effect in self.terms.effects if effect.is_product]
        grouped = [g.effect for g in self.terms.grouped]
        for name in far_from_zero((*products, *grouped), self.terms.coding, self.terms.frame):
            yield f"{name} is far from 0: with center({name}) the other effects are those at its mean."

    def data(self) -> Iterator[str]:
        terms = self.terms
        n = self.name("N")
        yield line(f"int<lower=1> {n};")
        for group in self.groups:
            if group in terms.coding.levels:
                yield line(f"int<lower=1> {self.size_of(group)};", f"the number of levels of {group}")
        others = sorted({*terms.frame} - {terms.outcome, terms.trials}, key=terms.formula.index)
        if terms.trials in terms.frame:
            yield line(f"array[{n}] int<lower=0> {terms.trials};")
        levels = len(set(self.y))
        outcome = self.family.outcome.format(n=n, trials=terms.trials, levels=levels)
        yield line(f"{outcome} {terms.outcome};", self.codes_of(terms.outcome))
        for name in others:
            yield self.predictor(name, n)

    def predictor(self, name: str, n: str) -> str:
        coding = self.terms.coding
        if name in coding.binary:
            return line(f"array[{n}] int<lower=0, upper=1> {name};", self.codes_of(name))
        if name in coding.groups:
            upper = f", upper={self.size_of(name)}" if name in coding.levels else ""
            return line(f"array[{n}] int<lower=1{upper}> {name};")
        if name in coding.levels:
            upper = f"{len(coding.levels[name])}"
            return line(f"array[{n}] int<lower=1, upper={upper}> {name};", self.codes_of(name))
        return line(f"array[{n}] int {name};" if name in coding.ints else f"vector[{n}] {name};")

    def codes_of(self, name: str) -> str:
        """The levels that the numbers of a column of words stand for."""
        is_binary = name in self.terms.coding.binary or (name == self.terms.outcome and self.family.is_binary)
        levels = self.terms.coding.levels.get(name, ())
        return ", ".join(f"{code} is {level}" for code, level in enumerate(levels, int(not is_binary)))

    @cached_property
    def groups(self) -> Sequence[str]:
        return sorted({name for g in self.terms.grouped for name in g.groups}, key=self.terms.formula.index)

    def sizes_from_numbers(self) -> Iterator[str]:
        for group in self.groups:
            if group not in self.terms.coding.levels:
                yield line(f"int {self.size_of(group)} = max({group});", "groups that are numbers")

    def parameters(self) -> Iterator[str]:
        if self.has_alpha:
            yield line(f"real {self.name('alpha')};", self.meaning_of_alpha)
        for effect in self.terms.effects:
            yield line(f"real {self.coefficients[effect]};")
        if self.family.is_ordinal:
            yield line(f"ordered[{len(set(self.y)) - 1}] {self.name('cut')};", self.meaning_of_cut)
        for g in self.terms.grouped:
            tau, u = self.names_of[g]
            sizes = ", ".join(self.size_of(group) for group in g.groups)
            kind = "vector" if len(g.groups) == 1 else "matrix"
            yield line(f"real<lower=0> {tau};", f"the sd of {u}")
            yield line(f"{kind}<multiplier={tau}>[{sizes}] {u};")
        for other in self.family.others:
            comment = other.comment.format(outcome=f"{self.terms.outcome} given the predictors")
            yield line(f"real{other.constraint} {self.name(other.name)};", comment)

    @cached_property
    def coefficients(self) -> Mapping[Effect, str]:
        effects = self.terms.effects
        return dict(zip(effects, distinct([f"b_{e.name}" for e in effects], self.taken), strict=True))

    @cached_property
    def names_of(self) -> Mapping[GroupEffect, tuple[str, str]]:
        """The standard deviation of each group effect, and the effect."""
        grouped = self.terms.grouped
        names = ["_".join([*g.groups, *filter(None, [g.effect.name])]) for g in grouped]
        both = (distinct([f"{kind}_{name}" for name in names], self.taken) for kind in ("tau", "u"))
        return dict(zip(grouped, zip(*both, strict=True), strict=True))

    @property
    def meaning_of_alpha(self) -> str:
        return f"{self.family.scale} of {self.terms.outcome}{self.reference}"

    @property
    def meaning_of_cut(self) -> str:
        return f"log odds of at most 1, 2, ...{self.reference}"

    @property
    def reference(self) -> str:
        """Where the effects are 0."""
        single = [effect for effect in self.terms.effects if not effect.is_product]
        at = [f"{effect.name} {self.centre(effect)}" for effect in single if not effect.of_factors]
        factors = sorted(
            {name for e in single for name in e.variables if e.of_factors}, key=self.terms.formula.index
        )
        at += [f"{name} {self.terms.coding.levels.get(name, ('0',))[0]}" for name in factors]
        return f" at {', '.join(at)}" if at else ""

    # --- Statements ------------------------------------------------------------------------------

    def model(self) -> Iterator[str]:
        yield from self.priors()
        n, row, eta = self.name("N"), self.terms.coding.row, self.name(self.family.predictor)
        terms = [*self.summands()] or ["0"]
        yield line(f"vector[{n}] {eta};")
        yield line(f"for ({row} in 1:{n}) {{")
        for k in range(0, len(terms), MOST_TERMS):
            begin = f"  {eta}[{row}] {'+=' if k else '='} "
            yield line(begin + f"\n{' ' * len(begin)}+ ".join(terms[k : k + MOST_TERMS]) + ";")
        yield line("}")
        yield line(f"{self.terms.outcome} ~ {self.statement(eta)};")

    def summands(self) -> Iterator[str]:
        """The terms of the linear predictor of a row."""
        if self.has_alpha:
            yield self.name("alpha")
        yield from self.terms.offsets
        for effect in self.terms.effects:
            yield f"{self.coefficients[effect]} * {self.centred(effect)}"
        for g in self.terms.grouped:
            index = ", ".join(map(self.terms.coding.of_row, g.groups))
            factor = f" * {g.effect.factor}" if g.effect.text else ""
            yield f"{self.names_of[g][1]}[{index}]{factor}"

    def centre(self, effect: Effect) -> str:
        """A round number within half an sd of a predictor's mean; 0 in a program without intercept."""
        if effect.is_product or effect.of_factors or not self.terms.intercept:
            return "0"
        digits = -math.floor(math.log10(effect.sd))
        return number(round(effect.mean, digits), 15)

    def centred(self, effect: Effect) -> str:
        centre = self.centre(effect)
        if not effect.text or float(centre) == 0:
            return effect.factor
        sign = "+" if centre.startswith("-") else "-"
        return f"({effect.text.text} {sign} {centre.lstrip('-')})"

    def statement(self, eta: str) -> str:
        """The outcome's distribution with the names that the program has."""
        words = {"eta": eta, "mu": eta} | {other.name: self.name(other.name) for other in self.family.others}
        words["cut"] = self.name("cut")
        text = self.family.statement.format(trials=self.terms.trials)
        return "".join(words.get(word, word) for word in WORDS.findall(text))

    def priors(self) -> Iterator[str]:
        family, unit = self.family, self.unit
        yield f"  // {self.scale_of_priors}"
        if self.has_alpha:
            location = number(family.location(self.y, self.terms.exposure), 2)
            yield line(f"{self.name('alpha')} ~ normal({location}, {number(family.intercept * unit, 2)});")
        for effect in self.terms.effects:
            spread = 1.0 if effect.of_factors and family.by_level else effect.sd
            comment = "" if effect.of_factors else f"the sd of {effect.name} is {number(effect.sd, 2)}"
            yield line(
                f"{self.coefficients[effect]} ~ normal(0, {number(family.wide * unit / spread, 2)});", comment
            )
        if family.is_ordinal:
            yield line(f"{self.name('cut')} ~ normal(0, {WIDE});")
        for g in self.terms.grouped:
            tau, u = self.names_of[g]
            spread = g.effect.sd if g.effect.text else 1.0
            yield line(f"{tau} ~ normal(0, {number(WIDE * unit / spread, 2)});")
            yield line(f"{u if len(g.groups) == 1 else f'to_vector({u})'} ~ normal(0, {tau});")
        for other in family.others:
            yield line(f"{self.name(other.name)} ~ {other.density.format(sd=number(unit, 2))};")

    @property
    def scale_of_priors(self) -> str:
        wide = f"{self.family.wide:g}"
        if self.family.in_units:
            y, change = self.terms.outcome, number(self.family.wide * self.unit, 2)
            return f"Priors: one sd of a predictor changes {y} by about {change}, {wide} of its sd."
        return f"Priors: one sd of a predictor changes the {self.family.scale} by about {wide}."
