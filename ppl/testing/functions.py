"""The laws of a function: sample arguments from its signatures, then what must hold.

`cases(f, domains)` makes one case of each overload, several where it stands for many shapes.
"""

import itertools
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from ppl.arrays import AUTOGRAD, NUMPY, Namespace
from ppl.records import dataclass
from ppl.stdlib.functions.complex_parts import to_complex
from ppl.stdlib.library import refuse_function
from ppl.stdlib.record import Function, LeadingAxis, Overload
from ppl.stdlib.signatures import Callee, Match, Pattern, choose, parse_signature
from ppl.testing.law import Law, gradient, slopes
from ppl.types import (
    INT,
    MATRIX,
    REAL,
    VECTOR,
    Tuple,
    Type,
    array_dims,
    array_of,
    complex_of,
    element_type,
    is_complex,
    rank,
)

N = 3
"""The size of every axis, so that all products fit."""
DEEPEST = 3
"""Array axes: more of them repeat an overload, at the cost of many differences."""


@dataclass(frozen=True)
class Domain:
    """Free numbers and the map that makes valid arguments of them, through which gradients are taken."""

    draw: Callable[[np.random.Generator, tuple[int, ...]], Any]
    into: Callable[[Namespace, Any], Any] = lambda xp, x: x


def interval(low: float, high: float) -> Domain:
    return Domain(lambda rng, shape: rng.uniform(low, high, shape))


def exactly(value: Any) -> Domain:
    return Domain(lambda rng, shape: np.full(np.shape(value) or shape, value)[()])


UNIT = interval(0.2, 0.9)
ANY = Domain(lambda rng, shape: rng.normal(size=shape))
COMPLEX = Domain(
    lambda rng, shape: rng.normal(size=(*shape, 2)),
    lambda xp, x: to_complex(xp, x[..., 0], x[..., 1]),
)
"""Complex numbers, whose free numbers are their parts along one more axis."""
Domains = Sequence[Domain]


def check_function(
    f: Function,
    domains: Domains | Callable[[Overload, tuple[Type, ...]], Domains] = (),
    differentiable: bool = True,
    finite: bool = True,
) -> None:
    """Test every overload of a function against the laws, at random arguments.

    The result has the type of the signature and is finite, unless it need not be. Both namespaces give the
    same values. Derivatives equal finite differences, unless it is not `differentiable`. A leading axis, if
    the overload takes one, equals a loop.  Arguments are drawn from `domains`, one each, or what it makes of
    an overload and the types of its arguments; else reals from (0.2, 0.9), ints are 2, or 1, 2, 3 in any
    order.

    Raises:
        AssertionError: a law does not hold; the message says which, and gives the numbers.
        ValueError: the record is not well formed.

    Example:
        >>> from ppl.extend import unary
        >>> check_function(unary("cube", "x cubed", lambda xp, x: x * x * x), domains=[interval(-2.0, 2.0)])
    """
    refuse_function(f)
    for case in cases(f, domains, differentiable, finite):
        for law in LAWS:
            if law.applies(case):
                law.check(case, str(case))


def default_domain(t: Type, batch: LeadingAxis) -> Domain:
    if element_type(t) == INT:
        return Domain(_permutation)
    if is_complex(t):
        return COMPLEX
    return ANY if t == MATRIX and batch != "elementwise" else UNIT


def _permutation(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """2, or the numbers 1, 2, 3 in any order, which are indices and sizes within every axis."""
    return rng.permuted(np.broadcast_to(np.arange(1, N + 1), shape), axis=-1) if shape else 2


@dataclass(frozen=True)
class Case:
    """One overload at arguments of given types; `free` are the numbers before Domain.into."""

    record: Function
    overload: Overload
    types: tuple[Type, ...]
    domains: tuple[Domain, ...]
    differentiable: bool = True
    finite: bool = True

    def __str__(self) -> str:
        return f"{self.record.name}({', '.join(map(str, self.types))})"

    def draw(self, rng: np.random.Generator) -> list[Any]:
        return [d.draw(rng, (N,) * rank(t)) for d, t in zip(self.domains, self.types, strict=True)]

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(zlib.crc32(str(self).encode()))

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def result(self) -> Match:
        """The checker's choice for a call with these types."""
        call = choose(Callee(self.name, "function", self.record, (self.overload,)), self.types)
        assert call is not None
        return call

    @property
    def real(self) -> list[int]:
        return [i for i, t in enumerate(self.types) if element_type(t) != INT]

    def call(self, xp: Namespace, *free: Any) -> Any:
        """The value of the overload."""
        args = [d.into(xp, x) for d, x in zip(self.domains, free, strict=True)]
        return self.overload.impl(xp, *args)


def concrete(pattern: Pattern, shape: Type) -> Type:
    """A type that fits the pattern; `shape` is what T stands for."""
    match pattern.base:
        case "T":
            return shape
        case "C":
            return complex_of(shape)
        case "I":
            return array_of(INT, rank(shape))
        case "E":
            return array_of(REAL, abs(pattern.dims))
        case "reals" | "vectors":
            return VECTOR
        case "ints":
            return array_of(INT, 1)
        case base:
            assert not isinstance(base, str), f"no argument is written {base!r}"
            return array_of(base, pattern.dims)


def instances(patterns: tuple[Pattern, ...]) -> Iterator[tuple[Type, ...]]:
    """All scalars, all containers, and every single container among scalars."""
    free = [i for i, p in enumerate(patterns) if p.base in ("T", "I", "C")]
    chosen: Iterable[tuple[int, ...]] = [()]
    if free:
        chosen = dict.fromkeys([(), tuple(free), *[(i,) for i in free]])
    for containers in chosen:
        yield tuple(concrete(p, VECTOR if i in containers else REAL) for i, p in enumerate(patterns))


def cases(
    f: Function,
    domains: Domains | Callable[[Overload, tuple[Type, ...]], Domains] = (),
    differentiable: bool = True,
    finite: bool = True,
) -> Iterator[Case]:
    """One case for each overload and each choice of types; see check_function."""
    for overload in f.overloads:
        for types in instances(parse_signature(overload.signature).args):
            if max(map(array_dims, types), default=0) <= DEEPEST:
                hints = domains(overload, types) if callable(domains) else domains
                padded = itertools.zip_longest(hints[: len(types)], types)
                chosen = tuple(hint or default_domain(t, overload.batch) for hint, t in padded)
                yield Case(f, overload, types, chosen, differentiable, finite)


def flat(result: Any) -> NDArray[Any]:
    """The result as one flat array; a tuple's items one after the other."""
    parts = result if isinstance(result, tuple) else (result,)
    return np.concatenate([np.ravel(np.asarray(p)) for p in parts])


def weighted(result: Any) -> Any:
    """A scalar that depends on every entry of the result, traced or not."""
    total = 0.0
    for part in parts_of(result):
        weights = np.cos(1.0 + np.arange(np.size(AUTOGRAD.plain(part)))).reshape(np.shape(part))
        total = total + AUTOGRAD.np.sum(weights * part)
    return total


def parts_of(result: Any) -> Iterator[Any]:
    """The items of a result, the parts of those that are complex."""
    for item in result if isinstance(result, tuple) else (result,):
        plain = np.asarray(AUTOGRAD.plain(item))
        yield from (AUTOGRAD.np.real(item), AUTOGRAD.np.imag(item)) if plain.dtype.kind == "c" else (item,)


def is_differentiable(case: Case) -> bool:
    result = parse_signature(case.overload.signature).result.base
    return bool(case.real) and result not in (INT, "I") and case.differentiable


def own(x: Any) -> Any:
    """A copy, since a function may write into what it is given."""
    return np.array(x)[()]


# --- Laws ------------------------------------------------------------------------------------------


def has_its_type(case: Case) -> None:
    value, t = case.call(NUMPY, *map(own, case.draw(case.rng()))), case.result.returns
    items, types = (value, t.items) if isinstance(t, Tuple) else ((value,), (t,))
    assert len(items) == len(types), f"{len(items)} items of {t}"
    for item, of in zip(items, types, strict=True):
        assert np.ndim(item) == rank(of), f"a result of shape {np.shape(item)} is no {of}"
        assert is_complex(of) == (np.asarray(item).dtype.kind == "c"), f"a result {item!r} is no {of}"
        whole = np.asarray(item).dtype.kind in "biu"
        assert whole or element_type(of) != INT, f"a result {item!r} is no {of}"


def namespaces_agree(case: Case) -> None:
    free = case.draw(case.rng())
    plain = flat(case.call(NUMPY, *map(own, free)))
    assert not case.finite or np.all(np.isfinite(plain)), (
        f"it is {plain} at {free}; name its arguments in `domains`, or give `finite=False`"
    )
    traced = flat(case.call(AUTOGRAD, *free))
    assert_allclose(traced, plain, rtol=1e-13, atol=1e-300)


def gradient_is_the_difference(case: Case) -> None:
    free = case.draw(case.rng())
    for i in case.real:

        def of_one(xp: Namespace, x: Any, i: int = i) -> Any:
            return weighted(case.call(xp, *free[:i], x, *free[i + 1 :]))

        at = np.asarray(free[i], float)[()]
        expected = slopes(partial(of_one, NUMPY), free[i])
        assert_allclose(gradient(of_one, at), expected, rtol=2e-7, atol=2e-9, err_msg=f"argument {i + 1}")


def _aligned(case: Case, args: list[Any], batched: tuple[int, ...]) -> list[Any]:
    """Arguments of lower rank get axes inserted after the leading one, where broadcasting does the batch."""
    if case.overload.batch != "elementwise":
        return args
    widest = max(rank(t) for t in case.types)
    inserted = [(1,) * (widest - rank(t)) for t in case.types]
    return [
        np.reshape(a, (len(a), *ones, *np.shape(a)[1:])) if i in batched else a
        for i, (a, ones) in enumerate(zip(args, inserted, strict=True))
    ]


def batchable(case: Case) -> list[int]:
    """The arguments that may carry a leading axis: not the single ints of a function on trailing axes."""
    return [i for i, t in enumerate(case.types) if t != INT or case.overload.batch == "elementwise"]


def leading_axis_is_a_loop(case: Case) -> None:
    rng, may = case.rng(), batchable(case)
    sets = [case.draw(rng) for _ in range(4)]
    for batched in {tuple(may), *[(i,) for i in may]}:
        rows = [[s[i] if i in batched else x for i, x in enumerate(sets[0])] for s in sets]
        args = [np.stack([r[i] for r in rows]) if i in batched else x for i, x in enumerate(sets[0])]
        expected = np.stack([case.call(NUMPY, *map(own, row)) for row in rows])
        batch = case.call(NUMPY, *_aligned(case, args, batched))
        assert_allclose(batch, expected, rtol=1e-12, atol=1e-13, err_msg=f"batch {batched}")


LAWS: tuple[Law[Case], ...] = (
    Law("the result has the type of the signature", has_its_type),
    Law("both namespaces give the same finite values", namespaces_agree),
    Law("the gradient is the finite difference", gradient_is_the_difference, is_differentiable),
    Law(
        "a leading axis is a loop",
        leading_axis_is_a_loop,
        lambda case: case.overload.batch != "none" and bool(case.types),
    ),
)
"""Every law of a function, those that explain most first."""
