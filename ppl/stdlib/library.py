"""The names that a program may call with their overloads: the standard library and a user's records.

The tables of the standard library are imported when a program is checked.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from ppl.errors import ArgumentError
from ppl.records import dataclass, fields
from ppl.stdlib.constraints.record import Constraint
from ppl.stdlib.record import Distribution, Function, Overload
from ppl.stdlib.signatures import Callee, CalleeKind, Match, choose, parse_signature, split_commas
from ppl.stdlib.supports import SUPPORTS
from ppl.types import Type


@dataclass(frozen=True, eq=False)
class Library:
    """The distributions and functions that a program may call; `extended` makes one that has more.

    `jacobians` are functions name_jacobian, which return (value, terms of the log-Jacobian).

    Example:
        >>> from ppl.extend import unary
        >>> library = standard().extended(functions=[unary("cube", "x cubed", lambda xp, x: x * x * x)])
        >>> model = compile_model("generated quantities { real y = cube(2.0); }", library=library)
    """

    distributions: tuple[Distribution, ...]
    functions: tuple[Function, ...]
    jacobians: tuple[Function, ...] = ()

    def __repr__(self) -> str:
        return f"<Library of {len(self.distributions)} distributions and {len(self.functions)} functions>"

    def __deepcopy__(self, memo: Any) -> "Library":
        return self  # a value, of functions

    def __reduce__(self) -> Any:
        """By what it has beyond the standard library; its functions travel by their names in modules."""
        known = standard()
        return extended_standard, tuple(getattr(self, n)[len(getattr(known, n)) :] for n in RECORDS)

    @cached_property
    def callees(self) -> Mapping[str, Callee]:
        """Every name that a program may call."""
        functions = (Callee(f.name, "function", f, f.overloads) for f in self.functions)
        jacobians = (Callee(f.name, "jacobian", f, f.overloads) for f in self.jacobians)
        densities = (c for d in self.distributions for c in distribution_callees(d))
        return {c.name: c for c in (*functions, *jacobians, *densities)}

    @cached_property
    def families(self) -> Mapping[str, Distribution]:
        """The distribution that `y ~ name(...)` means, by its name."""
        return {d.name: d for d in self.distributions}

    @cached_property
    def overload(self) -> Callable[[str, tuple[Type, ...]], Match | None]:
        """The overload that a call of a name with arguments of these types means; None if there is none."""

        @cache  # choosing is slow
        def overload(name: str, args: tuple[Type, ...]) -> Match | None:
            callee = self.callees.get(name)
            return choose(callee, args) if callee else None

        return overload

    def extended(
        self,
        distributions: Iterable[Distribution] = (),
        functions: Iterable[Function] = (),
        constraints: Iterable[Constraint] = (),
    ) -> "Library":
        """This library and more; a constraint becomes the functions keyword_constrain and keyword_jacobian.

        Raises:
            ArgumentError: a name is taken or no name, a signature cannot be read, or a support is not known;
                the message says which record it is, and what was expected.
        """
        from ppl.stdlib.functions.constraint_functions import functions_of

        maps = [functions_of(c) for c in constraints]
        values, jacobians = (value for value, _ in maps), (jacobian for _, jacobian in maps)
        more = Library(tuple(distributions), (*functions, *values), tuple(jacobians))
        for d in more.distributions:
            refuse_distribution(d)
        for f in more.functions:
            refuse_function(f)
        extended = joined(self, more)
        refuse_taken(extended)
        return extended


RECORDS = tuple(f.name for f in fields(Library))


@cache
def standard() -> Library:
    """The standard library."""
    from ppl.stdlib.distributions.table import DISTRIBUTIONS
    from ppl.stdlib.functions.table import FUNCTIONS, JACOBIAN_FUNCTIONS

    return Library(DISTRIBUTIONS, FUNCTIONS, JACOBIAN_FUNCTIONS)


def joined(known: Library, more: Library) -> Library:
    """The records of both."""
    return Library(*(getattr(known, n) + getattr(more, n) for n in RECORDS))


def extended_standard(*more: Any) -> Library:
    """The standard library and the records that another one has beyond it."""
    return joined(standard(), Library(*more))


# --- The functions of a distribution ---------------------------------------------------------------


def distribution_callees(d: Distribution) -> Iterable[Callee]:
    """name_lpdf, name_cdf, name_rng and the others this family has."""
    mass = "lpmf" if d.discrete else "lpdf"
    joint = [parse_variate(s) for s in d.signatures]
    real = [f"({', '.join(parts)}) => real" for parts in joint]
    for suffix in (mass, mass.replace("lp", "lup")) if joint else ():
        yield callee(d, suffix, "density", real, d.log_density)
    for suffix, impl in zip(("cdf", "lcdf", "lccdf"), d.cdfs, strict=True):
        if impl is not None:
            yield callee(d, suffix, "cdf", real, impl)
    if d.rng is not None:
        derived = [f"({', '.join(parts[1:])}) => R" for parts in joint]
        yield callee(d, "rng", "rng", d.rng_signatures or derived, d.rng)


def parse_variate(signature: str) -> list[str]:
    """ "reals | reals, reals" as the list of its three arguments."""
    variate, _, params = signature.partition("|")
    return [variate.strip(), *split_commas(params)]


def callee(d: Distribution, suffix: str, kind: CalleeKind, signatures: Iterable[str], impl: object) -> Callee:
    overloads = tuple(Overload(s, impl, d.batch) for s in dict.fromkeys(signatures))  # type: ignore[arg-type]
    return Callee(f"{d.name}_{suffix}", kind, d, overloads)


# --- What a library refuses ------------------------------------------------------------------------

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?<!__)")
SUFFIXES = ("lpdf", "lpmf", "lupdf", "lupmf", "cdf", "lcdf", "lccdf", "rng", "lp", "jacobian")
"""Last words of a name that say what may be done with a function."""


def refuse_distribution(d: Distribution) -> None:
    """ArgumentError where a program could not call what the record stands for."""
    refuse_name("distribution", d.name)
    where = f"the distribution `{d.name}`"
    for name, support in (*d.args, *d.rng_args):
        if support not in SUPPORTS:
            raise ArgumentError(
                f"{where}: there is no support {support!r}, of its argument `{name}`; "
                f"there are {', '.join(SUPPORTS)}"
            )
    for text in d.signatures:
        if text.count("|") > 1 or ("|" not in text and len(d.args) > 1):
            raise ArgumentError(f'{where}: write the signature {text!r} as "variate | parameters"')
        if len(parse_variate(text)) != len(d.args):
            raise ArgumentError(
                f"{where}: {text!r} is of {len(parse_variate(text))} arguments, not {len(d.args)}"
            )
    if not d.signatures:
        raise ArgumentError(f'{where} has no signature, such as "reals | reals, reals"')
    for c in distribution_callees(d):
        refuse_signatures(where, c.overloads)


def refuse_function(f: Function) -> None:
    """ArgumentError where a program could not call the function of the record."""
    refuse_name("function", f.name)
    if not f.overloads:
        raise ArgumentError(f"the function `{f.name}` has no overload")
    refuse_signatures(f"the function `{f.name}`", f.overloads)


def refuse_name(kind: str, name: str) -> None:
    if not NAME.fullmatch(name):
        raise ArgumentError(
            f"{name!r} is not a valid name of a {kind}: letters, digits and underscores, a letter first"
        )
    last = name.rpartition("_")[2]
    if last in SUFFIXES and last != name:
        raise ArgumentError(
            f"the {kind} `{name}` ends in _{last}, which says what a function of a program may do"
        )


def refuse_signatures(where: str, overloads: Sequence[Overload]) -> None:
    for o in overloads:
        try:
            parse_signature(o.signature)
        except (KeyError, ValueError, AssertionError):
            raise ArgumentError(
                f"{where}: {o.signature!r} is not a signature, such as "
                '"(vector, real) => real"; ppl/stdlib/signatures.py has the notation'
            ) from None


def refuse_taken(library: Library) -> None:
    """ArgumentError where two records claim a name, or one that of an operator."""
    from ppl.stdlib.functions.operators import OPERATORS

    functions = [f.name for f in (*library.functions, *library.jacobians)]
    operators = {o.name for o in OPERATORS.values()}.difference(f.name for f in standard().functions)
    densities = (c.name for d in library.distributions for c in distribution_callees(d))
    calls = [*functions, *operators, *densities]
    for names in (calls, [d.name for d in library.distributions]):
        taken = [name for name, times in Counter(names).items() if times > 1]
        if taken:
            raise ArgumentError(f"the name `{taken[0]}` is in the library already: choose another")
