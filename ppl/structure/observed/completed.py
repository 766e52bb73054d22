"""Data with missing values as a program: the missing ones are parameters, with the declared bounds.

Real ones are a vector that is put in their places; ints are summed out, those that are given held to their
values. Gelman et al. (2013), "Bayesian Data Analysis", section 18.1; Stan User's Guide, "Missing Data and
Partially Known Parameters".
"""

from collections.abc import Collection

from ppl.kernel.language import ast
from ppl.kernel.language.calls import outcome_of
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.walk import walk
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import Stmts, code, copied, indexed, integer, loops, mentions, text_of, variable
from ppl.records import dataclass, replace
from ppl.source import Span
from ppl.structure.definitions import Exprs
from ppl.structure.discrete.parameters import is_discrete
from ppl.structure.observed.predictive import with_names
from ppl.structure.refused import incomplete
from ppl.types import rank

KEYWORDS = ("int", "real", "vector", "row_vector", "matrix")
"""Types whose entries can be missing one by one."""


@dataclass(frozen=True)
class Completion:
    """A data variable with missing values, by the names that the program gives them.

    `part` are the missing values, `count` is how many, `at` are their indices along each axis; `whole` is the
    variable with draws in their places.
    """

    name: str
    part: str
    whole: str
    count: str
    at: tuple[str, ...]
    discrete: bool
    declared: ast.Declaration

    @property
    def span(self) -> Span:
        return self.declared.span

    @property
    def type(self) -> ast.SizedType:
        t = self.declared.type
        assert isinstance(t, ast.SizedType)
        return t

    def index(self, k: str) -> Exprs:
        """The index of missing value `k`."""
        return tuple(indexed(a, (variable(k, self.span),), self.span) for a in self.at)

    def for_each(self, k: str, text: str, **parts: ast.Expr | str) -> Stmts:
        """A loop over the missing values."""
        head = (k, integer(1, self.span), variable(self.count, self.span))
        return loops([head], code(text, self.span, k=k, **parts), self.span)


def completed(
    p: ast.Program, facts: Facts, missing: Collection[str]
) -> tuple[ast.Program, tuple[Completion, ...]]:
    """The program with parameters in place of the missing values of these data, and what they are called.

    Raises:
        ModelError: values of that type cannot be parameters, or are read before the parameters are.
    """
    names = FreshNames.of(p)
    completions = tuple(completion(d, names) for d in p.data if d.name in missing)
    if not completions:
        return p, ()
    refuse_early(p, completions)
    k, whole = names.fresh("k"), {c.name: c.whole for c in completions}
    real, ints = [c for c in completions if not c.discrete], [c for c in completions if c.discrete]
    flags = {c.name: names.fresh(f"{c.name}_is_missing") for c in ints if c.at}
    bounded = [bounded_part(c, facts, names, k) for c in real]
    with_parameters = replace(
        p,
        data=(*p.data, *(d for c in completions for d in places(c))),
        transformed_data=(
            *p.transformed_data,
            *(s for bounds, _ in bounded for s in bounds),
            *(s for c in ints if c.at for s in flagged(c, flags[c.name], k)),
        ),
        parameters=(
            *p.parameters,
            *(part for _, part in bounded),
            *(replace(c.declared, name=c.whole) for c in ints),
        ),
        transformed_parameters=(
            *(s for c in real for s in filled(c, k)),
            *with_names(p.transformed_parameters, whole),
        ),
        model=(
            *(s for c in ints if c.at for s in held(c, flags[c.name], names)),
            *with_names(p.model, whole),
        ),
        generated_quantities=(
            *(s for c in ints for s in picked(c, k)),
            *with_names(p.generated_quantities, whole),
        ),
    )
    return copied(with_parameters), completions


def completion(d: ast.Declaration, names: FreshNames) -> Completion:
    """ModelError where the missing values of a variable cannot be parameters."""
    t = d.type
    if t.keyword not in KEYWORDS:
        why = f"`{d.name}` is a {t.keyword}, whose entries cannot be parameters one by one"
        raise incomplete(why, d.span)
    if t.keyword == "int" and not {"lower", "upper"} <= ast.limits(t).keys():
        hint = f"Declare both bounds, as in `int<lower=0, upper=1> {d.name}`: its values are summed over."
        raise incomplete(f"`{d.name}` is an int without a lower and an upper bound", d.span, hint)
    part = names.fresh(f"{d.name}_missing")
    at = tuple(names.fresh(f"{part}_at_{axis}") for axis in range(1, len(ast.all_sizes(t)) + 1))
    whole, count = names.fresh(f"{d.name}_completed"), names.fresh(f"{part}_n")
    return Completion(d.name, part, whole, count, at, t.keyword == "int", d)


def places(c: Completion) -> tuple[ast.Declaration, ...]:
    """The data that say how many values are missing, and where."""
    span, n = c.span, variable(c.count, c.span)
    one = ast.SizedType(span, "int", None, ())
    declarations = (ast.Declaration(span, replace(one, dims=(n,)), name, span) for name in c.at)
    return (ast.Declaration(span, one, c.count, span), *declarations)


def bounded_part(c: Completion, facts: Facts, names: FreshNames, k: str) -> tuple[Stmts, ast.Declaration]:
    """The parameter, and before it its bounds, where each entry has its own."""
    span, body, items = c.span, Stmts(), []
    for word, bound in ast.limits(c.type).items():
        axes = rank(facts.types[bound])
        if axes:
            own = names.fresh(f"{c.part}_{word}")
            at = tuple(ast.SingleIndex(span, i) for i in c.index(k)[-axes:])
            body += code("vector[n] v;", span, n=variable(c.count, span), v=own)
            body += c.for_each(k, "v[k] = b;", v=own, b=ast.Indexed(span, bound, at))
            bound = variable(own, span)
        items.append((word, bound))
    bounds = ast.Bounds(span, tuple(items)) if items else None
    t = ast.SizedType(span, "vector", bounds, (variable(c.count, span),))
    return body, replace(c.declared, type=t, name=c.part)


def filled(c: Completion, k: str) -> Stmts:
    """The data with the parameters in place of what is missing."""
    given = replace(
        c.declared, type=replace(c.type, bounds=None), name=c.whole, value=variable(c.name, c.span)
    )
    entry = indexed(c.whole, c.index(k), c.span)
    return (given, *c.for_each(k, "a = v[k];", a=entry, v=c.part))


def flagged(c: Completion, flags: str, k: str) -> Stmts:
    """For each entry of an int whether it is missing, 1 or 0."""
    sizes = {f"n{j}": n for j, n in enumerate(c.type.dims)}
    size_list = ", ".join(sizes)
    (declared,) = code(f"array[{size_list}] int v = rep_array(0, {size_list});", c.span, v=flags, **sizes)
    return (declared, *c.for_each(k, "a = 1;", a=indexed(flags, c.index(k), c.span)))


def held(c: Completion, flags: str, names: FreshNames) -> Stmts:
    """No value but the given one has a density, where one is given."""
    span = c.span
    heads = [(names.fresh("i"), integer(1, span), n) for n in c.type.dims]
    at = tuple(variable(name, span) for name, _, _ in heads)
    parts = {"f": indexed(flags, at, span), "v": indexed(c.whole, at, span), "y": indexed(c.name, at, span)}
    return loops(heads, code("target += f == 0 && v != y ? negative_infinity() : 0;", span, **parts), span)


def picked(c: Completion, k: str) -> Stmts:
    """The draws of missing ints."""
    (declared,) = code("array[n] int v;", c.span, n=variable(c.count, c.span), v=c.part)
    return (declared, *c.for_each(k, "v[k] = a;", v=c.part, a=indexed(c.whole, c.index(k), c.span)))


def refuse_early(p: ast.Program, completions: tuple[Completion, ...]) -> None:
    """ModelError where missing values are read before the parameters that they become."""
    for c in completions:
        for s in (*p.data, *p.transformed_data, *p.parameters):
            read = with_names((s,), {c.name: c.whole})
            if mentions(read, {c.whole}):
                raise incomplete(
                    f"`{c.name}` is read where only data are allowed",
                    s.span,
                    f"Compute it in transformed parameters or in the model, where `{c.name}` has draws in "
                    "the places of its missing values.",
                )


def refuse_unmodelled(p: ast.Program, missing: Collection[str]) -> None:
    """ModelError where no statement says which values are likely."""
    outcomes = [*filter(None, map(outcome_of, walk((*p.transformed_parameters, *p.model))))]
    for d in p.data:
        if d.name in missing and not mentions(outcomes, {d.name}):
            raise incomplete(
                f"no statement models `{d.name}`",
                d.span,
                f"Add `{d.name} ~ {usual_distribution(d)};` to the model, or another distribution of its "
                "values, and declare the parameters of that distribution.",
            )


def usual_distribution(d: ast.Declaration) -> str:
    """The distribution that data so declared most often have."""
    limits = {word: text_of(limit) for word, limit in ast.limits(d.type).items()}
    match is_discrete(d), limits.get("lower"), limits.get("upper"):
        case True, "0", "1":
            return "bernoulli(theta)"
        case True, "1", str():
            return "categorical(p)"
        case True, _, _:
            return "poisson(lambda)"
    return "normal(mu, sigma)"
