"""What a run costs, counted and not timed: the same on every machine that has the same libraries.

Three things are counted.  Numbers: those of all arrays that NumPy makes (`arrays_made`), and what the
functions of `lib` are given, since a sum over a slice makes no array, however long it is.  The most memory
alive at one time, of which `tracemalloc` keeps account, arrays and Python's objects alike.  Lines of Python
that are run (`sys.settrace`), which loops that stay loops take, the recording of a tape, and a compiler; a
function without a loop is taken for as many lines as it has, each time that it is called.

A subclass of arrays that counts would change what is counted: whether a value is a plain array decides how a
tape adds adjoints, and SciPy returns plain ones.  A proxy for the modules of the namespace sees neither
operators nor what library functions ask NumPy for directly.  A profiler sees calls, which operators are not.
"""

import dis
import gc
import sys
import tracemalloc
from collections.abc import Callable
from functools import cache
from types import CodeType, FrameType
from typing import Any

from laws.cost.arrays_made import NUMBER, arrays_made

from ppl.arrays import Namespace
from ppl.kernel.emit.load import Module
from ppl.kernel.emit.text import Binding
from ppl.model import Model
from ppl.optimise.forms import Form
from ppl.records import dataclass

BACKWARD = {code for name, code in dis.opmap.items() if "BACKWARD" in name}
"""The instructions that end an iteration of a loop."""
HERE = __file__.rpartition("/")[0]
MOST_LINES = 3_000_000
"""Lines after which a run is given up: a minute."""


class TooManyLines(Exception):
    """A run that grows so fast that it is not waited for."""


@dataclass(frozen=True)
class Cost:
    """`numbers` made or read, the most `alive` at one time, and `lines` of Python."""

    numbers: int
    alive: int
    lines: int


@dataclass
class Counter:
    """What is counted by calls from outside: numbers that functions of `lib` are given, and lines."""

    read: int = 0
    lines: int = 0

    def call(self, frame: FrameType, event: str, arg: Any) -> Any:
        """What Python calls when it enters a function."""
        lines = lines_without_loop(frame.f_code)
        if lines is None:
            return self.line
        self.lines += lines
        return None

    def line(self, frame: FrameType, event: str, arg: Any) -> None:
        """What it calls before each line of a function that has a loop."""
        self.lines += 1
        if self.lines > MOST_LINES:
            raise TooManyLines(f"{MOST_LINES} lines")


@cache
def lines_without_loop(code: CodeType) -> int | None:
    """How many lines a function without a loop has, those of the functions that count left out."""
    if code.co_filename.startswith(HERE):
        return 0
    if not BACKWARD.isdisjoint(code.co_code[::2]):
        return None
    return len({line for _, _, line in code.co_lines()})


COUNTER = Counter()


def cost_of(run: Callable[[], object]) -> Cost:
    """What a run costs, without the collection of garbage, whose time is its own.

    It is run twice, the same each time: lines are counted three times as fast without an account of memory.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        lines = lines_of(run)
        numbers, alive = memory_of(run)
        return Cost(numbers, alive, lines)
    finally:
        if collects:
            gc.enable()


def memory_of(run: Callable[[], object]) -> tuple[int, int]:
    """The numbers that a run makes or reads, and the most alive at one time."""
    tracemalloc.start()
    try:
        with arrays_made() as made:
            COUNTER.read = 0
            run()
            alive = tracemalloc.get_traced_memory()[1]
            return made.numbers + COUNTER.read, alive // NUMBER
    finally:
        tracemalloc.stop()


def lines_of(run: Callable[[], object]) -> int:
    """The lines of a run."""
    tracer = sys.gettrace()
    COUNTER.lines = 0
    sys.settrace(COUNTER.call)
    try:
        run()
    finally:
        sys.settrace(tracer)
    return COUNTER.lines


def size(value: Any) -> int:
    """The numbers of an argument."""
    if isinstance(value, list | tuple):
        return sum(map(size, value))
    return getattr(value, "size", 1)


def reading(name: str, binding: Binding, f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `lib` that adds the sizes of its arguments."""

    def read(*args: Any) -> Any:
        COUNTER.read += size(args)
        return f(*args)

    return read


@dataclass(frozen=True, repr=False)
class Counted(Model):
    """A model of which functions of `lib` say what they read."""

    def bind(self, form: Form, xp: Namespace, wrap: Any = None, **replaced: Any) -> Module:
        return super().bind(form, xp, wrap or reading, **replaced)


def counted(model: Model) -> Counted:
    """The model, its functions counted."""
    return Counted(model.compilation)
