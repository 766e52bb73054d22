"""The program that predicts for new rows: parameters of the fit, effects of new groups from their prior."""

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import Any

from ppl.errors import ModelError
from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.walk import variables, walk
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import (
    Stmts,
    code,
    copied,
    expr,
    indexed,
    integer,
    loops,
    mentions,
    rewrite,
    substituted,
    text_of,
    variable,
    written,
)
from ppl.records import dataclass, replace
from ppl.source import Span
from ppl.structure.definitions import name_of, symbols_in
from ppl.structure.discrete.live import live, without_empty
from ppl.structure.discrete.parameters import is_discrete
from ppl.structure.factors import Factors
from ppl.structure.forward.order import as_tilde, in_order
from ppl.structure.observed.completed import Completion, bounded_part, completion, places
from ppl.structure.observed.conditioned import NOTHING, ConditionedData, ConditionedReader
from ppl.structure.observed.effects import OfFit
from ppl.structure.observed.expected import Means, means_of
from ppl.structure.observed.fixed import OF_ALL_ROWS, Fixing, Pair, refuse_of_each_other, without
from ppl.structure.observed.numbers import Counts
from ppl.structure.observed.partial_normal import PartialNormal
from ppl.structure.observed.predictive import plain
from ppl.structure.observed.quantities import with_quantities
from ppl.structure.observed.terms import Around
from ppl.structure.observed.tied import UNTIED, DensitiesReader, Dependence, Tied
from ppl.structure.refused import undrawn, unpredicted

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Predicting:
    """The program that draws what new rows do not hold, under its names, among its generated quantities.

    Its parameters are those of the fit, then the `unknown` that are drawn given what new rows hold, by the
    density of the model block.
    """

    program: ast.Program
    drawn: tuple[str, ...]
    effects: tuple[str, ...]
    """Parameters that are drawn anew."""
    log_lik: Mapping[str, str]
    """The quantities with the log density of what is given, by row, by data variable."""
    outputs: Mapping[str, str]
    """The quantities that are asked for, by data variable: what is drawn, or its expected values."""
    dependence: Dependence
    body: Stmts
    declared: Stmts
    unknown: tuple[Completion, ...] = ()

    @property
    def all_quantities(self) -> tuple[str, ...]:
        """The drawn variables, the outputs, and log densities."""
        return tuple(dict.fromkeys((*self.drawn, *self.outputs.values(), *self.log_lik.values())))

    def computing(self, names: Collection[str]) -> ast.Program:
        """The program that computes these quantities."""
        declared = {d.name: d for d in self.declared if isinstance(d, ast.Declaration)}
        hidden = tuple(d for name, d in declared.items() if name not in names)
        shown = tuple(declared[name] for name in names)
        return with_quantities(self.program, shown, names, self.body, hidden)


@dataclass(frozen=True)
class NewRows:
    """A checked program whose data are to be those of new rows, of which some modelled data are given."""

    factors: Factors
    given: ConditionedData = NOTHING
    means: bool = False
    """Whether expected values are wanted, of all modelled data."""
    kept: frozenset[str] = frozenset()
    """Parameters with an entry for each row that are those of the fit, because the rows are."""
    anew: frozenset[str] = frozenset()
    """Parameters of groups that are drawn anew for all of them, because their predictors are others."""
    totals: frozenset[str] = frozenset()
    """Transformed data, not by row, that statements compute of all rows: those of the fit."""

    @property
    def program(self) -> ast.Program:
        return self.factors.program

    @cached_property
    def modelled(self) -> tuple[str, ...]:
        """The data, and transformed data, that densities of the program are of."""
        return tuple(self.factors.outcomes)

    def sources(self, name: str) -> set[str]:
        """The data by row that transformed data are computed of."""
        sources, own = {name}, {d.name for d in self.program.data if self.along_rows(d)}
        for s in reversed(self.program.transformed_data):
            sources |= {v.name for v in variables(s)} if written(s) & sources else set()
        return (sources & own) - {name}

    @cached_property
    def drawn(self) -> frozenset[str]:
        """Of these, those that new rows do not hold, or hold in part."""
        return frozenset(self.modelled) - self.given.wholly

    @property
    def rows(self) -> frozenset[str]:
        """The sizes of modelled data along rows, as text."""
        return self.factors.rows

    @cached_property
    def sizes_of_groups(self) -> frozenset[str]:
        """The data that parameters have as a size, other than those that count rows."""
        sizes = [size for d in self.program.parameters for size in ast.all_sizes(d.type)]
        of_rows = [size for name in self.modelled for size in self.factors.sizes[name]]
        names = {v.name for v in variables(sizes)} - {v.name for v in variables(of_rows)}
        return frozenset(names & {d.name for d in self.program.data})

    @cached_property
    def names(self) -> FreshNames:
        return FreshNames.of(self.program)

    @cached_property
    def held(self) -> dict[str, tuple[str, str]]:
        """Of variables that are given in part: the names of their values, and of which are given."""
        partly = [name for name in self.modelled if name in self.given.partly]
        return {n: (self.names.fresh(f"{n}_given"), self.names.fresh(f"{n}_is_given")) for n in partly}

    @cached_property
    def normal(self) -> PartialNormal:
        """The functions for multivariate normals of which some entries are given."""
        return PartialNormal(self.names.fresh("multi_normal_given"))

    def data_read_by(self, statements: Stmts) -> tuple[ast.Declaration, ...]:
        """The declarations of data that statements read, and those of the sizes and bounds of all data."""
        data = self.program.data
        sizes = tuple(size for d in data for size in ast.all_sizes(d.type))
        bounds = tuple(d.type.bounds for d in data if isinstance(d.type, ast.SizedType) and d.type.bounds)
        used = {v.name for v in variables((*statements, *sizes, *bounds))}
        return tuple(d for d in data if d.name in used - self.drawn)

    @property
    def data(self) -> tuple[ast.Declaration, ...]:
        """The declarations of the data that are read."""
        p = self.program
        later = (*p.parameters, *p.transformed_parameters, *p.model)
        return self.data_read_by((*self.transformed[0], *later))

    @cached_property
    def transformed(self) -> tuple[Stmts, set[str]]:
        """Transformed data that do not depend on what is drawn, and the variables that do.

        Raises:
            ModelError: they would be other ones in new rows.
        """
        kept, gone = without(self.program, {*self.drawn})
        later = (*self.program.transformed_parameters, *self.program.model)
        for name, d in self.factors.data.items():
            if name in gone and self.along_rows(d) and mentions(later, {name}):
                why = f"transformed data compute `{name}`, by row, of data that the new rows do not hold"
                todo = "in transformed parameters or in the model, where it follows the draws"
                raise unpredicted(why, d.span, f"Compute `{name}` {todo}.")
        return kept, gone & self.factors.data.keys()

    def along_rows(self, d: ast.Declaration) -> bool:
        return any(text_of(e) in self.rows for e in ast.all_sizes(d.type))

    @cached_property
    def fixing(self) -> tuple[Fixing, Pair]:
        """Transformed data whose values of all rows are those of the fit."""
        refuse_of_each_other(self.transformed[0], self.factors.facts)
        own = self.factors
        fixing = Fixing(own.facts, self.rows, own.sizes, self.names, Counts.of(own))
        return fixing, fixing.body(self.transformed[0])

    @property
    def recording(self) -> ast.Program:
        """The program that has those values, at the data of the fit, among its transformed data."""
        fixing, (recording, _) = self.fixing
        span = self.program.span
        declared = (fixing.declaration(name, span) for name in fixing.values)
        data = self.data_read_by(recording)
        own = ast.Program(span, self.program.functions, data, (*declared, *recording))
        return copied(own)

    @property
    def computed(self) -> dict[str, ast.Declaration]:
        """The transformed data that new rows compute: those along rows, and other reals."""
        declared = (s for s in self.fixing[1][1] if isinstance(s, ast.Declaration))
        return {
            d.name: d
            for d in declared
            if self.along_rows(d) or (isinstance(d.type, ast.SizedType) and d.type.keyword != "int")
        }

    @cached_property
    def totals_at_fit(self) -> dict[str, str]:
        """The data that hold `totals`."""
        assert self.fixing
        return {name: self.names.fresh(f"{name}_fit") for name in sorted(self.totals)}

    @property
    def computed_data(self) -> Stmts:
        """Transformed data as new rows compute them, where `totals` get their values of the fit."""
        body, out = self.fixing[1][1], list[ast.Statement]()
        last = {name: k for k, s in enumerate(body) for name in written(s) & self.totals}
        for k, s in enumerate(body):
            out.append(s)
            for name in sorted(name for name, at in last.items() if at == k):
                out += self.of_fit(name, self.totals_at_fit[name], s.span)
        return tuple(out)

    def of_fit(self, name: str, own: str, span: Span) -> Stmts:
        """A variable with the entries that it has at the fit."""
        sizes = [expr("n < size(a) ? n : size(a)", span, n=n, a=own) for n in self.factors.sizes[name][:1]]
        heads = [
            (self.names.fresh("i"), integer(1, span), n) for n in (*sizes, *self.factors.sizes[name][1:])
        ]
        at = tuple(variable(k, span) for k, _, _ in heads)
        return loops(heads, code("a = b;", span, a=indexed(name, at, span), b=indexed(own, at, span)), span)

    @property
    def computing(self) -> Stmts:
        """Transformed parameters, and the model block less priors."""
        return (*self.program.transformed_parameters, *self.model({}))

    # --- With what the fit says ---

    def computing_data(self, values: Shapes) -> ast.Program:
        """The program that computes transformed data."""
        given = self.given_data(values)
        read = {d.name for d in self.data_read_by(given.transformed_data)} | values.keys()
        return copied(replace(given, data=tuple(d for d in given.data if d.name in read)))

    @property
    def computing_all_data(self) -> ast.Program:
        """The program that computes transformed data of the fit."""
        p = self.program
        return copied(ast.Program(p.span, p.functions, p.data, p.transformed_data))

    def given_data(self, values: Shapes) -> ast.Program:
        """The functions and data, with declarations of what the fit gives, of these shapes."""
        span, known = self.program.span, self.factors.data
        real = ast.SizedType(span, "real", None, ())
        types = {
            name: known[name].type if name in known else replace(real, dims=(integer(0, span),) * len(shape))
            for name, shape in values.items()
        }
        own = (ast.Declaration(span, literal(t, values[name]), name, span) for name, t in types.items())
        return ast.Program(span, self.program.functions, (*self.data, *own, *self.parts), self.computed_data)

    @property
    def parts(self) -> Iterator[ast.Declaration]:
        """The data that hold variables in part."""
        span, declared = self.program.span, self.factors.data
        for name, (values, flags) in self.held.items():
            yield replace(plain(declared[name]), name=values, value=None)
            flag = ast.SizedType(span, "int", None, (), self.factors.sizes[name])
            yield ast.Declaration(span, flag, flags, span)

    @property
    def continuous(self) -> tuple[ast.Declaration, ...]:
        """The parameters that are not discrete."""
        return tuple(d for d in self.program.parameters if not is_discrete(d))

    def for_sizes(self, values: Shapes) -> ast.Program:
        """The program that tells the sizes of parameters for new data, and reads what is given in part."""
        given = self.given_data(values)
        parts = {name for pair in self.held.values() for name in pair}
        partly = (d for d in self.program.data if d.name in self.given.partly)
        data = (*(d for d in given.data if d.name not in parts), *partly)
        return copied(replace(given, data=data, parameters=self.continuous))

    def by_row(self, d: ast.Declaration) -> bool:
        """Whether all entries of a parameter are drawn anew, as of one with an entry for each row."""
        is_anew = d.name in self.anew or (self.along_rows(d) and d.name not in self.kept)
        return is_anew or is_discrete(d)

    def of_rows_left(self, names: Set[str]) -> tuple[frozenset[str], frozenset[str]]:
        """Parameters, and modelled data, of rows that stay if others are new: no new data are of them.

        As of patients, if the new rows are visits: the patients are those of the fit.
        """
        p, sizes = self.program, self.factors.sizes
        new = self.rows & {*names, *(text_of(e) for name in names for e in sizes.get(name, ()))}

        def is_left(d: ast.Declaration) -> bool:
            own = {*map(text_of, ast.all_sizes(d.type))} & self.rows
            return bool(new and own) and not own & new

        modelled = {*self.modelled}.union(*map(self.sources, self.modelled))
        parameters = (d.name for d in p.parameters if is_left(d) and not is_discrete(d))
        return frozenset(parameters), frozenset(d.name for d in p.data if d.name in modelled and is_left(d))

    def is_int(self, name: str) -> bool:
        """Whether a parameter or a data variable is discrete."""
        declared = {**self.factors.data, **{d.name: d for d in self.program.parameters}}
        return is_discrete(declared[name])

    def changed(self, old: Shapes, new: Shapes) -> dict[str, ast.Declaration]:
        """The parameters that have other entries than at the fit."""
        parameters = self.program.parameters
        return {d.name: d for d in parameters if self.by_row(d) or old[d.name] != new[d.name]}

    def predicting(self, values: Shapes, old: Shapes, new: Shapes, tied: Tied = UNTIED) -> Predicting:
        """The program that draws what new rows do not hold.

        `old` and `new` are the shapes of continuous parameters at the fit and for the new data; what is
        `tied` is drawn given what new rows hold.

        Raises:
            ModelError: an outcome, or an effect that is not of the fit, cannot be drawn.
        """
        p, span, declared = self.program, self.program.span, self.factors.data
        changed = self.changed(old, new)
        at_fit = {name: self.names.fresh(f"{name}_fit") for name in changed}
        grown = [name for name, d in changed.items() if not self.by_row(d)]
        copied_from = {name: OfFit(at_fit[name], old[name], new[name]) for name in grown}
        free = {name: d for name, d in changed.items() if name not in tied.unknown}
        known = tied.unknown & self.drawn
        common: dict[str, Any] = {
            "factors": self.factors,
            "names": self.names,
            "given": ConditionedData(self.given.wholly | known, self.given.partly - known),
            "flags": {name: flags for name, (_, flags) in self.held.items() if name not in known},
            "normal": self.normal,
        }
        reader = ConditionedReader(**common, effects=free, copied_from=copied_from)
        body = tuple(
            out
            for s in [*in_order([*p.transformed_parameters, *self.model(free)], cyclic)]
            for out in (local(s) if s in p.transformed_parameters else reader.statement(s, Around()))
        )
        for name, d in free.items():
            if name not in reader.drawn:
                raise undrawn(f"`{name}` has no `~` statement, so its new entries have no prior", d.name_span)
        unknown = tuple(
            completion({**declared, **changed}[name], self.names) for name in sorted(tied.unknown)
        )
        k = self.names.fresh("k")
        start = (
            *(s for name in self.held for s in self.start(name)),
            *(s for c in unknown if c.name in copied_from for s in self.copy(c, copied_from[c.name])),
            *(
                s
                for c in unknown
                for s in c.for_each(k, "a = v[k];", a=indexed(c.name, c.index(k), span), v=c.part)
            ),
        )
        drawn = tuple(name for name in self.modelled if name in reader.drawn | known)
        summed = reader.terms.summed(body, self.factors.sizes, self.names, span)
        expected = self.expected if self.means else Means({name: name for name in drawn}, (), ())
        not_known = {**{name: declared[name] for name in self.drawn}, **changed}
        own = [*(declared[name] for name in drawn), *changed.values()]
        predicting = replace(self.given_data(values), parameters=self.parameters(at_fit, old))
        if self.held or reader.draws_others:
            predicting = replace(predicting, functions=(*predicting.functions, *reader.normal.functions))
        if unknown:
            every = [*(declared[name] for name in self.drawn), *changed.values()]
            model = (
                *(replace(plain(d), value=None) for d in every),
                *start,
                *self.densities(DensitiesReader(**common, tied=tied)),
            )
            predicting = with_unknown(predicting, unknown, self.factors.facts, self.names, model)
        body = of_groups_of_the_fit(
            (*start, ast.Block(span, summed.body), ast.Block(span, expected.body)), at_fit, p
        )
        return Predicting(
            predicting,
            drawn,
            tuple(changed),
            summed.quantities,
            expected.quantities,
            Dependence(
                reader.unknown_in(reader.conditions, not_known), reader.unknown_in(reader.priors, not_known)
            ),
            body,
            (*(replace(plain(d), value=None) for d in own), *summed.declared, *expected.declared),
            unknown,
        )

    @property
    def expected(self) -> Means:
        """The expected values of what new rows hold and lack, given all of it, effects of new groups too."""
        flags = {name: flags for name, (_, flags) in self.held.items()}
        means = means_of(self.factors, self.names, flags, self.normal)
        computed = (out for s in self.program.transformed_parameters for out in local(s))
        return means._replace(body=(*computed, *means.body))

    def parameters(self, at_fit: Mapping[str, str], old: Shapes) -> tuple[ast.Declaration, ...]:
        """The parameters as the fit has them."""
        of_fit = {name: variable(own, self.program.span) for name, own in at_fit.items()}
        types = {d.name: substituted(literal(d.type, old[d.name]), of_fit) for d in self.continuous}
        return tuple(replace(d, name=at_fit.get(d.name, d.name), type=types[d.name]) for d in self.continuous)

    def densities(self, reader: DensitiesReader) -> Stmts:
        """The density of what is tied, with the transformed parameters that it needs."""
        body = reader.body(self.program.model, Around())
        computed = tuple(out for s in self.program.transformed_parameters for out in local(s))
        return (*live(computed, body), *without_empty(body))

    def copy(self, c: Completion, of_fit: OfFit) -> Stmts:
        """The entries of a parameter that the fit has."""
        own, shape, new = of_fit
        both = [min(pair) for pair in zip(shape, new, strict=True)]
        heads = [(self.names.fresh("i"), integer(1, c.span), integer(n, c.span)) for n in both]
        at = tuple(variable(k, c.span) for k, _, _ in heads)
        return loops(
            heads, code("a = b;", c.span, a=indexed(c.name, at, c.span), b=indexed(own, at, c.span)), c.span
        )

    def start(self, name: str) -> Stmts:
        """A variable that is given in part before the rest is drawn: real numbers that are not are nan."""
        values, flags = self.held[name]
        span = self.program.span
        heads = [(self.names.fresh("i"), integer(1, span), n) for n in self.factors.sizes[name]]
        at = tuple(variable(k, span) for k, _, _ in heads)
        entries = {
            "a": indexed(name, at, span),
            "b": indexed(values, at, span),
            "f": indexed(flags, at, span),
        }
        return loops(heads, code("if (f) a = b;", span, **entries), span)

    def model(self, changed: Mapping[str, ast.Declaration]) -> list[ast.Statement]:
        """The statements of the model block less priors of what the fit gives."""
        reach = self.factors.depending_on(changed.values())

        def is_prior(s: ast.Statement) -> bool:
            left = tilde.left if isinstance(tilde := as_tilde(s), ast.Tilde) else None
            if left is None or not self.factors.depends(left):
                return False
            return name_of(left) not in changed and not symbols_in(left, self.factors.facts) & reach

        return [s for s in self.program.model if not is_prior(s)]


def with_unknown(
    p: ast.Program, unknown: Sequence[Completion], facts: Facts, names: FreshNames, model: Stmts
) -> ast.Program:
    """The program with parameters for what is unknown, and where it stands among its data."""
    k = names.fresh("k")
    bounded = [bounded_part(c, facts, names, k) for c in unknown]
    return replace(
        p,
        data=(*p.data, *(d for c in unknown for d in places(c))),
        transformed_data=(*p.transformed_data, *(s for bounds, _ in bounded for s in bounds)),
        parameters=(*p.parameters, *(part for _, part in bounded)),
        model=model,
    )


def of_groups_of_the_fit(body: Stmts, at_fit: Mapping[str, str], p: ast.Program) -> Stmts:
    """The statements with means and the like of the effects of all groups, `mean(z)`, those of the fit."""
    own = {d.name for d in (*p.data, *p.transformed_data, *p.parameters) if isinstance(d, ast.Declaration)}

    def value(n: ast.Node) -> ast.Node | None:
        if not (isinstance(n, ast.Call) and n.name in OF_ALL_ROWS):
            return None
        read = {v.name for v in variables(n)}
        if not read & at_fit.keys() or read - own or any(isinstance(e, ast.Indexed) for e in walk(n)):
            return None
        return substituted(n, {name: variable(fit, n.span) for name, fit in at_fit.items()})

    return rewrite(body, value)


def local(s: ast.Statement) -> Stmts:
    """A statement of transformed parameters where it computes for new rows."""
    if isinstance(s, ast.JacobianIncrement):
        return ()
    return (plain(s) if isinstance(s, ast.Declaration) else s,)


def cyclic(pending: Sequence[ast.Statement]) -> ModelError:
    return unpredicted("it depends on a statement that depends on it", pending[0].span)


def literal(t: ast.DeclaredType, shape: tuple[int, ...]) -> ast.DeclaredType:
    """The declared type with sizes that are known."""
    sizes = tuple(ast.IntLiteral(t.span, n) for n in shape)
    dims = sizes[: len(t.dims)]
    if isinstance(t, ast.SizedTuple):
        return replace(t, dims=dims)
    return replace(t, dims=dims, sizes=sizes[len(dims) :][: len(t.sizes)])
