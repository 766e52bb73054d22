"""What the Stan of today says of programs, by an interpreter: no C++ compiler, 20 ms a program.

    pip install -e ".[oracle]"      # stanli: stanc and Stan's math library, interpreted

Each program runs in a process of its own kind that is started again after a crash or a program that takes too
long. Log densities leave out constants, as Stan's do during sampling.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from generator.known import ORACLE
from generator.real_stan import SECONDS, Answer, Point, Question

INSTALLED = find_spec("stanli") is not None


class InterpretedStan:
    """Answers as those of `RealStan`, without the constrained values."""

    known = ORACLE

    def __init__(self) -> None:
        self.server: Server | None = None
        self.version = "2.40, interpreted"

    def ask(self, questions: Iterable[Question]) -> Iterator[tuple[Question, Answer]]:
        for q in questions:
            yield q, self._answer(q)

    def close(self) -> None:
        if self.server is not None:
            self.server.close()

    def at(self, q: Question, points: Sequence[Point]) -> Sequence[Mapping[str, Any]]:
        """lp and grad, or "error", at other points of a program that it has answered."""
        return self._answer(Question(q.name, q.program, q.data, lambda dim: points)).at

    def _answer(self, q: Question) -> Answer:
        self.server = self.server or Server()
        try:
            first = self.server.call((q.program, json.dumps(q.data)))
            if isinstance(first, str):
                refused, _, words = first.partition(": ")
                return Answer(refused, words)
            points = [[float(x) for x in point] for point in q.points(first)]
            return Answer(points=points, at=self.server.call(points), constants=False)
        except Silent as fault:
            self.server.close()
            self.server = None
            return Answer("crash", str(fault))


class Silent(Exception):
    """The server ended, or took too long."""


class Server:
    """A process that answers a program, and then its points."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.here, there = context.Pipe()
        self.process = context.Process(target=serve, args=(there,), daemon=True)
        self.process.start()
        there.close()

    def call(self, message: Any) -> Any:
        try:
            self.here.send(message)
            if self.here.poll(SECONDS):
                return self.here.recv()
        except (EOFError, OSError):
            self.process.join(SECONDS)
            raise Silent(f"the interpreter ended with status {self.process.exitcode}") from None
        raise Silent(f"not done in {SECONDS} s")

    def close(self) -> None:
        self.process.kill()
        self.process.join()
        self.here.close()


def serve(asked: Connection) -> None:
    """Programs with their data, each followed by its points unless it was refused."""
    while True:
        try:
            program, data = asked.recv()
        except EOFError:
            return
        model = built(program, data)
        if isinstance(model, str):
            asked.send(model)
            continue
        asked.send(model.n_unconstrained)
        asked.send([evaluated(model, np.array(point)) for point in asked.recv()])


def built(program: str, data: str) -> Any:
    """The model, or who refuses it and why: "stanc: ...", "interpreter: ..." or "data: ..."."""
    import stanli

    try:
        mir = stanli.stan_to_mir(program)
    except RuntimeError as error:
        return f"stanc: {error}"
    try:
        return stanli.Model(mir=mir, data=data)
    except RuntimeError as error:
        return f"{'interpreter' if LIMITS.search(str(error)) else 'data'}: {error}"


LIMITS = re.compile(r"^mir: |^stanli compile: |unsupported|not supported")
"""What the interpreter says of a program that is beyond it."""


def evaluated(model: Any, u: Any) -> dict[str, Any]:
    """lp and grad, with "again" where a second evaluation differs."""
    found = [once(model, u) for _ in range(2)]
    if repr(found[0]) == repr(found[1]):
        return found[0]
    return {**found[0], "again": repr(found[1])}


def once(model: Any, u: Any) -> dict[str, Any]:
    try:
        lp, gradient = model.log_prob_grad(u)
    except RuntimeError as error:
        return {"error": str(error)}
    return {"lp": lp, "grad": gradient.tolist()}
