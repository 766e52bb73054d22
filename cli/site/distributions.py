"""A page for each distribution, made from its record, its formulas and its picture."""

import re
from collections.abc import Collection, Iterator

from ppl.cli.site.densities import GROUPS, PICTURES, SHOWN
from ppl.cli.site.markdown import fenced, heading, prose, table
from ppl.cli.site.mathml import displayed, inline
from ppl.stdlib.distributions.formulas import FORMULAS
from ppl.stdlib.distributions.multivariate_formulas import MULTIVARIATE
from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.stdlib.library import standard
from ppl.stdlib.moments import OF_VECTOR, SIZES
from ppl.stdlib.record import Distribution
from ppl.stdlib.reference import OF_DISTRIBUTIONS, meaning, of_draws, signature, where
from ppl.stdlib.supports import SUPPORTS


def overview() -> Iterator[str]:
    yield (
        "# Distributions\n\n`y ~ name(a, b)` adds the log density of `y` to the target, without the terms "
        "that do not depend on parameters; so does `target += name_lupdf(y | a, b)`, and `name_lpdf` keeps "
        "every term."
    )
    meanings = {d.name: prose(d.meaning) for d in DISTRIBUTIONS}
    for title, group in GROUPS.items():
        rows = ((link(name), meanings[name]) for name in group)
        yield f"## {title}\n\n{table(('distribution', 'meaning'), rows)}"


def link(name: str) -> str:
    return f"[`{name}`]({name}.md)"


def page(d: Distribution, pictured: Collection[str] = ()) -> Iterator[str]:
    """The page: arguments, log density, moments, picture, functions, an example, and relatives."""
    variate, *params = d.args
    yield f"{heading(d.name, 1)}\n\n{prose(d.meaning)}"
    if d.signatures:
        yield f"`{variate[0]} ~ {d.name}({', '.join(name for name, _ in params)});`"
    must_be = [
        (name, SUPPORTS[support].must_be if support in SUPPORTS else support) for name, support in d.args
    ]
    must_be += [(name, f"{text}, in `{d.name}_rng`") for name, text in of_draws(d)]
    yield table(("argument", "must be"), ((f"`{name}`", text) for name, text in must_be))
    yield from log_density(d)
    yield from moments(d)
    if d.name in pictured:
        yield f"![{prose(f'Density of {d.name}')}](../{density_file(d.name)})"
    yield from functions(d)
    yield from example(d)
    near = [o.name for o in DISTRIBUTIONS if o is not d and (o.name in d.name or d.name in o.name)]
    if near:
        yield f"## See also\n\n{', '.join(map(link, near))}"


def density_file(name: str) -> str:
    return f"pictures/density-{name}.svg"


def log_density(d: Distribution) -> Iterator[str]:
    """Typeset, unless it takes a loop."""
    (y, _), *params = d.args
    if text := FORMULAS.get(d.name) or MULTIVARIATE.get(d.name):
        given = f" | {', '.join(name for name, _ in params)}" if params else ""
        yield heading(f"Log {'probability' if d.discrete else 'density'}")
        yield fenced(text) if "for (" in text else displayed(text, f"log(p({y}{given}))")


def moments(d: Distribution) -> Iterator[str]:
    (y, _), own = d.args[0], d.moments
    if own.probabilities:
        yield f"## Probabilities\n\nOf the categories, a vector:\n\n{displayed(own.probabilities, f'P({y})')}"
    if not own.variance:
        return
    yield f"## Mean and {own.second}"
    yield displayed(own.mean, f"E({y})") + condition(own.if_mean)
    operator = "Cov" if own.second == OF_VECTOR else "Var"
    yield displayed(own.variance, f"{operator}({y})") + condition(own.if_variance)
    for name in (SIZES.keys() - dict(d.args)) & set(re.findall(r"\w+", own.mean)):
        yield f"`{name}` is {SIZES[name]}."


def condition(text: str) -> str:
    return f'\n<p class="math">if {inline(text)}, else infinite or undefined</p>' if text else ""


def functions(d: Distribution) -> Iterator[str]:
    callees = [callee for callee in standard().callees.values() if callee.record is d]
    if callees:
        yield "## Functions"
        yield table(
            ("function", "returns"),
            (
                (f"`{c.name}`", prose(meaning(c).partition(":")[0]))
                for c in callees
                if c.kind in OF_DISTRIBUTIONS
            ),
        )
        overloads = [(c.name, o) for c in callees for o in c.overloads]
        lines = [f"  {signature(name, o)}" for name, o in overloads]
        yield fenced("\n".join([*lines, *where(lines, [o for _, o in overloads])]))


def example(d: Distribution) -> Iterator[str]:
    """Draws, where there are any, and a log density."""
    shown = SHOWN[d.name]
    kind, args, value = (
        of_picture(d) if d.name in PICTURES else map(shown.get, ("variate", "arguments", "value"))
    )
    lines = [f"{kind} y = {value or f'{d.name}_rng({args})'};"]
    density = f"{d.name}_{'lpmf' if d.discrete else 'lpdf'}"
    if density in standard().callees:
        lines += [f"real log_p = {density}(y |{f' {args}' if args else ''});"]
    program = "\n  ".join(["generated quantities {", *lines])
    yield "## Example"
    yield fenced(
        f'import ppl\n\nprogram = """\n{program}\n}}\n"""\n'
        "posterior = ppl.compile_model(program).condition({})\nprint(posterior.variational().summary())",
        "python",
    )


def of_picture(d: Distribution) -> tuple[str, str, str]:
    """At the arguments of the first curve; without draws, at a point within the picture."""
    picture = PICTURES[d.name]
    middle = (picture.low + picture.high) / 2
    y = f"{int(middle)}" if d.discrete else f"{middle + 0.1 * (picture.high - middle):g}"
    args = ", ".join(f"{value:g}" for value in picture.curves[0])
    return "int" if d.discrete else "real", args, "" if d.rng else y
