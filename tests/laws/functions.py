"""The laws of every function and operator: sample arguments from its signatures, then what must hold.

`cases(functions)` makes one case of each overload (several where it stands for many shapes).  A case checks

    check_backends   the value is the same on both namespaces
    check_gradient   the derivative of every real argument is the central difference
    check_batch      a leading axis on any of the arguments gives what a loop gives
"""

import itertools
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import autograd
import numpy as np

from ppl.arrays import AUTOGRAD, NUMPY, Namespace
from ppl.stdlib.record import Batch, Function, Overload
from ppl.stdlib.signatures import Pattern, parse_signature
from ppl.types import INT, MATRIX, REAL, VECTOR, Type, array_dims, array_of, element_type, rank

N = 3  # every axis has this size, so that all products fit
DEEPEST = 3  # more array axes than that repeat an overload, at the cost of many differences
STEP = 3e-4
OFFSETS = ((1, 8.0), (-1, -8.0), (2, -1.0), (-2, 1.0))  # five-point difference, times 12 STEP


@dataclass(frozen=True)
class Domain:
    """Free numbers and the map that makes valid arguments of them, through which gradients are taken."""

    draw: Callable[[np.random.Generator, tuple[int, ...]], Any]
    into: Callable[[Namespace, Any], Any] = lambda xp, x: x


def interval(low: float, high: float) -> Domain:
    return Domain(lambda generator, shape: generator.uniform(low, high, shape))


def exactly(value: Any) -> Domain:
    return Domain(lambda generator, shape: np.full(np.shape(value) or shape, value)[()])


def matrix_domain(into: Callable[[Namespace, Any], Any]) -> Domain:
    return Domain(lambda generator, shape: generator.normal(size=shape), into)


def _mirrored(xp: Namespace, b: Any) -> Any:
    return xp.np.swapaxes(b, -1, -2)


def _correlation(xp: Namespace, b: Any) -> Any:
    rows = b + 4.0 * np.eye(N)
    rows = rows / xp.np.sqrt(xp.np.sum(rows * rows, axis=-1, keepdims=True))
    return xp.np.matmul(rows, _mirrored(xp, rows))


UNIT = interval(0.2, 0.9)
ANY = matrix_domain(lambda xp, b: b)
SYMMETRIC = matrix_domain(lambda xp, b: b + _mirrored(xp, b))
POSITIVE_DEFINITE = matrix_domain(lambda xp, b: xp.np.matmul(b, _mirrored(xp, b)) + np.eye(N))
LOWER = matrix_domain(lambda xp, b: xp.np.tril(b) + 4.0 * np.eye(N))
INVERTIBLE = matrix_domain(lambda xp, b: b + 4.0 * np.eye(N))
CORRELATION = matrix_domain(lambda xp, b: _correlation(xp, b))
SIMPLEX = Domain(UNIT.draw, lambda xp, x: x / xp.np.sum(x, axis=-1, keepdims=True))
COLUMNS = Domain(UNIT.draw, lambda xp, x: x / xp.np.sum(x, axis=-2, keepdims=True))
UNIT_LENGTH = Domain(UNIT.draw, lambda xp, x: x / xp.np.sqrt(xp.np.sum(x * x, axis=-1, keepdims=True)))
CENTRED = Domain(UNIT.draw, lambda xp, x: x - xp.np.mean(x, axis=-1, keepdims=True))
CENTRED_MATRIX = Domain(
    UNIT.draw, lambda xp, x: _mirrored(xp, CENTRED.into(xp, _mirrored(xp, CENTRED.into(xp, x))))
)

DOMAINS: dict[str, tuple[Domain, ...]] = {
    "acosh": (interval(1.2, 3.0),),
    "lambert_wm1": (interval(-0.3, -0.1),),
    "log1m_exp": (interval(-2.0, -0.1),),
    "std_normal_log_qf": (interval(-2.0, -0.1),),
    "log_diff_exp": (interval(1.0, 2.0), interval(-1.0, 0.9)),
    "log_inv_logit_diff": (interval(1.0, 2.0), interval(-1.0, 0.9)),
    "lchoose": (interval(5.0, 8.0), interval(1.0, 3.0)),
    "log_falling_factorial": (interval(5.0, 8.0), interval(1.0, 3.0)),
    "falling_factorial": (interval(5.2, 5.8), exactly(2)),
    "lmgamma": (exactly(2), interval(1.2, 3.0)),
    "hypergeometric_1F0": (UNIT, interval(-0.5, 0.5)),
    "hypergeometric_2F1": (UNIT, UNIT, UNIT, interval(-2.5, -0.5)),
    "hypergeometric_3F2": (UNIT, Domain(lambda generator, shape: generator.uniform(0.5, 2.0, 2)), UNIT),
    "cholesky_decompose": (POSITIVE_DEFINITE,),
    "inverse_spd": (POSITIVE_DEFINITE,),
    "log_determinant_spd": (POSITIVE_DEFINITE,),
    "mdivide_left_spd": (POSITIVE_DEFINITE, ANY),
    "mdivide_right_spd": (ANY, POSITIVE_DEFINITE),
    "mdivide_left": (INVERTIBLE, ANY),
    "mdivide_right": (ANY, INVERTIBLE),
    "mdivide_left_tri_low": (INVERTIBLE, ANY),
    "mdivide_right_tri_low": (ANY, INVERTIBLE),
    "chol2inv": (LOWER,),
    "inverse": (INVERTIBLE,),
    "determinant": (INVERTIBLE,),
    "log_determinant": (INVERTIBLE,),
    "eigenvalues_sym": (SYMMETRIC,),
    "eigenvectors_sym": (SYMMETRIC,),
    "eigendecompose_sym": (SYMMETRIC,),
    "quad_form_sym": (SYMMETRIC, ANY),
    "to_matrix": (ANY, exactly(3), exactly(1), exactly(1)),
    "to_matrix(matrix": (ANY, exactly(1), exactly(9), exactly(1)),
    "fmax": (interval(0.2, 0.5), interval(0.55, 0.9)),
    "fmin": (interval(0.2, 0.5), interval(0.55, 0.9)),
    "fdim": (interval(0.55, 0.9), interval(0.2, 0.5)),
    "quantile": (ANY, UNIT),
    **{
        f"linspaced_{kind}": (exactly(2), interval(0.2, 0.5), interval(0.6, 0.9))
        for kind in ("array", "vector", "row_vector")
    },
    "csr_matrix_times_vector": (exactly(3), exactly(3), ANY, exactly([1, 3, 2]), exactly([1, 2, 3, 4]), ANY),
    "csr_to_dense_matrix": (exactly(3), exactly(3), ANY, exactly([1, 3, 2]), exactly([1, 2, 3, 4])),
}
INCREASING = Domain(UNIT.draw, lambda xp, x: xp.np.cumsum(x, axis=-1))
DOMAINS |= {
    "hmm_marginal": (ANY, SIMPLEX, SIMPLEX),
    "hmm_hidden_state_prob": (ANY, SIMPLEX, SIMPLEX),
    "lower_bound_unconstrain": (interval(1.0, 2.0), UNIT),
    "upper_bound_unconstrain": (UNIT, interval(1.0, 2.0)),
    "lower_upper_bound_constrain": (UNIT, interval(-1.0, 0.0), interval(1.0, 2.0)),
    "lower_upper_bound_jacobian": (UNIT, interval(-1.0, 0.0), interval(1.0, 2.0)),
    "lower_upper_bound_unconstrain": (UNIT, interval(-1.0, 0.0), interval(1.0, 2.0)),
    "ordered_unconstrain": (INCREASING,),
    "positive_ordered_unconstrain": (INCREASING,),
    "simplex_unconstrain": (SIMPLEX,),
    "unit_vector_unconstrain": (UNIT_LENGTH,),
    "sum_to_zero_unconstrain": (CENTRED,),
    "sum_to_zero_unconstrain(matrix": (CENTRED_MATRIX,),
    "sum_to_zero_unconstrain(array[] matrix": (CENTRED_MATRIX,),
    "sum_to_zero_unconstrain(array[,] matrix": (CENTRED_MATRIX,),
    "sum_to_zero_unconstrain(array[,,] matrix": (CENTRED_MATRIX,),
    "stochastic_row_unconstrain": (SIMPLEX,),
    "stochastic_column_unconstrain": (COLUMNS,),
    "cov_matrix_constrain": (UNIT, exactly(2)),
    "cov_matrix_jacobian": (UNIT, exactly(2)),
    "cov_matrix_unconstrain": (POSITIVE_DEFINITE,),
    "corr_matrix_constrain": (UNIT, exactly(3)),
    "corr_matrix_jacobian": (UNIT, exactly(3)),
    "corr_matrix_unconstrain": (CORRELATION,),
    "cholesky_factor_corr_constrain": (UNIT, exactly(3)),
    "cholesky_factor_corr_jacobian": (UNIT, exactly(3)),
    "cholesky_factor_corr_unconstrain": (INVERTIBLE,),
    "cholesky_factor_cov_constrain": (UNIT, exactly(2), exactly(2)),
    "cholesky_factor_cov_jacobian": (UNIT, exactly(2), exactly(2)),
    "cholesky_factor_cov_unconstrain": (LOWER,),
}
NOT_FINITE = ("not_a_number", "positive_infinity", "negative_infinity")

"""What the arguments of a function must be, where the default of their type will not do.

Found by the function's name, or by as much of one signature as starts with it.
"""

DATA_ONLY = ("linspaced_vector", "linspaced_row_vector", "linspaced_array")
"""Functions whose real arguments are never parameters, as in Stan."""


def domains_of(f: Function, overload: Overload, types: tuple[Type, ...]) -> tuple[Domain, ...]:
    fitting = [
        k for k in DOMAINS if k == f.name or ("(" in k and f"{f.name}{overload.signature}".startswith(k))
    ]
    hints = DOMAINS[max(fitting, key=len)] if fitting else ()
    padded = itertools.zip_longest(hints[: len(types)], types)
    return tuple(hint or default_domain(t, overload.batch) for hint, t in padded)


def default_domain(t: Type, batch: Batch) -> Domain:
    if element_type(t) == INT:
        return Domain(_permutation)
    return ANY if t == MATRIX and batch != "elementwise" else UNIT


def _permutation(generator: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """2, or the numbers 1, 2, 3 in any order, which are indices and sizes within every axis."""
    return generator.permuted(np.broadcast_to(np.arange(1, N + 1), shape), axis=-1) if shape else 2


@dataclass(frozen=True)
class Case:
    """One overload at arguments of given types; `free` are the numbers before Domain.into."""

    name: str
    overload: Overload
    types: tuple[Type, ...]
    domains: tuple[Domain, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.types))})"

    def draw(self, generator: np.random.Generator) -> list[Any]:
        return [d.draw(generator, (N,) * rank(t)) for d, t in zip(self.domains, self.types, strict=True)]

    def generator(self) -> np.random.Generator:
        return np.random.default_rng(zlib.crc32(str(self).encode()))

    @property
    def real(self) -> list[int]:
        return [i for i, t in enumerate(self.types) if element_type(t) == REAL]

    def call(self, xp: Namespace, *free: Any) -> Any:
        """The result as one flat array; a tuple's items one after the other."""
        args = [d.into(xp, x) for d, x in zip(self.domains, free, strict=True)]
        return self.overload.impl(xp, *args)


def concrete(pattern: Pattern, shape: Type) -> Type:
    """A type that fits the pattern; `shape` is what T stands for."""
    match pattern.base:
        case "T":
            return shape
        case "I":
            return array_of(INT, rank(shape))
        case "E":
            return array_of(REAL, abs(pattern.dims))
        case "reals" | "vectors":
            return VECTOR
        case "ints":
            return array_of(INT, 1)
        case base:
            return array_of(base, pattern.dims)


def instances(patterns: tuple[Pattern, ...]) -> Iterator[tuple[Type, ...]]:
    """All scalars, all containers, and every single container among scalars."""
    free = [i for i, p in enumerate(patterns) if p.base in ("T", "I")]
    chosen: Iterable[tuple[int, ...]] = [()]
    if free:
        chosen = dict.fromkeys([(), tuple(free), *[(i,) for i in free]])
    for containers in chosen:
        yield tuple(concrete(p, VECTOR if i in containers else REAL) for i, p in enumerate(patterns))


def cases(functions: Iterable[Function]) -> Iterator[Case]:
    for f in functions:
        for overload in f.overloads:
            for types in instances(parse_signature(overload.signature).args):
                if max(map(array_dims, types), default=0) > DEEPEST:
                    continue
                yield Case(f.name, overload, types, domains_of(f, overload, types))


def flat(result: Any) -> np.ndarray:
    parts = result if isinstance(result, tuple) else (result,)
    return np.concatenate([np.ravel(np.asarray(p)) for p in parts])


def weighted(result: Any) -> Any:
    """A scalar that depends on every entry of the result, traced or not."""
    anp = AUTOGRAD.np
    total = 0.0
    for part in result if isinstance(result, tuple) else (result,):
        weights = np.cos(1.0 + np.arange(np.size(AUTOGRAD.plain(part)))).reshape(np.shape(part))
        total = total + anp.sum(weights * part)
    return total


def differentiable(case: Case) -> bool:
    result = parse_signature(case.overload.signature).result.base
    return bool(case.real) and result not in (INT, "I") and case.name not in DATA_ONLY


def central_difference(f: Callable[[Any], float], x: Any) -> np.ndarray:
    x = np.asarray(x, float)
    slopes = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        for offset, weight in OFFSETS:
            moved = x.copy()
            moved[i] += offset * STEP
            slopes[i] += weight * float(f(moved[()])) / (12.0 * STEP)
    return slopes


def check_backends(case: Case) -> None:
    free = case.draw(case.generator())
    plain = flat(case.call(NUMPY, *map(own, free)))
    assert case.name in NOT_FINITE or np.all(np.isfinite(plain)), f"{case} is {plain} at {free}"
    traced = flat(case.call(AUTOGRAD, *free))
    np.testing.assert_allclose(traced, plain, rtol=1e-13, atol=1e-300)


def check_gradient(case: Case) -> None:
    free = case.draw(case.generator())
    for i in case.real:

        def of_one(xp: Namespace, x: Any, i: int = i) -> Any:
            return weighted(case.call(xp, *free[:i], x, *free[i + 1 :]))

        slope = autograd.grad(lambda x: of_one(AUTOGRAD, x))(np.asarray(free[i], float)[()])
        expected = central_difference(lambda x: of_one(NUMPY, x), free[i])
        np.testing.assert_allclose(slope, expected, rtol=2e-7, atol=2e-9, err_msg=f"{case}, argument {i + 1}")


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


def check_batch(case: Case) -> None:
    generator, may = case.generator(), batchable(case)
    sets = [case.draw(generator) for _ in range(4)]
    for batched in {tuple(may), *[(i,) for i in may]}:
        rows = [[s[i] if i in batched else x for i, x in enumerate(sets[0])] for s in sets]
        args = [np.stack([r[i] for r in rows]) if i in batched else x for i, x in enumerate(sets[0])]
        expected = np.stack([case.call(NUMPY, *map(own, row)) for row in rows])
        found = case.call(NUMPY, *_aligned(case, args, batched))
        np.testing.assert_allclose(
            found, expected, rtol=1e-12, atol=1e-13, err_msg=f"{case}, batch {batched}"
        )


def own(x: Any) -> Any:
    """A copy, since a function may write into what it is given."""
    return np.array(x)[()]
