"""Loops become arrays where they can, stay loops where they must, and mean the same either way."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from laws.batches import assert_as_alone
from laws.passes import LEFT_OUT, NONE, assert_law_of, assert_same, lowered, posterior, reference, shared

from ppl.errors import PPLError
from ppl.model import Model
from ppl.optimise import forms
from ppl.optimise.passes.vectorise_loops import vectorised
from tests.optimise.loop_programs import DATA, HEADER, LOOPS, Loop, U


@pytest.mark.rotate
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.id)
def test_a_loop_means_the_same_as_arrays_and_with_a_pass_left_out(loop: Loop) -> None:
    """And many points at once what each means alone; the program is compiled once for both laws."""
    whole = shared(loop.text)
    assert_law_of(whole, DATA, U)
    assert_as_alone(Model(whole).condition(DATA), np.random.default_rng(1).normal(0.0, 0.4, (6, U.size)))


@pytest.mark.rotate
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.id)
def test_a_loop_goes_or_says_why_not(loop: Loop) -> None:
    notes = vectorised(forms.LOOPS.of(lowered(loop.text)))[1]
    reasons = [f"scan: {note.reason}" if note.scan else note.reason for note in notes]
    assert len(reasons) == len(loop.left), reasons
    for reason, left in zip(reasons, loop.left, strict=True):
        assert left in reason if left else not reason


@pytest.mark.rotate
@pytest.mark.parametrize(
    "body", ["vector[2] a = v * x[n];", "vector[3] a = v; a = X[n]';", "real a = x[n - 1];"]
)
def test_a_wrong_size_or_index_is_refused_in_a_batch_too(body: str) -> None:
    loop = Loop("", f"for (n in 1:N) {{ {body} target += a; }}")
    for without in (NONE, *LEFT_OUT.values()):
        with pytest.raises(PPLError, match="<string>:21:"):
            posterior(loop.text, DATA, without).log_density(U)


def test_a_wrong_index_of_what_nothing_reads_is_refused_in_a_scan_too() -> None:
    body = "vector[3] a = v; for (i in 1:3) a[n + i] += 1; b = 0.5 * b + x[n];"
    loop = Loop("", f"real b = z; for (n in 1:3) {{ {body} }} target += b;")
    for without in (NONE, *LEFT_OUT.values()):
        with pytest.raises(PPLError, match="<string>:21:"):
            posterior(loop.text, DATA, without).log_density(U)


READS = (
    *("x[n]", "z", "t", "v[g[n]]", "s[g[n]]", "X[n, 1]", "c", "c", "a[n]", "a[n]", "n", "k[n]", "i", "0.5"),
    *("a[1]", "a[g[n]]"),  # seldom: these make the loop stay
)
PLACES = ("n", "n", "n", "n", "1", "g[n]")


@st.composite
def value(draw: st.DrawFn, depth: int = 2) -> str:
    """An expression over what there is."""
    form = draw(
        st.sampled_from(["read", "{} + {}", "{} * {}", "tanh({})", "{} > 0 ? {} : {}", "n > 2 && {} > {}"])
    )
    if depth == 0 or form == "read":
        return draw(st.sampled_from(READS))
    return f"({form.format(*(draw(value(depth - 1)) for _ in range(form.count('{}'))))})"


@st.composite
def statement(draw: st.DrawFn, depth: int = 2) -> str:
    """Plain statements, and blocks of them under a condition or in an inner loop."""
    form = draw(
        st.sampled_from(["add", "local", "entry", "continue"] + ["if", "ragged", "inner"] * (depth > 0))
    )
    match form:
        case "add":
            return f"target += {draw(value())};"
        case "local":
            return f"c = tanh({draw(value())});"
        case "entry":
            return f"a[{draw(st.sampled_from(PLACES))}] = tanh({draw(value())});"
        case "continue":
            return f"if ({draw(value())} > 0.3) continue;"
        case "if":
            return (
                f"if ({draw(value())} > 0) {{ {draw(block(depth - 1))} }} else {{ {draw(block(depth - 1))} }}"
            )
        case "ragged":
            return f"for (j{depth} in 1:J[n]) {{ {draw(block(depth - 1))} }}"
        case _:
            return f"for (j{depth} in 2:3) {{ {draw(block(depth - 1))} c += j{depth}; }}"


@st.composite
def block(draw: st.DrawFn, depth: int = 2) -> str:
    return " ".join(draw(statement(depth)) for _ in range(draw(st.integers(1, 3))))


TRIALS = pytest.mark.parametrize("trials", [15, pytest.param(60, marks=pytest.mark.whole)])


def try_bodies(number: int, trials: int, check: Callable[[str], None]) -> None:
    """Check so many random bodies, from a fixed seed."""
    seed(number)(settings(max_examples=trials)(given(body=block())(check)))()


@pytest.mark.rotate
@TRIALS
def test_random_recurrences_mean_the_same_as_scans(trials: int) -> None:
    try_bodies(21, trials, hold_recurrence)


def hold_recurrence(body: str) -> None:
    loop = f"for (n in 1:N) {{ int i = g[n]; {body} a[n] = tanh(c + a[n]); }}"
    model = f"vector[N] a = x; real c = t; {loop} target += a; target += c;"
    text = HEADER.format(functions="", transformed="", model=model, generated="")
    assert_same(posterior(text, DATA), reference(text, DATA), U)


@pytest.mark.rotate
@TRIALS
def test_random_bodies_mean_the_same_as_arrays(trials: int) -> None:
    try_bodies(20, trials, hold_arrays)


def hold_arrays(body: str) -> None:
    model = f"vector[N] a = x; for (n in 1:N) {{ real c = 0; int i = g[n]; {body} }} target += a;"
    text = HEADER.format(functions="", transformed="", model=model, generated="")
    assert_same(posterior(text, DATA), reference(text, DATA), U)
