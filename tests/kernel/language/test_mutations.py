"""Programs and data with a mistake put in are accepted or refused in words, at a place inside the text, soon.

PPL_MUTATIONS is how many programs, and how many data, are tried: the same 100 unless it is set.
"""

import copy
import json
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import ppl
from ppl.errors import ModelError, PPLError

PROGRAMS = sorted((Path(__file__).parents[2] / "conformance" / "programs").glob("*.stan"))
TRIES = int(os.environ.get("PPL_MUTATIONS", "100"))
TOKEN = re.compile(r'//[^\n]*|/\*[\s\S]*?\*/|"[^"\n]*"|\s+|[A-Za-z]\w*|\d[\w.]*|[<>=!+\-*/.]=|\S')
TYPES = ("int", "real", "vector", "row_vector", "matrix", "simplex[3]", "array[2] real", "ordered")
NAMES = ("normal", "sum", "N", "y", "mu", "x", "nosuchname", "target", "log_sum_exp", "normal_rng")
NUMBERS = ("0", "1", "-1", "2.5", "1e400", "99999999999", "i", "{1, 2}", "1:2", ":")
SIGNS = (*";{}()[],~|'=$\"#é\\", "<-", "/*", "//", "")
VALUES = (None, True, -1, 0, 2.5, 10.0, "x", "NaN", [], [1], [[1.0, 2], [3]], {}, {"1": 1}, 1e400, 10**30)

TRIED = settings(
    max_examples=TRIES,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail when the body takes more of the processor's time."""

    def late(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    start = time.process_time()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    # The exception may be lost, as in a callback of the garbage collector.
    assert time.process_time() - start < seconds


@st.composite
def mutated_programs(draw: st.DrawFn) -> tuple[str, Path]:
    """A good program with one to three changes, and the file that it was."""
    file = draw(st.sampled_from(PROGRAMS))
    tokens = TOKEN.findall(file.read_text())
    for _ in range(draw(st.integers(1, 3))):
        a, b = draw(st.integers(0, len(tokens) - 1)), draw(st.integers(0, len(tokens) - 1))
        match draw(st.sampled_from(("drop", "swap", "double", "word", "sign", "copy"))):
            case "drop":
                tokens[a] = ""
            case "swap":
                tokens[a], tokens[b] = tokens[b], tokens[a]
            case "double":
                tokens[a] = f"{tokens[a]} {tokens[a]}"
            case "copy":
                tokens[a] = f"{tokens[a]} {tokens[b]}"
            case "word":
                tokens[a] = draw(st.sampled_from(TYPES + NAMES + NUMBERS))
            case "sign":
                tokens[a] += draw(st.sampled_from(SIGNS))
    return "".join(tokens), file


def data_of(file: Path) -> dict[str, Any]:
    return json.loads(file.with_suffix(".data.json").read_text())


def assert_inside(error: ModelError, text: str) -> None:
    """Every place of the error lies in the text, or just after its end."""
    lines = text.split("\n")
    for each in (error, *error.others):
        assert 1 <= each.span.line <= each.span.end_line <= len(lines) + 1
        assert 1 <= each.span.column <= len([*lines, ""][each.span.line - 1]) + 1
        assert each.message and "Traceback" not in str(each) and "Token(" not in str(each)


@pytest.mark.rotate
@TRIED
@given(mutated_programs())
def test_mutated_program(mutant: tuple[str, Path]) -> None:
    text, file = mutant
    with within(2.0):
        try:
            model = ppl.compile_model(text + "\n")
        except ModelError as error:
            assert_inside(error, text)
            return
    assume("while" not in text)  # which may run for ever, and rightly so
    with within(10.0):
        try:
            posterior = model.condition(data_of(file))
            posterior.log_density([0.1] * posterior.param_unc_num())
        except PPLError as error:
            assert str(error)


@st.composite
def mutated_data(draw: st.DrawFn) -> tuple[Path, dict[str, Any]]:
    """The data of a good program with one to three values taken out, exchanged or changed inside."""
    file = draw(st.sampled_from([p for p in PROGRAMS if data_of(p)]))
    data = copy.deepcopy(data_of(file))
    for _ in range(draw(st.integers(1, 3))):
        name, other = draw(st.sampled_from(sorted(data))), draw(st.sampled_from(sorted(data)))
        match draw(st.sampled_from(("drop", "swap", "value", "inside", "rename"))):
            case "drop" if len(data) > 1:
                del data[name]
            case "rename" if len(data) > 1:
                data[name.swapcase()] = data.pop(name)
            case "swap":
                data[name], data[other] = data[other], data[name]
            case "inside" if isinstance(data[name], list) and data[name]:
                k = draw(st.integers(0, len(data[name]) - 1))
                data[name][k : k + 1] = draw(st.sampled_from(([], *([v] for v in VALUES))))
            case _:
                data[name] = copy.deepcopy(draw(st.sampled_from(VALUES)))
    return file, data


MODELS: dict[Path, ppl.Model] = {}


@pytest.mark.rotate
@TRIED
@given(mutated_data())
def test_mutated_data(mutant: tuple[Path, dict[str, Any]]) -> None:
    file, data = mutant
    if file not in MODELS:
        MODELS[file] = ppl.compile_model(file)
    with within(2.0):
        try:
            posterior = MODELS[file].condition(data)
            posterior.log_density([0.1] * posterior.param_unc_num())
        except PPLError as error:
            assert str(error)


def test_the_clock_stops_what_takes_too_long() -> None:
    with pytest.raises(TimeoutError), within(0.01):
        while True:
            pass
