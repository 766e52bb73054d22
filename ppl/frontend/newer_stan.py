"""What of a program CmdStan 2.37 lacks: notes of `ppl check --pedantic`.

Versions by the release notes and the signatures of stanc3.
"""

import re
from collections.abc import Iterator

from ppl.frontend import ast
from ppl.frontend.facts import Facts
from ppl.frontend.lints import Lint, needs_newer_stan
from ppl.frontend.walk import walk
from ppl.source import Span
from ppl.types import VECTOR

SINCE: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (version, re.compile(pattern))
    for version, pattern in (
        ("2.38", r"wiener_lc?cdf_(defective|unnorm)\w*"),
        (
            "2.40",
            r"laplace_latent_solve(_tol)?|student_t_qf|integrate_1d_(gauss_kronrod|double_exponential)\w*",
        ),
        ("2.39", r"laplace_\w+|generate_laplace_options|yule_simon\w*|trace_dot"),
    )
)
"""The version that a function or distribution is new in since 2.37: that of the first pattern that fits."""
OF_ONE_ITEM, SOFTMAX = "2.39", "2.40"
"""Those of tuples of one item, and of `softmax` of row vectors and arrays."""


def newer_than_2_37(program: ast.Program, facts: Facts) -> Iterator[Lint]:
    """Each function, distribution and form of the language that is new since Stan 2.37, once."""
    said: set[str] = set()
    for node in walk(program):
        for what, version, span in needs(node, facts):
            if what not in said:
                said.add(what)
                yield needs_newer_stan(what, version, span)


def needs(node: ast.Node, facts: Facts) -> Iterator[tuple[str, str, Span]]:
    match node:
        case ast.Call(name="softmax" | "log_softmax" as name, args=(x,)) if facts.types.get(x) != VECTOR:
            yield f"`{name}` of a value of type {facts.types.get(x)}", SOFTMAX, node.span
        case ast.Call(name=name) | ast.Tilde(distribution=name):
            found = next((version for version, pattern in SINCE if pattern.fullmatch(name)), None)
            if found is not None:
                yield f"`{name}`", found, node.span
        case ast.TupleLiteral(items=(_,)) | ast.SizedTuple(items=(_,)) | ast.UnsizedType(items=(_,)):
            yield "A tuple of one item", OF_ONE_ITEM, node.span
        case _:
            return
