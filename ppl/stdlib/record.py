"""Records of one word of the standard library, which checker, emitter, laws and `ppl show` read.

Implementations take the namespace `xp` first.  A value is an ndarray with array axes first (an array of
vectors is (N, K)), a row vector has one axis like a vector, an int is a Python int or integer ndarray.
"""

import re
from collections.abc import Callable
from functools import cached_property, partial, wraps
from typing import Any, Literal

from ppl.arrays import Namespace, Node, with_partials
from ppl.records import dataclass, replace
from ppl.stdlib.moments import UNKNOWN, Moments
from ppl.stdlib.reals import reals

Impl = Callable[..., Any]
"""One that goes through far more numbers than it is given has a method `work(*args)`, which says how many."""

LeadingAxis = Literal["elementwise", "leading", "none", "whole"]
"""How an implementation takes arguments that carry one more leading axis:
elementwise  broadcasting does it; arguments of lower rank get axes inserted after the leading one
leading      it works on the trailing axes and lets any leading ones through
none         call it once for each entry of the leading axis
whole        it is no function of the language: it is given the values with all their axes"""


@dataclass(frozen=True)
class Overload:
    """One signature in the words of signatures.py, and the function that computes it."""

    signature: str
    impl: Impl
    batch: LeadingAxis = "none"


@dataclass(frozen=True)
class Function:
    """A function of the language; `meaning` is one line for `ppl show functions`."""

    name: str
    meaning: str
    overloads: tuple[Overload, ...]
    rejects: bool = False
    """Whether Stan rejects the arguments for which it is nan here, also if nothing reads it (Stan 2.40)."""


ArgumentNames = tuple[str, ...]
Supports = tuple[tuple[str, str], ...]
Cdfs = tuple[Impl | None, ...]
Constant = tuple[ArgumentNames, Impl] | tuple[ArgumentNames, Impl, ArgumentNames]


@dataclass(frozen=True)
class DensityParts:
    """A log density as the sum of two, `kernel(xp, y, *args)` and `term(xp, times, y, *few)`.

    The term, `times` over, needs y and the few arguments that `of` names with it; it is -inf where y, of a
    discrete family, lies outside the support whatever the other arguments, which the kernel need not look at.
    Both are elementwise with broadcasting.
    """

    kernel: Impl
    term: Impl
    of: ArgumentNames


@dataclass(frozen=True)
class Relation:
    """A condition that an rng puts on one argument in view of the others.

    The argument `name` must be `must_be`, in words; `holds(*args)`, with broadcasting, says where it is.
    """

    name: str
    must_be: str
    holds: Impl


NUMBERS = frozenset({"real", "reals", "int", "ints"})
"""The words of signatures for one number or many."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """A family of distributions: `y ~ name(args)`, name_lpdf, name_cdf, name_rng, ...; compared by identity.

    signatures   "variate | parameters" in the words of signatures.py, for instance "reals | reals, reals"
    args         (name, support) of the variate and each parameter; supports as in supports.py
    log_density  (xp, y, *args): elementwise with broadcasting when univariate; otherwise one value for
                 each leading index.  -inf outside the support, nan for a parameter outside its domain.
    cdfs         cdf, lcdf, lccdf or None, each (xp, y, *args), elementwise; the logs of the cdf and of its
                 complement are accurate each in its own tail
    rng          (rng, *args): a draw, or with leading axes one for each of their entries.  Each
                 argument is (*lead, *core): no core where elementwise, else the axes that `cores` names for
                 it or its type has, array axes aside.  The leads broadcast, and the result is (*lead, *core
                 of the variate); an argument without lead is the same for all, as a size has to be.  Leads
                 of different length are lined up at the left by whoever calls, with axes of length one, as
                 for log_density.  A family not `batched` without `cores` takes none: call it for each.
                 It may rely on `rng_args` and `relations`: a program calls it through drawing.py.
    rng_args     (name, support) of each argument of rng, where these are not the parameters in `args`, or
                 where Stan's rng takes more or less than its density
    relations    what else must hold between the arguments of rng
    constants    terms of log_density that propto drops, each a tuple (needs, term, sizes): the term goes when
                 every argument named in `needs` is data, and is term(xp, *needs, *sizes); of the arguments
                 named in `sizes`, which may be left out, it takes but the size.  The variate is "y" or as
                 `args` names it.
    parts        the log density in two, of which a program computes one less often
    batched      whether functions take one more leading axis; else they are called for each of its entries
    cores        where the types do not tell: how many axes one row of each argument has, the others being
                 rows; log_density then takes draws before the rows, of which one stands for all
    moments      what is expected of the variate, or why it has no mean
    """

    name: str
    meaning: str
    signatures: tuple[str, ...]
    args: Supports
    log_density: Impl
    cdfs: Cdfs = (None, None, None)
    rng: Impl | None = None
    rng_signatures: tuple[str, ...] = ()
    rng_args: Supports = ()
    relations: tuple[Relation, ...] = ()
    constants: tuple[Constant, ...] = ()
    parts: DensityParts | None = None
    batched: bool = True
    cores: tuple[int, ...] = ()
    moments: Moments = UNKNOWN

    @cached_property
    def batch(self) -> LeadingAxis:
        """How arguments with a leading axis are taken; elementwise where one value of each is a number."""
        words = re.findall(r"\w+", self.signatures[0]) if self.batched else ()
        return "none" if not words else "elementwise" if NUMBERS.issuperset(words) else "leading"

    @property
    def discrete(self) -> bool:
        """Whether the variate is of ints."""
        return any("int" in signature.partition("|")[0] for signature in self.signatures)

    @property
    def cdf(self) -> Impl | None:
        return self.cdfs[0]

    @property
    def lcdf(self) -> Impl | None:
        return self.cdfs[1]

    @property
    def lccdf(self) -> Impl | None:
        return self.cdfs[2]


def overloads_of(batch: LeadingAxis, *pairs: tuple[str, Impl]) -> tuple[Overload, ...]:
    """One overload for each signature and implementation."""
    return tuple(Overload(signature, impl, batch) for signature, impl in pairs)


def function(
    name: str,
    meaning: str,
    *overloads: tuple[str, Impl],
    batch: LeadingAxis = "none",
    rejects: bool = False,
) -> Function:
    """A function whose overloads all take a leading axis the same way."""
    return Function(name, meaning, overloads_of(batch, *overloads), rejects)


leading = partial(function, batch="leading")
"""A function that works on trailing axes and lets any leading ones through."""
elementwise = partial(function, batch="elementwise")
"""A function of each element by itself."""


def unary(name: str, meaning: str, impl: Impl, rejects: bool = False) -> Function:
    """An elementwise function of one real, over any container."""
    return elementwise(name, meaning, ("(T) => T", impl), rejects=rejects)


def binary(name: str, meaning: str, impl: Impl, rejects: bool = False) -> Function:
    """An elementwise function of two reals; a scalar goes with any container."""
    return elementwise(name, meaning, ("(T, T) => T", impl), rejects=rejects)


def continuous(args: Supports, log_density: Impl, cdfs: Cdfs = (None,) * 3, **others: Any) -> Distribution:
    """A family of real numbers: each argument is a scalar or a container, and its functions get floats."""
    return Distribution(
        signatures=(f"reals |{','.join([' reals'] * (len(args) - 1))}",),
        args=args,
        log_density=reals(log_density),
        cdfs=tuple(tail and reals(tail) for tail in cdfs),
        **others,
    )


def from_numpy(name: str, slope: Impl) -> Node:
    """NumPy's function of one number of this name, whose derivative is `slope(xp, answer, x)`."""

    @with_partials(slope)
    @wraps(slope)
    def value(xp: Namespace, x: Any) -> Any:
        return getattr(xp.np, name)(x)

    return value


OF_REALS = re.compile(r"\b(?:real|vector|row_vector|matrix)\b")


def in_complex(signature: str) -> str:
    """The signature with every word for reals turned into that for complex numbers."""
    return OF_REALS.sub(lambda word: "complex" if word[0] == "real" else f"complex_{word[0]}", signature)


def and_complex(f: Function) -> Function:
    """The function over complex numbers too, where its implementations do for both.

    Example:
        >>> [o.signature for o in and_complex(function("id", "x", ("(vector) => vector", abs))).overloads]
        ['(vector) => vector', '(complex_vector) => complex_vector']
    """
    known = {o.signature for o in f.overloads}
    more = (replace(o, signature=in_complex(o.signature)) for o in f.overloads if takes_reals(o.signature))
    return replace(f, overloads=(*f.overloads, *(o for o in more if o.signature not in known)))


def takes_reals(signature: str) -> bool:
    return OF_REALS.search(signature.split("=>")[0]) is not None


def guarded(xp: Namespace, valid: Any, value: Any) -> Any:
    """`value` where the parameters are valid, nan elsewhere."""
    return xp.np.where(valid, value, xp.np.nan)


def validity(xp: Namespace, valid: Any) -> Any:
    """0 where the parameters are valid and nan elsewhere, to be added: `guarded` for slow arithmetic.

    XLA computes sums of logarithms many numbers at a time, and where there is a choice among them one by one.
    Likewise supported(xp, inside, 0.0) is added to a value that is finite for every variate.
    """
    return xp.np.where(valid, 0.0, xp.np.nan)


def supported(xp: Namespace, inside: Any, value: Any) -> Any:
    """`value` where the variate is in the support, -inf elsewhere."""
    return xp.np.where(inside, value, -xp.np.inf)
