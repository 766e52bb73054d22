"""The slow path that explains: which term is not finite, and which argument of which distribution did it.

The fast path checks nothing.  When a density or a gradient is not finite, the same emitted code runs once
more with watched terms and watched distributions.
"""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from autograd.core import VJPNode
from autograd.tracer import isbox

from ppl.arrays import NUMPY, backward
from ppl.kernel.emit.runtime import ParameterPlace, block
from ppl.kernel.emit.text import Binding
from ppl.records import dataclass, field
from ppl.source import Span
from ppl.stdlib.constraints.bounds import LOWER_UPPER
from ppl.stdlib.record import Distribution
from ppl.stdlib.supports import SUPPORTS

HELP = (
    "Common remedies: a constraint on the parameter that leaves its domain (<lower=0> for a scale), "
    "starting values (init) nearer to the data's scale, data on a scale near one, a prior that keeps exp() "
    "from overflowing."
)


NO_START_HELPS = (
    "This does not depend on the parameters, so another start does not help: check the data and the "
    "constants of the statement. A bound in the data block (<lower=0>) rejects such data by name."
)
IN_DOMAIN = "though every argument lies in its domain"
"""The message for a density that is zero, for which Stan has no error."""
LOOK_AT_THE_VARIATE = (
    "The density is zero there, or too small for a double: the variate may be on the edge of the support or "
    "beyond it, or very far from where the parameters expect it."
)

AT_AN_EDGE = (
    "The density is infinite there: the variate is on the edge of the support, or has rounded to it. "
    "Use a prior that keeps it away from the edge."
)


class NotFinite(ArithmeticError):
    """A term of the target is nan or infinite, and this is why; `culprit` is what was out of its domain."""

    def __init__(self, why: str, help: str = "", culprit: Any = None):
        super().__init__(why)
        self.help, self.culprit = help, culprit


class Complaint(NamedTuple):
    """The fault of a call in words, with the argument that caused it and the usual remedy."""

    text: str
    culprit: Any
    help: str = HELP


@dataclass
class Watch:
    """The faults of the statement being run."""

    complaints: list[Complaint] = field(default_factory=list)

    def terms(self) -> "CheckedTerms":
        return CheckedTerms(self)

    def wrap(self, name: str, binding: Binding, f: Callable[..., Any]) -> Callable[..., Any]:
        """A distribution's function that notes which argument leaves its domain."""
        family = binding.family
        if binding.implicit:
            return f

        def watched(*args: Any) -> Any:
            value = f(*args)
            if family is not None and not np.all(np.isfinite(value)):
                self.complaints.append(complaint(name, family, args, value))
            elif family is None and breaks(args, value):
                self.complaints.append(broken(name, args, np.asarray(value)))
            return value

        return watched

    def constrain_lower_upper(self, u: Any, place: ParameterPlace, lower: Any, upper: Any) -> tuple[Any, Any]:
        """Between two bounds, of which the lower must be the lower one."""
        between = np.less(lower, upper)
        if not np.all(between):
            ends = [np.broadcast_to(b, between.shape)[~between][0] for b in (lower, upper)]
            raise NotFinite(
                f"The bounds leave no value: lower is {text_of(ends[0])} and upper is {text_of(ends[1])}.\n"
                "The lower bound must be below the upper bound; check for exchanged bounds and for data in "
                "other units."
            )
        x, log_jacobian = LOWER_UPPER.constrain(NUMPY, block(u, place), place.core, lower, upper)
        return x, np.sum(log_jacobian)


def breaks(args: Any, value: Any) -> bool:
    """Whether a function made something that is not finite of what is."""
    numeric = [a for a in args if isinstance(a, int | float | np.ndarray | np.number)]
    if len(numeric) != len(args) or not isinstance(value, float | np.ndarray | np.number):
        return False
    return all(np.all(np.isfinite(a)) for a in numeric) and not np.all(np.isfinite(value))


def broken(name: str, args: tuple[Any, ...], value: np.ndarray) -> Complaint:
    """The arguments of a function and its value where a value that is not finite first appeared."""
    index, at = first_where(~np.isfinite(value))
    here = [np.asarray(a)[index] if np.shape(a) == value.shape else a for a in args]
    return Complaint(f"`{name}` of {', '.join(map(text_of, here))} is {text_of(value[index])}{at}.", args)


class CheckedTerms(list[Any]):
    """Terms that stop at the first one that is not finite."""

    def __init__(self, watch: Watch):
        super().__init__()
        self.watch = watch

    def append(self, term: Any) -> None:
        if not np.isfinite(term):
            nothing = Complaint("no distribution in it says why.", None)
            why = next(iter(self.watch.complaints), nothing)
            text = f"This term of the log density is {float(term)}: {why.text}"
            raise NotFinite(text, why.help, why.culprit)
        self.watch.complaints.clear()
        super().append(term)


def unmoved(one: NotFinite, two: NotFinite) -> bool:
    """Whether the same thing is out of its domain at two points: then no parameter is in it."""
    if one.culprit is None or str(one) != str(two):
        return False
    first, second = (c if isinstance(c, tuple) else (c,) for c in (one.culprit, two.culprit))
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first, second, strict=True))


def complaint(name: str, family: Distribution, args: tuple[Any, ...], value: Any) -> Complaint:
    """The argument that leaves its domain, with its value and place; else that the density is zero there."""
    for position, ((arg, word), argument) in enumerate(zip(family.args, args, strict=False)):
        outside = first_outside(argument, SUPPORTS[word].contains)
        if outside is not None:
            wrong, at = outside
            what = f"argument {position} of `{name}` (`{arg}` in its definition)"
            what = what if position else f"the variate of `{name}`"
            return Complaint(f"{what} is {wrong}{at}, but must be {SUPPORTS[word].must_be}.", argument)
    of, at = where_zero(name, family, args)
    text = f"`{name}`{of} is {text_of(value)}{at}, {IN_DOMAIN}."
    return Complaint(text, args, AT_AN_EDGE if np.any(value == np.inf) else LOOK_AT_THE_VARIATE)


def where_zero(name: str, family: Distribution, args: tuple[Any, ...]) -> tuple[str, str]:
    """The first entries of the arguments where a density of many single numbers is zero, and their place."""
    if family.batch != "elementwise" or not name.endswith(("_lpdf", "_lpmf")):
        return "", ""
    each = np.asarray(family.log_density(NUMPY, *args))
    if each.ndim == 0 or not np.any(each == -np.inf):
        return "", ""
    index, at = first_where(each == -np.inf)
    here = (text_of(np.broadcast_to(a, each.shape)[index]) for a in args)
    return f" of {', '.join(here)}", at


def first_where(wrong: Any) -> tuple[tuple[int, ...], str]:
    """The first place in an array where something is wrong, and the words for it."""
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    return index, f" at [{', '.join(str(i + 1) for i in index)}]" if index else ""


def first_outside(value: Any, contains: Callable[[Any], Any]) -> tuple[str, str] | None:
    """The value with which an argument first leaves its domain, and where."""
    inside = np.asarray(contains(np.asarray(value)))
    if np.all(inside):
        return None
    if inside.shape != np.shape(value):
        return text_of(value), ""
    index, at = first_where(~inside)
    return f"{np.asarray(value)[index]:.6g}", at


def text_of(value: Any) -> str:
    return f"{float(value):.6g}" if np.ndim(value) == 0 else f"an array of shape {np.shape(value)}"


# --- Gradients -----------------------------------------------------------------------------------


class LocatedTerms(list[Any]):
    """Terms with the emitted lines that added them."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []

    def append(self, term: Any) -> None:
        self.lines.append(sys._getframe(1).f_lineno)
        super().append(term)


def blame_gradient(
    terms: LocatedTerms, roots: dict[str, VJPNode], spans: tuple[Span | None, ...]
) -> str | None:
    """The first term whose own gradient is not finite, and the parameters it is not finite in."""
    for term, line in zip(terms, terms.lines, strict=True):
        if not isbox(term):
            continue
        adjoints = backward(term._node, frozenset(roots.values()))
        bad = [name for name, root in roots.items() if not np.all(np.isfinite(adjoints.get(root, 0.0)))]
        if bad:
            span = spans[line - 1]
            names = ", ".join(f"`{name}`" for name in bad)
            place = f"{span.describe()}\n" if span else ""
            return f"{place}The gradient of this term in {names} is not finite.\n{HELP}"
    return None
