"""The rewrite for an int parameter: the sum over its values, with the program's own names and statements.

Stan User's Guide, "Latent discrete parameters": the target gets the log of the sum, over the values that the
bounds allow, of the densities of every statement that the parameter stands in.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ppl.frontend import ast
from ppl.frontend.printer import expression
from ppl.stdlib.library import Library

NO_BOUNDS = (
    "Give it both bounds, as in `int<lower=1, upper=K>`, to see how it is summed out of the target with "
    "log_sum_exp."
)


CHAIN = (
    "Its entries stand beside each other in one term, as in a hidden Markov model: sum them out together, "
    "with `target += hmm_marginal(log_omega, Gamma, rho)`."
)
HEAD = "Sum it out of the target: take its declaration out and write, in the model block,"


@dataclass(frozen=True)
class Term:
    """A summand of the log density, and the head of the loop around its statement."""

    text: str
    loop: str = ""


def marginalised(program: ast.Program, d: ast.Declaration, library: Library) -> str:
    """What to write in the model block in place of the int parameter `d`."""
    bounds = dict(d.type.bounds.items) if isinstance(d.type, ast.SizedType) and d.type.bounds else {}
    if set(bounds) != {"lower", "upper"}:
        return NO_BOUNDS
    found = list(terms(program.model, d.name, library))
    lower, upper = expression(bounds["lower"]), expression(bounds["upper"])
    if not d.type.dims:
        return indented(HEAD, log_sum(d.name, lower, upper, found))
    entry = re.compile(rf"\b{d.name}\b(\[([^\[\]]|\[[^\[\]]*\])*\])?")
    if len({match.group() for term in found for match in entry.finditer(term.text)}) > 1:
        return CHAIN
    loop = next((term.loop for term in found if term.loop), f"for (n in 1:{expression(d.type.dims[0])})")
    each = [Term(entry.sub("k", term.text)) for term in found]
    return indented(HEAD, [f"{loop} {{", *(f"  {line}" for line in log_sum("k", lower, upper, each)), "}"])


def indented(head: str, lines: Sequence[str]) -> str:
    return "\n".join([head, *(f"  {line}" for line in lines)])


def log_sum(variable: str, lower: str, upper: str, found: Sequence[Term]) -> list[str]:
    """log_sum_exp over the values from `lower` to `upper`; their log densities lie in a vector from 1 on."""
    size, index = positions(variable, lower, upper)
    plain = " + ".join(term.text for term in found if not term.loop)
    if not found:
        plain = f"/* every term of the log density with {variable} */"
    return [
        f"vector[{size}] lp;",
        f"for ({variable} in {lower}:{upper}) {{",
        f"  lp[{index}] = {plain or '0'};",
        *(f"  {term.loop} lp[{index}] += {term.text};" for term in found if term.loop),
        "}",
        "target += log_sum_exp(lp);",
    ]


def positions(variable: str, lower: str, upper: str) -> tuple[str, str]:
    """How many values there are, and at which place one of them stands."""
    if lower == "1":
        return upper, variable
    if re.fullmatch(r"\d+", lower) and re.fullmatch(r"\d+", upper):
        size = str(int(upper) - int(lower) + 1)
    else:
        size = f"{upper} + 1" if lower == "0" else f"{upper} - {lower} + 1"
    return size, f"{variable} + 1" if lower == "0" else f"{variable} - {lower} + 1"


def terms(statements: Sequence[ast.Statement], name: str, library: Library, loop: str = "") -> Iterator[Term]:
    """The densities, in order, that a variable stands in."""
    for s in statements:
        match s:
            case ast.Tilde() | ast.TargetIncrement():
                text = density(s, library)
                if re.search(rf"\b{name}\b", text):
                    yield Term(text, loop)
            case ast.For(body=body):
                head = f"for ({s.variable} in {expression(s.lower)}:{expression(s.upper)})"
                yield from terms([body], name, library, head)
            case ast.ForEach(body=body):
                yield from terms([body], name, library, f"for ({s.variable} in {expression(s.iterable)})")
            case ast.Block(statements=inner) | ast.Profile(statements=inner):
                yield from terms(inner, name, library, loop)


def density(s: ast.Tilde | ast.TargetIncrement, library: Library) -> str:
    """The summand that a statement adds to the target."""
    if isinstance(s, ast.TargetIncrement):
        return expression(s.value)
    family = library.families.get(s.distribution)
    suffix = "lpmf" if family is not None and family.discrete else "lpdf"
    bar = f" | {', '.join(map(expression, s.args))}" if s.args else ""
    return f"{s.distribution}_{suffix}({expression(s.left)}{bar})"
