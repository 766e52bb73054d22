"""The records of a word as text: signatures, meaning, and the code that computes it."""

import inspect
import math
import re
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import NUMPY
from ppl.stdlib.constraints.record import ELEMENTWISE, Constraint, ConstraintPage
from ppl.stdlib.constraints.table import CONSTRAINTS
from ppl.stdlib.distributions.formulas import FORMULAS
from ppl.stdlib.distributions.multivariate_formulas import MULTIVARIATE, OF_HIDDEN_STATES
from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.stdlib.library import standard
from ppl.stdlib.record import Distribution, Impl, Overload
from ppl.stdlib.signatures import CLASSES, Callee, split_commas
from ppl.stdlib.supports import SUPPORTS

PAGE_WIDTH = 80
"""Columns of a page in a terminal."""
EXAMPLE = np.array([0.5, -1.0, 0.2, 0.3, -0.4, 0.1])

OF_DISTRIBUTIONS = ("density", "cdf", "rng")
SUFFIXES: Mapping[str, str] = {
    "_lpdf": "log density: ",
    "_lpmf": "log probability: ",
    "_lupdf": "log density without its constants: ",
    "_lupmf": "log probability without its constants: ",
    "_lcdf": "log of the distribution function: ",
    "_lccdf": "log of the survival function: ",
    "_cdf": "distribution function: ",
    "_rng": "a draw: ",
}
WORDS = re.compile(r"\w+")


@cache
def reference() -> Mapping[str, str]:
    """A page of text for each function, distribution and constraint, by its name.

    Example:
        >>> print(reference()["logit"].splitlines()[0])
        logit: log(x / (1 - x))
    """
    constraints = {c.keyword: "\n".join(constraint_page(c)) for c in CONSTRAINTS}
    distributions = {d.name: "\n".join(distribution_page(d)) for d in DISTRIBUTIONS}
    functions = {c.name: "\n".join(callee_page(c)) for c in standard().callees.values()}
    shared = functions.keys() & distributions.keys()
    both = {name: f"{functions[name]}\n\n{distributions[name]}" for name in shared}
    return {**constraints, **distributions, **functions, **both}


def one_line(name: str) -> str:
    """`name  meaning`, for lists."""
    return f"{name:28} {meaning(standard().callees[name])}"


# --- Pages ---------------------------------------------------------------------------------------


def callee_page(callee: Callee) -> Iterator[str]:
    yield f"{callee.name}: {meaning(callee)}\n"
    yield from (lines := [f"  {signature(callee.name, o)}" for o in callee.overloads])
    if callee.name in OF_HIDDEN_STATES:
        yield f"\n  {callee.name}(log_omega, Gamma, rho) =\n"
        yield from formula_lines(OF_HIDDEN_STATES[callee.name], indent=" " * 4)
    yield from where(lines, callee.overloads)


def meaning(callee: Callee) -> str:
    """The record's line; that of a distribution says which of its functions this is."""
    suffixed = next((text for suffix, text in SUFFIXES.items() if callee.name.endswith(suffix)), "")
    return f"{suffixed}{callee.record.meaning}" if callee.kind in OF_DISTRIBUTIONS else callee.record.meaning


def distribution_page(d: Distribution) -> Iterator[str]:
    variate, *params = d.args
    yield f"{d.name}: {d.meaning}\n"
    if d.signatures:
        yield f"  {variate[0]} ~ {d.name}({', '.join(name for name, _ in params)});\n"
    for name, support in d.args:
        yield f"  {name:8} is {SUPPORTS[support].must_be if support in SUPPORTS else support}"
    for name, must_be in of_draws(d):
        yield f"  {name:8} is {must_be}, in {d.name}_rng"
    if formula := FORMULAS.get(d.name) or MULTIVARIATE.get(d.name):
        yield f"\nLog {'probability' if d.discrete else 'density'}:"
        yield from formula_lines(formula)
    callees = [callee for callee in standard().callees.values() if callee.record is d]
    names = ", ".join(callee.name for callee in callees)
    yield from ("", *textwrap.wrap(f"Functions: {names}.", PAGE_WIDTH))
    lines = [f"  {signature(callee.name, o)}" for callee in callees for o in callee.overloads]
    yield from ("", *lines, *where(lines, [o for callee in callees for o in callee.overloads]))


def formula_lines(formula: str, indent: str = "  ") -> Iterator[str]:
    """One of several lines as it stands, else filled."""
    if "\n" in formula:
        yield textwrap.indent(formula, indent)
    else:
        yield from textwrap.wrap(formula, PAGE_WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ")


def of_draws(d: Distribution) -> Iterator[tuple[str, str]]:
    """Conditions that only the rng puts on its arguments."""
    yield from (
        (name, SUPPORTS[support].must_be) for name, support in d.rng_args if (name, support) not in d.args
    )
    yield from ((relation.name, relation.must_be) for relation in d.relations)


def constraint_page(c: Constraint) -> Iterator[str]:
    described = c.page
    assert described is not None
    free = "as many as x has elements" if described.size == ELEMENTWISE else described.size
    yield f"{c.keyword}: {c.meaning}\n\n  {described.declared}\n"
    yield f"  free numbers u: {free.replace('//', '/')}"
    yield from (f"  {'map:' if k == 0 else '':16}{line}" for k, line in enumerate(described.transform))
    yield f"  {'log-Jacobian:':16}{described.log_jacobian}\n"
    yield from constraint_example(c, described)
    yield f"\nComputed by {location(c.constrain)}."


def constraint_example(c: Constraint, described: ConstraintPage) -> Iterator[str]:
    """Images of a few numbers under the map."""
    u = free_example(c, described)
    free = u if c.free_shape(described.shape) else u[0]
    x, log_jacobian = c.constrain(NUMPY, free, described.shape, *described.arguments)
    named = zip(c.arguments, described.arguments, strict=True)
    settings = "".join(f", {name} = {value:g}" for name, value in named)
    yield f"  Example: u = {numbers(free)}{settings}"
    yield f"  gives x = {numbers(x)}"
    yield f"  with log-Jacobian {numbers(np.sum(log_jacobian))}."


def free_example(c: Constraint, described: ConstraintPage) -> NDArray[np.float64]:
    """The free numbers of a value, (n,)."""
    return EXAMPLE[: math.prod(c.free_shape(described.shape))]


def numbers(x: Any) -> str:
    """0.5, [0.5, -1], [[1, 0], [0, 1]]."""
    if np.ndim(x):
        return f"[{', '.join(map(numbers, x))}]"
    return f"{complex(x):.4g}" if np.iscomplexobj(x) else f"{float(x):.4g}"


def where(lines: list[str], overloads: tuple[Overload, ...] | list[Overload]) -> Iterator[str]:
    """The classes that `lines` names, and where the overloads are computed."""
    used = [name for name in CLASSES if any(name in WORDS.findall(line) for line in lines)]
    if used:
        yield from ("", *(f"  {name:8} {CLASSES[name]}" for name in used))
    places = ", ".join(dict.fromkeys(location(overload.impl) for overload in overloads))
    yield from ("", *textwrap.wrap(f"Computed by {places}.", PAGE_WIDTH, break_on_hyphens=False))


def signature(name: str, overload: Overload) -> str:
    """ "(vector, real) => vector" as "vector name(vector, real)"; a density's first argument before a bar."""
    args, result = overload.signature.split("=>")
    first, *rest = split_commas(args.strip()[1:-1]) or [""]
    bar = " | " if re.search(r"_(lu?p[dm]f|cdf|lcdf|lccdf)$", name) else ", "
    return f"{result.strip()} {name}({bar.join([first, ', '.join(rest)] if rest else [first])})"


def location(impl: Impl) -> str:
    """`ppl/stdlib/functions/links.py:25`: the file and line of an implementation."""
    plain = inspect.unwrap(getattr(impl, "value", impl))
    plain = getattr(plain, "value", plain)
    plain = getattr(plain, "func", plain)  # of a partial
    path = plain.__module__.replace(".", "/") + ".py"
    code = getattr(plain, "__code__", None)
    return f"{path}:{code.co_firstlineno}" if code else path
