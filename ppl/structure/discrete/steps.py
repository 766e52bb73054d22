"""One elimination: how the entries of one parameter meet each other and those of other parameters."""

from collections.abc import Mapping, Sequence
from math import prod

from ppl.kernel.language import ast
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import mentions, substituted, text_of, variable
from ppl.records import dataclass, field, replace
from ppl.structure.discrete.affine import affine, known, plus, tidy
from ppl.structure.discrete.parameters import Discrete
from ppl.structure.discrete.terms import Parameters, Ref, Term, with_values

FURTHEST = 1
"""How many steps back an entry of a chain may look."""


class Cannot(Exception):
    """The entries of a parameter cannot be summed out by what the index expressions say; why not."""


@dataclass(frozen=True)
class Neighbour:
    """An entry of another parameter that meets an entry of the one summed out.

    `indices` are in terms of the indices of the latter, which the step names; `value` is the name of its
    loop variable.
    """

    parameter: Discrete
    indices: tuple[ast.Expr, ...]
    value: str

    @property
    def text(self) -> str:
        return f"{self.parameter.name}[{', '.join(map(text_of, self.indices))}]"


@dataclass(frozen=True)
class Elimination:
    """The plan to sum out one parameter.

    `at` names an index for each of its dimensions.  A chain runs along dimension `chain_axis` and looks back
    `order` steps; without one the order is 0.  `steady` is the one term between neighbours that is the same
    for all of them, if there is one.
    """

    parameter: Discrete
    terms: tuple[Term, ...]
    at: tuple[str, ...]
    neighbours: tuple[Neighbour, ...] = ()
    value: str = ""
    table: str = ""
    chain_axis: int = 0
    order: int = 0
    before: str = ""
    pairs: str = ""
    forward: str = ""
    left: str = ""
    steady: Term | None = None
    each: str = ""
    """The table of one entry, where terms are gathered entry by entry."""
    flat: str = ""
    """A table in one row for terms of which several may belong to one entry, in no order that loops tell."""
    scopes: Mapping[tuple[int, ...], str] = field(default_factory=dict)
    """Tables of terms that touch some of the neighbours only, by their numbers; others go to the table."""

    @property
    def entries(self) -> tuple[ast.Expr, ...]:
        """The sizes whose product is the number of entries of the largest table of an entry."""
        own = (self.parameter.size,) * (self.order + 1)
        return (*own, *(n.parameter.size for n in self.neighbours))

    @property
    def together(self) -> tuple[str, ...]:
        """The parameters that make it large."""
        return tuple(dict.fromkeys((self.parameter.name, *(n.parameter.name for n in self.neighbours))))


def planned(
    name: str, terms_of_body: Sequence[Term], parameters: Parameters, names: FreshNames
) -> Elimination:
    """How to sum out a parameter given all terms that touch it.

    Raises:
        Cannot: its entries meet in a way that the index expressions do not tell.
    """
    d = parameters[name]
    for term in terms_of_body:
        for r in term.refs:
            if r.indices is None:
                raise Cannot(f"a statement reads entries of `{r.name}` that its indices do not determine")
    met = [t for t in terms_of_body if len(t.of(name)) > 1]
    chain_axis, order = direction(d, met) if met else (0, 0)
    step = Elimination(
        d, tuple(terms_of_body), index_names(d, terms_of_body, names), chain_axis=chain_axis, order=order
    )
    step = replace(step, neighbours=meeting(step, names))
    step = replace(step, value=names.fresh(loop_name(d)), table=names.fresh(f"lp_{name}"))
    if any(is_scattered(d, t) for t in terms_of_body):
        step = replace(step, flat=names.fresh(f"lp_{name}_sums"))
    if not met:
        each = names.fresh(f"lp_{name}_each") if d.dims and not step.neighbours else ""
        return replace(step, scopes=partial_scopes(step, names), each=each)
    return replace(
        step,
        before=names.fresh(f"{name}_before"),
        pairs=names.fresh(f"lp_{name}_pair"),
        forward=names.fresh(f"lp_{name}_forward"),
        left=names.fresh(f"{name}_left"),
        steady=steady_term(step, met),
    )


def partial_scopes(step: Elimination, names: FreshNames) -> dict[tuple[int, ...], str]:
    """A table for each set of neighbours that a term touches, short of all: one axis more costs little."""
    every = tuple(range(len(step.neighbours)))
    if len(every) < 2:
        return {}
    scopes = sorted({scope_of(step, t) for t in step.terms} - {every})
    return {scope: names.fresh(f"{step.table}_part") for scope in scopes}


def scope_of(step: Elimination, t: Term) -> tuple[int, ...]:
    """The numbers of the neighbours that a term touches."""
    near = {neighbour(step, t, r).text for r in t.refs if r.name != step.parameter.name}
    return tuple(k for k, n in enumerate(step.neighbours) if n.text in near)


def is_scattered(d: Discrete, t: Term) -> bool:
    """Whether several iterations may touch one entry: `z[g[n]]`, or `z[n]` for each j."""
    if len(t.of(d.name)) > 1:
        return False
    own = {loop.variable for loop in t.loops}
    named = {text for i in t.of(d.name)[0].known for text in affine(i).times}
    return bool(d.dims) and bool(own - named)


def loop_name(d: Discrete) -> str:
    """The loop variable for its values, or for their places where these are others."""
    return f"{d.name}_value" if known(d.lower) == 1 else f"{d.name}_place"


# --- Chains --------------------------------------------------------------------------------------


def direction(d: Discrete, met: Sequence[Term]) -> tuple[int, int]:
    """The dimension along which entries meet, and how far apart they are at most."""
    axes = {k for t in met for k in differing(d.name, t)}
    if len(axes) != 1:
        raise Cannot(f"entries of `{d.name}` depend on each other along several dimensions")
    (chain_axis,) = axes
    furthest = 0
    for t in met:
        offsets = [affine(r.known[chain_axis]) for r in t.of(d.name)]
        if len({o.same for o in offsets}) > 1:
            raise Cannot(
                f"the lag between dependent entries of `{d.name}` does not follow from their indices"
            )
        lags = [o.constant for o in offsets]
        furthest = max(furthest, max(lags) - min(lags))
    if furthest > FURTHEST:
        raise Cannot(f"entries of `{d.name}` depend on each other at a lag of {furthest}")
    return chain_axis, furthest


def differing(name: str, t: Term) -> set[int]:
    first, *rest = t.of(name)
    texts = [[text_of(i) for i in r.known] for r in (first, *rest)]
    return {k for k in range(len(first.known)) if len({row[k] for row in texts}) > 1}


def latest(s: Elimination, t: Term) -> Ref:
    """The entry of the parameter that a term touches, in a chain the one furthest along."""
    return max(t.of(s.parameter.name), key=lambda r: affine(r.known[s.chain_axis]).constant if s.order else 0)


def steady_term(step: Elimination, met: Sequence[Term]) -> Term | None:
    """The term between neighbours, when it is the only one, the same for all and there for all."""
    if len(met) != 1 or met[0].guarded or not isinstance(met[0].statement, ast.TargetIncrement):
        return None
    (t,) = met
    if not covers(step, t) or step.neighbours:
        return None
    entry = variable("entry", t.statement.span)
    without_entries = with_values(t.statement, t.parameters, {r.text: entry for r in t.refs})
    return None if mentions(without_entries, {loop.variable for loop in t.loops}) else t


def covers(s: Elimination, t: Term) -> bool:
    """Whether the loops around a term reach every entry, along a chain every one but the first."""
    heads = {}
    for loop in t.loops:
        if not isinstance(loop, ast.For):
            return False
        heads[loop.variable] = loop
    for k, (index, size) in enumerate(zip(latest(s, t).known, s.parameter.dims, strict=True)):
        form = affine(index)
        names = list(form.times.items())
        if len(names) != 1 or names[0][1] != 1 or names[0][0] not in heads:
            return False
        loop = heads.pop(names[0][0])
        first = known(plus(loop.lower, form.constant))
        last = plus(loop.upper, form.constant)
        if first != (2 if s.order and k == s.chain_axis else 1) or text_of(last) != text_of(tidy(size)):
            return False
    return True


# --- Entries of other parameters -----------------------------------------------------------------


def index_names(d: Discrete, terms_of_body: Sequence[Term], names: FreshNames) -> tuple[str, ...]:
    """A name for each index: the loop variable that all terms have for it, or one of its own."""
    out: list[str] = []
    for k in range(len(d.dims)):
        used = {next(iter(affine(r.known[k]).times), "") for t in terms_of_body for r in t.of(d.name)}
        one = next(iter(used - {""}), "") if len(used - {""}) == 1 else ""
        free = one in names.only_loops and one not in out
        out.append(one if free else names.fresh(f"{d.name}_at"))
    return tuple(out)


def meeting(s: Elimination, names: FreshNames) -> tuple[Neighbour, ...]:
    """The entries of other parameters that an entry meets, in terms of its own indices."""
    met = (neighbour(s, t, r) for t in s.terms for r in t.refs if r.name != s.parameter.name)
    near = {n.text: n for n in met}
    return tuple(replace(n, value=names.fresh(loop_name(n.parameter))) for n in near.values())


def neighbour(s: Elimination, t: Term, r: Ref) -> Neighbour:
    return Neighbour(t.parameters[r.name], own_indices(s, t, r), "")


def own_indices(s: Elimination, t: Term, r: Ref) -> tuple[ast.Expr, ...]:
    """The indices of another entry by those of this one; Cannot where they are no function of them."""
    own = {loop.variable for loop in t.loops}
    if not mentions(r.known, own):
        return r.known
    values: dict[str, ast.Expr] = {}
    for k, (index, name) in enumerate(zip(latest(s, t).known, s.at, strict=True)):
        form = affine(index)
        if len(form.times) == 1:
            ((text, times),) = form.times.items()
            along = s.order and k == s.chain_axis
            if times == 1 and text in own and text not in values and not along:
                values[text] = plus(variable(name, index.span), -form.constant)
    left = own - set(values)
    if mentions(r.known, left):
        raise Cannot(f"`{r.text}` is not the same wherever `{t.of(s.parameter.name)[0].text}` stands")
    indices = tuple(tidy(substituted(i, values)) for i in r.known)
    if not is_within(s, indices, t.parameters[r.name]) and (s.order or t.guarded or not covers(s, t)):
        raise Cannot(f"`{r.text}` does not appear with every entry of `{s.parameter.name}`")
    return indices


def is_within(s: Elimination, indices: tuple[ast.Expr, ...], other: Discrete) -> bool:
    """Whether the indices of another entry show that it exists for every entry of this parameter."""
    sizes = {name: text_of(size) for name, size in zip(s.at, s.parameter.dims, strict=True)}
    return all(
        not mentions(i, set(s.at)) or (isinstance(i, ast.Variable) and sizes[i.name] == text_of(size))
        for i, size in zip(indices, other.dims, strict=True)
    )


def weight(s: Elimination) -> tuple[int, int, int]:
    """How many values meet in the table of an elimination; those of known number count by it."""
    sizes = [known(e) for e in s.entries]
    return (sizes.count(None), prod(n or 1 for n in sizes), -len(s.parameter.dims))
