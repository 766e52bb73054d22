"""What the real Stan says of programs: stanc and Stan's C++ headers as the httpstan wheel brings them.

    python3 -m venv ENV && ENV/bin/pip install httpstan==4.13.0      # Stan 2.35

Many programs become one translation unit, since the headers alone cost a compiler five seconds.  Answers are
kept by what was asked, so that a run that is repeated compiles nothing.
"""

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from generator.known import STAN_2_35

from ppl.records import dataclass

HERE = Path(__file__).parent / "stan"
FLAGS = (
    *("-std=c++17", "-O0", "-w", "-D_REENTRANT"),
    *("-DBOOST_DISABLE_ASSERTS", "-DBOOST_PHOENIX_NO_VARIADIC_EXPRESSION"),
    *("--param", "ggc-min-expand=400"),  # fewer looks at the header's 800 MB for what may be freed
)
LIBRARIES = (
    *("-l:libtbb.so.2", "-lsundials_cvodes", "-lsundials_idas", "-lsundials_kinsol", "-lsundials_nvecserial"),
    "-lpthread",
)
SECONDS = 20
"""The most that a program may take for all its points; those that it does not reach are left out."""

Point = Sequence[float]


@dataclass(frozen=True)
class Question:
    """A program with its data; `points(dim)` are those of the unconstrained space."""

    name: str
    program: str
    data: Mapping[str, Any]
    points: Callable[[int], Sequence[Point]]


@dataclass(frozen=True)
class Answer:
    """`refused` by "stanc", the C++ "compiler" or the "data", with Stan's words; "" if by none.

    `at` has for each of `points` lp and grad, or "error", and the constrained values by `names`. Without
    `constants`, the log density lacks a number that is the same at all points. A "crash" is no answer.
    """

    refused: str = ""
    words: str = ""
    names: Sequence[str] = ()
    points: Sequence[Point] = ()
    at: Sequence[Mapping[str, Any]] = ()
    constants: bool = True


class RealStan:
    """Stan in the virtual environment `env`; what it builds and says goes to `folder`.

    Raises:
        FileNotFoundError: there is no httpstan in `env`, or no g++.
    """

    known = STAN_2_35

    def __init__(self, env: Path, folder: Path, together: int = 10, kept: bool = False) -> None:
        self.together, self.kept = together, kept
        found = sorted(env.glob("lib/python3*/site-packages/httpstan"))
        if not found:
            raise FileNotFoundError(f"no httpstan in {env}: see the head of real_stan.py")
        self.home, self.folder = found[0], folder
        self.own = folder / str(os.getpid())  # two runs may share what is kept
        self.own.mkdir(parents=True, exist_ok=True)
        self.stanc = self.home / "stanc"
        self.stanc.chmod(0o755)  # the wheel leaves it without the right to be run
        self.version = self.output_of(self.stanc, "--version").removeprefix("stanc3 ").split(" ")[0]
        self.sources = "".join((HERE / name).read_text() for name in ("driver.hpp", "simplex.hpp"))

    def ask(self, questions: Iterable[Question]) -> Iterator[tuple[Question, Answer]]:
        """The answers, `together` programs compiled at a time; with `kept`, only those known from before."""
        waiting: list[tuple[Question, str]] = []
        for q in questions:
            if not self._kept(q).exists():
                if self.kept:
                    continue
                code = self._translated(q)
                if isinstance(code, str):
                    waiting.append((q, code))
                    if len({code for _, code in waiting}) == self.together:
                        yield from self._built(waiting)
                        waiting = []
                    continue
                self._keep(q, code)
            yield q, self._answer(q)
        yield from self._built(waiting)

    def _built(self, programs: Sequence[tuple[Question, str]]) -> Iterator[tuple[Question, Answer]]:
        self._build(programs)
        for q, _ in programs:
            yield q, self._answer(q)

    # --- Answers that are kept ---

    def _kept(self, q: Question) -> Path:
        key = [self.version, self.sources, q.program, json.dumps(q.data), repr(q.points(3))]
        return self.folder / f"{hashlib.sha256(repr(key).encode()).hexdigest()[:24]}.json"

    def _keep(self, q: Question, answer: Answer) -> None:
        self._kept(q).write_text(json.dumps(vars(answer)))

    def _answer(self, q: Question) -> Answer:
        return Answer(**json.loads(self._kept(q).read_text()))

    # --- From text to answers ---

    def _translated(self, q: Question) -> str | Answer:
        """The program as a C++ class, or stanc's refusal."""
        file = self.own / "program.stan"
        file.write_text(q.program)
        out = subprocess.run(
            [self.stanc, "--name", "translated", "--print-cpp", "--o", os.devnull, file],
            capture_output=True,
            text=True,
        )
        return out.stdout if out.returncode == 0 else Answer("stanc", out.stderr)

    def _build(self, programs: Sequence[tuple[Question, str]]) -> None:
        """Compile together and ask each; where the compiler refuses, once more in halves."""
        if not programs:
            return
        unit, binary = self.own / "programs.cpp", self.own / "programs"
        codes = list(dict.fromkeys(code for _, code in programs))
        classes = [renamed(code, k) for k, code in enumerate(codes)]
        table = ", ".join(f"answer<translated_{k}_namespace::translated>" for k in range(len(codes)))
        main = f"int main(int, char** arguments) {{ return run({{{table}}}, arguments); }}\n"
        unit.write_text("\n".join(['#include "driver.hpp"', *classes, main]))
        lib = self.home / "lib"
        linked = ("-o", binary, f"-L{lib}", f"-Wl,-rpath,{lib}", *LIBRARIES)
        output = self._compiled("-I", self._headers(), unit, *linked)
        if output is None:
            for q, code in programs:
                self._keep(q, self._of(binary, codes.index(code), q))
        elif len(codes) == 1:
            for q, _ in programs:
                self._keep(q, Answer("compiler", output))
        else:
            half = set(codes[: len(codes) // 2])
            self._build([(q, code) for q, code in programs if code in half])
            self._build([(q, code) for q, code in programs if code not in half])

    def _of(self, binary: Path, k: int, q: Question) -> Answer:
        data = self.own / "data.json"
        data.write_text(json.dumps(q.data))
        (first, *_), _ = self._run(binary, k, data, [])
        if "error" in first:
            return Answer("data", first["error"])
        points = [[float(x) for x in point] for point in q.points(first["dim"])]
        (_, *at), fault = self._run(binary, k, data, points)
        if fault:  # a crash is an answer, slowness is none
            at.append({"error": fault})
        return Answer(names=first["names"], points=points[: len(at)], at=at)

    def _run(
        self, binary: Path, k: int, data: Path, points: Sequence[Point]
    ) -> tuple[list[dict[str, Any]], str]:
        """The lines that the program writes, and how it crashed, if it did."""
        given = "".join(" ".join(map(repr, point)) + "\n" for point in points)
        command, fault = [str(binary), str(k), str(data)], ""
        try:
            out = subprocess.run(command, input=given.encode(), capture_output=True, timeout=SECONDS)
            output = out.stdout.decode()
            if out.returncode:
                fault = f"ended with status {out.returncode}: {out.stderr[-500:].decode()}"
        except subprocess.TimeoutExpired as slow:
            output = (slow.stdout or b"").decode()
        lines = [json.loads(line) for line in output.splitlines(keepends=True) if line.endswith("\n")]
        return lines or [{"error": fault or f"not done in {SECONDS} s"}], fault

    def _headers(self) -> Path:
        """The folder of the precompiled header."""
        folder = self.folder / hashlib.sha256(self.sources.encode()).hexdigest()[:12]
        if not (folder / "driver.hpp.gch").exists():
            folder.mkdir(exist_ok=True)
            for name in ("driver.hpp", "simplex.hpp"):
                (folder / name).write_text((HERE / name).read_text())
            output = self._compiled(
                "-x", "c++-header", folder / "driver.hpp", "-o", folder / "driver.hpp.gch"
            )
            if output is not None:
                raise RuntimeError(f"Stan's headers do not compile: {output}")
        return folder

    def _compiled(self, *given: str | Path) -> str | None:
        """None when it went well, otherwise the first errors."""
        command = ["g++", *FLAGS, f"-I{self.home / 'include'}", *given]
        out = subprocess.run(command, capture_output=True, text=True)
        errors = [line for line in out.stderr.splitlines() if "error" in line]
        return None if out.returncode == 0 else "\n".join(errors[:3]) or out.stderr[-500:]

    def output_of(self, *command: str | Path) -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def renamed(code: str, k: int) -> str:
    """stanc's class in a namespace of its own, without what only Stan's services call."""
    code = code[: code.index("  // Begin method overload boilerplate")] + "};\n}\n"
    begun = code.rfind("      if (stan::math::logical_negation(emit_generated_quantities__)) {")
    if begun >= 0:  # what no one asks for: the generated quantities
        code = code[:begun] + code[code.index("    } catch", begun) :]
    for line in ("#include <stan/model/model_header.hpp>\n", "using stan::model::model_base_crtp;\n"):
        code = code.replace(line, "")
    code = re.sub(r"\bmodel_base_crtp(<\w+>)?", "program", code)
    return code.replace("translated_namespace", f"translated_{k}_namespace")
