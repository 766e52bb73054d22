"""Runs the tests of a group of files against every mutant of them, each in a process of its own.

What is imported once is inherited by fork; a child imports anew the file that has the mutant, with its code,
and every module that depends on it. Until a test fails, a mutant meets those that run its line, which is
traced first, or all in the order of the group; golden tests and those named after the file come first.
"""

import ast
import contextlib
import gc
import importlib
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from ppl.records import dataclass
from tests.mutation.groups import ROOT
from tests.mutation.operators import Mutant

HEAVY = ("arviz", "pandas")  # which tests import late
MEMORY = 3 * 2**30
KILLED, SURVIVED, TIMEOUT, UNTESTED = "killed", "survived", "timeout", "untested"


@dataclass(frozen=True)
class Traced:
    """A test that passes: how much CPU time it takes in seconds, and the lines it runs, by file."""

    name: str
    seconds: float
    lines: dict[str, set[int]]


def imported_once(tests: Sequence[str]) -> None:
    """Import these tests, and all that they do, without running them; said to nobody."""
    with open(os.devnull, "w") as quiet, contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
        run_tests(["--collect-only", *tests], [])
        for name in HEAVY:
            importlib.import_module(name)
    gc.collect()
    gc.freeze()


def dependents(file: str) -> set[str]:
    """The names of the imported modules that a file of `ppl` is in, of those that import it, and of tests."""
    ours = {
        name: Path(module.__file__)
        for name, module in sys.modules.items()
        if getattr(module, "__file__", None) and is_ours(Path(str(module.__file__)))
    }
    inside = {name: path for name, path in ours.items() if not path.is_relative_to(ROOT / "tests")}
    needs = {name: imports(path) for name, path in inside.items()}
    found = {name for name, path in inside.items() if path == ROOT / file}
    while more := {name for name, wanted in needs.items() if wanted & found} - found:
        found |= more
    tests = {
        name for name in ours if name not in inside and "mutation" not in name and "conftest" not in name
    }
    return found | tests


def is_ours(path: Path) -> bool:
    """Whether a file is the project's: an environment may lie in the checkout too."""
    return any(path.is_relative_to(ROOT / folder) for folder in ("ppl", "cli", "tests"))


@cache
def imports(path: Path) -> frozenset[str]:
    """The names that a file imports: modules, or what may be a module in one."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module=str() as module, names=names):
                found |= {module, *(f"{module}.{alias.name}" for alias in names)}
    return frozenset(found)


def forget(names: Iterable[str]) -> None:
    """Have these modules imported anew."""
    for name in names:
        sys.modules.pop(name, None)
        package, _, last = name.rpartition(".")
        if package in sys.modules and hasattr(sys.modules[package], last):
            delattr(sys.modules[package], last)


def rejoined(packages: set[str]) -> None:
    """Give packages imported anew those of their modules that were not."""
    for name, module in list(sys.modules.items()):
        package, _, last = name.rpartition(".")
        if package in packages:
            setattr(importlib.import_module(package), last, module)


def in_child(work: Callable[[str], None], limit: float) -> tuple[int | None, str]:
    """Run `work(path)` in a fork, which may write to that path: its exit status, None where time ran out."""
    handle, path = tempfile.mkstemp(prefix="mutation")
    os.close(handle)
    child = begin(lambda: work(path))
    status = wait(child, time.monotonic() + limit)
    text = Path(path).read_text()
    os.unlink(path)
    return status, text


def begin(work: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        work()
    except BaseException:
        os._exit(99)
    os._exit(0)


def wait(child: int, until: float) -> int | None:
    """The exit status; None where the child did not end in time, and was killed with what it began."""
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def traced(files: Sequence[str], tests: Sequence[str], by_line: bool, limit: float = 3600) -> list[Traced]:
    """Every test of these paths that passes; by line, with the lines of the files it runs, quickest first."""

    def work(path: str) -> None:
        tracer = Tracer(files if by_line else ())
        if run_tests(tests, [tracer]) == pytest.ExitCode.USAGE_ERROR:  # there is no such test
            os._exit(99)
        with open(path, "w") as out:
            json.dump(tracer.seen, out)

    status, text = in_child(work, limit)
    if status != 0 or not text:
        raise SystemExit(f"the tests do not run without a mutant: {' '.join(tests)} (status {status})")
    found = [
        Traced(name, seconds, {file: set(lines) for file, lines in by_file.items()})
        for name, passed, seconds, by_file in json.loads(text)
        if passed
    ]
    return sorted(found, key=lambda test: test.seconds) if by_line else found


def run_tests(arguments: Sequence[str], plugins: Sequence[Any]) -> int:
    options = ["-q", "-x", "-p", "no:cacheprovider", "--tb=no"]
    return int(pytest.main([*options, *arguments], list(plugins)))


class Tracer:
    """A plugin that notes which lines of some files each test runs."""

    def __init__(self, files: Sequence[str]):
        self.names = {str(ROOT / file): file for file in files}
        self.seen: list[tuple[str, bool, float, dict[str, list[int]]]] = []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        waiting: dict[CodeType, set[int]] = {}

        def local(frame: FrameType, event: str, _: Any) -> Any:
            waiting[frame.f_code].discard(frame.f_lineno)
            return local

        def called(frame: FrameType, event: str, _: Any) -> Any:
            code = frame.f_code
            if code.co_filename not in self.names:
                return None
            if code not in waiting:
                waiting[code] = lines_of(code)
            waiting[code].discard(frame.f_lineno)
            return local if waiting[code] else None

        self.passed = True
        start = time.process_time()
        if self.names:
            sys.settrace(called)
        yield
        sys.settrace(None)
        seconds = time.process_time() - start
        ran: dict[str, list[int]] = {}
        for code, left in waiting.items():
            ran.setdefault(self.names[code.co_filename], []).extend(lines_of(code) - left)
        self.seen.append((item.nodeid, self.passed, seconds, ran))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.passed = False


def lines_of(code: CodeType) -> set[int]:
    return {line for _, _, line in code.co_lines() if line}


class Chosen:
    """A plugin that runs some tests, in their order, and no other."""

    def __init__(self, names: Sequence[str]):
        self.places = {name: k for k, name in enumerate(names)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.places), key=lambda item: self.places[item.nodeid]
        )


def on_line(tests: Sequence[Traced], file: str, mutant: Mutant) -> list[Traced]:
    """The tests that run a line of the mutant.

    A line that no test runs is one that is run at import, and concerns every test of the file.
    """
    lines = set(range(mutant.first, mutant.last + 1))
    concerned = [test for test in tests if lines & test.lines.get(file, set())]
    if not concerned and mutant.at_import:
        return [test for test in tests if file in test.lines] or list(tests)
    return concerned


def named_first(tests: Sequence[Traced], file: str) -> list[Traced]:
    """All tests, the golden ones and those of the file's name before the others."""
    early = ("/test_golden.py", f"/test_{Path(file).stem}.py")
    return sorted(tests, key=lambda test: not any(name in test.name for name in early))


def first(tests: Sequence[Traced], most: float) -> list[Traced]:
    """The first of these tests: at least one, and `most` seconds together at most."""
    spent, few = 0.0, list[Traced]()
    for test in tests:
        spent += test.seconds
        if few and spent > most:
            break
        few.append(test)
    return few


def start(file: str, tree: ast.Module, tests: Sequence[Traced]) -> int:
    """Run these tests, with such a tree for the file, in a child that exits 0 where all pass."""
    path = str(ROOT / file)
    code = compile(ast.fix_missing_locations(tree), path, "exec")

    def get_code(self: SourceFileLoader, name: str) -> Any:
        return code if self.path == path else original(self, name)

    original = SourceFileLoader.get_code
    names = [test.name for test in tests]

    def work() -> None:
        anew = dependents(file)
        forget(anew)
        SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
        rejoined(anew)
        status = run_tests(list(dict.fromkeys(name.split("::")[0] for name in names)), [Chosen(names)])
        os._exit(0 if status == 0 else 1)

    return begin(work)
