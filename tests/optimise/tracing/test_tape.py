"""Compiled tapes give the bits of autograd's, and only where every point takes the same operations."""

import numpy as np
import pytest

import ppl
from ppl import arrays
from ppl.arrays import AUTOGRAD, entry, values_and_grads, with_partials
from ppl.density.many_points import padded
from ppl.density.tapes import CALLS_BEFORE
from ppl.kernel.emit.entries import picked
from ppl.optimise.tracing.namespace import TRACING
from ppl.optimise.tracing.tape import compiled_gradient, last_reads
from ppl.optimise.tracing.tracer import MOST_TRACED, Trace, Untraceable
from ppl.run.posterior_target import PosteriorTarget
from ppl.stdlib.constraints.bounds import CONSTRAIN, LOWER_UPPER, by_bounds

INDEX = np.array([0, 2, 2, 1])
PAIRS = np.array([[0], [2], [2]]), np.array([[1, 1, 0, 2]])
A = np.array([[1.0, 2.0, 0.5], [0.0, 1.0, -1.0]])

ROWS = np.arange(3)


def in_turn(xp, x, s, entries, before=None):
    """Columns of a matrix that are set one after the other, from entries of the one before and from x."""
    m = xp.put(np.zeros((3, 4)), (slice(None), 0), x * s)
    for t in range(1, 4):
        m, one = xp.put(m, (ROWS, t), entries(xp, m, t - 1) * x + s), m
        if before is not None:
            before = before + xp.np.sum(one / 7)
    whole = xp.np.sum(m * np.arange(12.0).reshape(3, 4))
    return whole if before is None else whole + before


def set_again(xp, x, s, column):
    """A column of a matrix, the second, that is set several times by what it was."""
    m = xp.put(np.ones((3, 4)), (ROWS, 1), x * s)
    for _ in range(3):
        m = xp.put(m, (ROWS, 1), (column(m) * x[:, None])[:, 0] + s)
    return xp.np.sum(m)


TRACEABLE = {
    "arithmetic": lambda xp, x, s: xp.np.sum((x * s + 2 - x / s) * -x - s**2),
    "a number divided by a negative one": lambda xp, x, s: xp.np.sum(x / -2) - s / -3,
    "broadcasting": lambda xp, x, s: xp.np.sum(x[:, None] * x[None, :] + s),
    "functions": lambda xp, x, s: xp.np.sum(xp.np.exp(x)) + xp.np.log(s) + xp.special.gammaln(s),
    "entries, some twice": lambda xp, x, s: xp.np.sum(x[INDEX] * A[0, INDEX]) + x[0] + x[1],
    "a matrix of entries": lambda xp, x, s: xp.np.sum(x[np.array([[0, 1], [1, 1]])]) * s,
    "an entry counted from the end": lambda xp, x, s: xp.np.sum(x[np.array([-1, -1, 0])]) * s,
    "entries after a sum": lambda xp, x, s: xp.np.sum(x * s) + xp.np.sum(x[INDEX]) + xp.np.sum(x[INDEX]),
    "entries of a matrix": lambda xp, x, s: xp.np.sum((x[:, None] * x)[PAIRS] * s + x[1]),
    "entries of a matrix, added to a sum": lambda xp, x, s: (
        xp.np.sum(x[:, None] * x) * s + xp.np.sum((m := x[:, None] * s - x)[PAIRS] / 3) + xp.np.sum(m.T / 7)
    ),
    "columns and rows of a matrix": lambda xp, x, s: (
        xp.np.sum((m := x[:, None] * x)[:, INDEX] / s) + xp.np.sum(m[1] / 3) + xp.np.sum(m[:2, 1] / 7)
    ),
    "entries, sparse": lambda xp, x, s: (
        xp.np.sum(entry(m := x[:, None] * x, (slice(None), 1)) * x)
        + xp.np.sum(entry(m, (slice(1, 3),)) / s)
        + entry(m, (2, 1)) * entry(x, -1)
    ),
    "no entries": lambda xp, x, s: xp.np.sum((x[:, None] * x)[PAIRS[0][:0], PAIRS[1]]) + x[0],
    "a product": lambda xp, x, s: xp.np.sum(A @ x) * s,
    "where": lambda xp, x, s: xp.np.sum(xp.np.where((x > 0) & (x < 5), x * s, -x)),
    "joining": lambda xp, x, s: xp.np.sum(xp.np.concatenate([x, x * s]) * np.arange(6.0)),
    "stacking": lambda xp, x, s: xp.np.sum(xp.np.stack([x, s * x], axis=1) * np.arange(6.0).reshape(3, 2)),
    "an array of numbers": lambda xp, x, s: xp.np.sum(xp.np.array([s, x[1], 3.0]) * x),
    "assignment": lambda xp, x, s: xp.np.sum(xp.put(x, INDEX[:2], x[:2] * s) ** 2),
    "entries set in turn": lambda xp, x, s: in_turn(xp, x, s, lambda xp, m, t: m[ROWS, t]),
    "entries set in turn from ranges": lambda xp, x, s: in_turn(xp, x, s, lambda xp, m, t: m[:, t]),
    "entries set in turn from all": lambda xp, x, s: in_turn(
        xp, x, s, lambda xp, m, t: xp.np.sum(m * 0.5, axis=1)
    ),
    "entries set in turn from many": lambda xp, x, s: in_turn(
        xp, x, s, lambda xp, m, t: picked(xp, m, (slice(None), INDEX))[:, 1] + picked(xp, m, (ROWS, t))
    ),
    "entries set in turn, all read later": lambda xp, x, s: in_turn(
        xp, x, s, lambda xp, m, t: m[ROWS, t], before=1.0
    ),
    "entries set again from a view of them": lambda xp, x, s: set_again(xp, x, s, lambda m: m[:, 1, None]),
    "entries set again from a copy of them": lambda xp, x, s: set_again(xp, x, s, lambda m: m[:, INDEX[3:]]),
    "entries set twice, to one value": lambda xp, x, s: xp.np.sum(
        xp.put(xp.put(xp.np.exp(x), INDEX, x[INDEX] * np.arange(4.0)), (INDEX[:3],), s) ** 2
    ),
    "a value without its derivative": lambda xp, x, s: xp.np.sum(x * xp.plain(x)) * s,
    "a divisor without its derivative": lambda xp, x, s: (
        xp.np.sum(xp.np.exp(x) / xp.plain(x)) + s / xp.plain(s)
    ),
    "values below a matrix of bounds": lambda xp, x, s: xp.np.sum(
        by_bounds(xp, CONSTRAIN, x, -np.inf, x[:, None] * s)[0] ** 2
    ),
    "one value for several arguments": lambda xp, x, s: xp.np.sum(x * x * x) + s + s,
    "no use of an argument": lambda xp, x, s: xp.np.sum(x),
    "many numbers": lambda xp, x, s: x * s,
}

UNTRACEABLE = {
    "a branch": lambda xp, x, s: x[0] if s > 1 else x[1],
    "a loop": lambda xp, x, s: sum(x[0] for _ in range(int(s))),
    "an index": lambda xp, x, s: x[xp.np.argmax(x)],
    "a mask": lambda xp, x, s: xp.np.sum(x[x > 0]),
    "the places of a condition": lambda xp, x, s: xp.np.sum(x[np.flatnonzero(xp.plain(x > 0))]),
    "NumPy itself": lambda xp, x, s: np.sum(np.exp(x)),
    "a number of Python": lambda xp, x, s: x[0] * float(s),
    "truth values by arithmetic": lambda xp, x, s: x[0] * ((x[0] > 0) & 1),
    "complex numbers": lambda xp, x, s: xp.np.real(xp.np.sum(x * 1j)),
    "too many operations": lambda xp, x, s: sum(x[0] * k for k in range(MOST_TRACED // 2)),
    "an answer that depends on nothing": lambda xp, x, s: 1.0,
}


def points(rng: np.random.Generator) -> list[np.ndarray]:
    return [rng.normal(size=3), np.float64(rng.gamma(2.0))]


@pytest.mark.parametrize("name", TRACEABLE)
def test_the_bits_are_those_of_the_tape(name: str) -> None:
    f, rng = TRACEABLE[name], np.random.default_rng(1)
    gradient = compiled_gradient(lambda v: f(TRACING, *v), points(rng))
    alone = compiled_gradient(lambda v: f(TRACING, *v), points(rng), with_value=False)
    assert gradient is not None and alone is not None
    for _ in range(3):
        xs = points(rng)
        value, parts = gradient(*xs)
        of_tape, parts_of_tape = values_and_grads(lambda v: f(AUTOGRAD, *v), xs)
        np.testing.assert_array_equal(value, of_tape)
        for part, other, third in zip(parts, parts_of_tape, alone(*xs)[1], strict=True):
            np.testing.assert_array_equal(part, other)
            np.testing.assert_array_equal(third, other)


@pytest.mark.parametrize("with_value", [True, False])
@pytest.mark.parametrize("name", TRACEABLE)
def test_gradients_in_some_arguments_are_those_in_all(name: str, with_value: bool) -> None:
    f, xs = TRACEABLE[name], points(np.random.default_rng(1))
    whole = compiled_gradient(lambda v: f(TRACING, *v), xs)
    for k in range(2):
        alone = compiled_gradient(lambda v: f(TRACING, *v), xs, with_value, [k])
        assert whole is not None and alone is not None
        found, expected = alone(*xs)[1], whole(*xs)[1]
        np.testing.assert_array_equal(found[k], expected[k])
        np.testing.assert_array_equal(found[1 - k], np.zeros_like(expected[1 - k]))


def test_derivatives_in_constants_are_not_computed() -> None:
    asked = list[int]()
    factors = [lambda xp, ans, *xs, k=k: asked.append(k) or xs[1 - k] for k in range(2)]
    product = with_partials(*factors)(lambda xp, x, s: x * s)
    xs = points(np.random.default_rng(1))
    gradient = compiled_gradient(lambda v: TRACING.np.sum(product(TRACING, *v)), xs, moving=[1])
    assert gradient is not None
    asked.clear()
    np.testing.assert_array_equal(gradient(*xs)[1][1], xs[0].sum())
    assert asked == [1]


@pytest.mark.parametrize("name", UNTRACEABLE)
def test_what_depends_on_a_value_otherwise_is_not_traced(name: str) -> None:
    assert (
        compiled_gradient(lambda v: UNTRACEABLE[name](TRACING, *v), points(np.random.default_rng(2))) is None
    )


@pytest.mark.parametrize(
    ("name", "in_place"),
    [
        ("entries set in turn", 3),
        ("entries set in turn from ranges", 0),
        ("entries set again from a view of them", 0),
        ("entries set again from a copy of them", 3),
        ("entries set in turn, all read later", 0),
    ],
)
def test_entries_are_set_in_place_where_nothing_else_reads_the_array(name: str, in_place: int) -> None:
    trace = Trace()
    x, s = (trace.tracer(value, None, ()) for value in points(np.random.default_rng(1)))
    TRACEABLE[name](TRACING, x, s)
    assert len(last_reads(trace.tracers[2:])) == in_place


def test_arguments_stay_as_they_are() -> None:
    xs = points(np.random.default_rng(3))
    gradient = compiled_gradient(lambda v: TRACING.np.sum(TRACING.put(v[0], 1, v[1]) + v[0][INDEX[:3]]), xs)
    before = [x.copy() for x in xs]
    first, second = gradient(*xs), gradient(*xs)
    for a, b, c, d in zip(xs, before, first[1], second[1], strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(c, d)


PROGRAM = """
data { int N; matrix[N, 2] X; array[N] int<lower=0, upper=1> y; array[N] int g; }
parameters { vector[2] b; vector[3] a; real<lower=0> s; }
transformed parameters { vector<lower=-5>[3] c = a * s; }
model { a ~ std_normal(); s ~ exponential(1); b ~ normal(0, 2); y ~ bernoulli_logit(c[g] + X * b); }
"""


def posterior(program: str = PROGRAM) -> ppl.Posterior:
    rng = np.random.default_rng(4)
    data = {"N": 7, "X": rng.normal(size=(7, 2)), "y": rng.integers(0, 2, 7), "g": rng.integers(1, 4, 7)}
    return ppl.compile_model(program).condition(data)


def test_gradients_are_the_same_before_and_after_compilation() -> None:
    p, u = posterior(), np.full(6, 0.3)
    found = [p.log_density_gradient(u) for _ in range(CALLS_BEFORE + 2)]
    tapes = p.log_joint().tapes
    assert tapes.compiled[(2,)] is not None
    for value, gradient in found[1:]:
        assert value == found[0][0]
        np.testing.assert_array_equal(gradient, found[0][1])


def test_gradients_of_many_points_are_the_same() -> None:
    log_joint, us = posterior().log_joint(), np.random.default_rng(5).normal(size=(9, 6)) * 0.1
    found = [log_joint.values_and_gradients(us) for _ in range(CALLS_BEFORE + 2)]
    assert log_joint.tapes_at_many().compiled[(16, 2)] is not None
    for values, gradients in found[1:]:
        np.testing.assert_array_equal(values, found[0][0])
        np.testing.assert_array_equal(gradients, found[0][1])


def test_gradients_alone_are_the_same() -> None:
    log_joint, us = posterior().log_joint(), np.random.default_rng(5).normal(size=(9, 6)) * 0.1
    expected = log_joint.values_and_gradients(us)[1]
    for _ in range(CALLS_BEFORE + 2):
        np.testing.assert_array_equal(log_joint.gradients(us), expected)
    assert log_joint.tapes_at_many(False).compiled[(16, 2)] is not None
    assert not log_joint.tapes_at_many().compiled


def test_gradients_in_some_parameters_are_those_in_all() -> None:
    """Before they are compiled and after; PROGRAM has b, a and s."""
    log_joint, us = posterior().log_joint(), np.random.default_rng(5).normal(size=(9, 6)) * 0.1
    expected = log_joint.values_and_gradients(us)
    for _ in range(CALLS_BEFORE + 2):
        np.testing.assert_array_equal(log_joint.gradients(us, (1,))[:, 2:5], expected[1][:, 2:5])
        values, gradients = log_joint.values_and_gradients(us, (0, 2))
        np.testing.assert_array_equal(values, expected[0])
        np.testing.assert_array_equal(gradients[:, [0, 1, 5]], expected[1][:, [0, 1, 5]])
    assert not gradients[:, 2:5].any()


def test_a_target_is_asked_for_gradients_of_the_parameters_that_move() -> None:
    given = PosteriorTarget(posterior()).given(np.array([0, 1, 2, 4]))
    assert given.moving == (1, 2)


def test_gradients_alone_where_there_is_no_density() -> None:
    """Points whose gradient is no number, and points that the program rejects, have that of both."""
    log_joint, us = posterior().log_joint(), np.random.default_rng(5).normal(size=(9, 6)) * 0.1
    us[3, 2], us[3, 5], us[8] = -9.0, 1.0, us[3]
    us[5] = np.nan
    expected = log_joint.values_and_gradients(us)[1]
    for _ in range(CALLS_BEFORE + 2):
        np.testing.assert_array_equal(log_joint.gradients(us), expected)


def test_what_only_the_value_needs_is_left_out() -> None:
    computed = []

    @with_partials(lambda xp, ans, x: 2 * x)
    def square(xp, x):
        computed.append(1)
        return x**2

    @with_partials(lambda xp, ans, x: ans)
    def exp(xp, x):
        return xp.np.exp(x)

    x = np.array([1.0, 2.0])
    alone = compiled_gradient(lambda xs: square.summed(TRACING, exp(TRACING, xs[0])), [x], with_value=False)
    assert alone is not None
    computed.clear()
    value, (gradient,) = alone(x)
    assert value is None and not computed
    np.testing.assert_array_equal(gradient, 2 * np.exp(x) * np.exp(x))


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 33, 100, 512])
def test_rows_are_filled_up_to_few_numbers(n: int) -> None:
    full = padded(np.arange(2.0 * n).reshape(n, 2), 10_000)
    assert n <= len(full) < 1.13 * n and (full[n:] == full[n - 1]).all()
    assert len({len(padded(np.zeros((k, 1)), 10_000)) for k in range(1, 1025)}) <= 64
    assert len(padded(full, 1)) == 1 << (len(full) - 1).bit_length(), "of little work"


def test_constraints_of_transformed_parameters_are_checked_at_every_point() -> None:
    p, inside, outside = posterior(), np.zeros(6), np.array([0, 0, -9.0, 0, 0, 1.0])
    for _ in range(CALLS_BEFORE + 2):
        assert np.isfinite(p.log_density_gradient(inside)[0])
        assert p.log_density_gradient(outside)[0] == -np.inf


RECURRENCE = """
data { int N; vector[N] y; }
parameters { real a; real<lower=0> s; }
model {
  real m = a;
  for (n in 1:N) { y[n] ~ normal(m, s); m = 0.5 * m + tanh(m) * y[n]; }
}
"""


def test_a_recurrence_is_one_operation_as_on_the_tape() -> None:
    data = {"N": 30, "y": np.random.default_rng(6).normal(size=30)}
    p, us = ppl.compile_model(RECURRENCE).condition(data), np.random.default_rng(7).normal(size=(9, 2))
    single = [p.log_density_gradient(us[0]) for _ in range(CALLS_BEFORE + 2)]
    many = [p.log_density_gradients(us) for _ in range(CALLS_BEFORE + 2)]
    assert all(p.log_joint().tapes.compiled.values()) and all(p.log_joint().tapes_at_many().compiled.values())
    for found in (single, many):
        for value, gradient in found[1:]:
            np.testing.assert_array_equal(value, found[0][0])
            np.testing.assert_array_equal(gradient, found[0][1])


def test_what_prints_prints_at_every_point(capsys) -> None:
    p = posterior(PROGRAM.replace("model {", 'model { print("here");'))
    p.log_density_gradient(np.zeros(6))  # the first also measures how much a point takes
    capsys.readouterr()
    for _ in range(CALLS_BEFORE + 2):
        p.log_density_gradient(np.zeros(6))
    assert capsys.readouterr().out.count("here") == CALLS_BEFORE + 2


def test_an_index_picks_its_own_entries_of_arrays_of_other_shapes() -> None:
    """One index, found once, of two arrays."""
    at = (np.array([0, 1, 2]), np.array([2, 1, 0]))

    def total(xp):
        def f(blocks):
            wide, square = blocks
            return xp.np.sum(wide[at] ** 2) + xp.np.sum(xp.np.exp(square[at]))

        return f

    xs = [np.random.default_rng(1).normal(size=shape) for shape in ((3, 5), (3, 3))]
    gradient = compiled_gradient(total(TRACING), xs)
    assert gradient is not None
    value, parts = gradient(*xs)
    expected, expected_parts = values_and_grads(total(AUTOGRAD), xs)
    assert value == expected
    for part, one in zip(parts, expected_parts, strict=True):
        np.testing.assert_array_equal(part, one)


RECURSION = """
functions {
  real rec(real a, vector v, int k) { if (k <= 0) return a; return rec(0.5 * a, v, k - 1) + v[1]; }
}
data { int N; }
parameters { vector[2] v; }
model {
  vector[N] r; r[1] = v[2];
  for (i in 2:N) r[i] = rec(r[i - 1], v, 2);
  r ~ std_normal();
}
"""


def test_steps_that_call_a_function_for_each_entry_have_their_gradients() -> None:
    """They are differentiated on a tape of autograd's, inside what is traced."""
    p = ppl.compile_model(RECURSION).condition({"N": 4})
    function, xs = p.log_joint().tapes.function, p.d.blocks(np.array([0.3, -0.2]))
    gradient = compiled_gradient(function(TRACING), xs)
    assert gradient is not None
    (value, (found,)), (expected, (exact,)) = gradient(*xs), values_and_grads(function(AUTOGRAD), xs)
    assert value == expected and (exact != 0).all()
    np.testing.assert_array_equal(found, exact)


def test_bounds_of_parameters_take_one_rule_until_one_of_them_is_infinite() -> None:
    def total(xp):
        def f(blocks):
            x, b = blocks
            return xp.np.sum(LOWER_UPPER.unconstrain(x, x.shape, 0.5, 1.2 + b, xp=xp))

        return f

    xs = [np.array([0.7, 0.8, 0.9, 1.0]), np.array([0.3])]
    gradient = compiled_gradient(total(TRACING), xs)
    assert gradient is not None
    assert arrays.where.value not in gradient.__globals__.values()
    value, parts = gradient(*xs)
    expected, expected_parts = values_and_grads(total(AUTOGRAD), xs)
    assert value == expected
    for part, one in zip(parts, expected_parts, strict=True):
        np.testing.assert_array_equal(part, one)
    with pytest.raises(Untraceable):
        gradient(xs[0], np.array([np.inf]))
