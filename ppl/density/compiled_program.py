"""A program that compiled: its forms, and each as a module bound to a namespace."""

from collections.abc import Collection, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ppl.arguments import repr_of
from ppl.arrays import NUMPY, Namespace, TapeNode
from ppl.compilation.phases import Compilation
from ppl.compilation.traits import Traits
from ppl.data import ExpectedData, Frame, Inputs, load_data, with_declared_names
from ppl.data.blocks import is_mapped
from ppl.data.levels import Bounds, coded, with_sizes
from ppl.data.missing import complete_rows
from ppl.data.shares import shared_names
from ppl.data.values import shape_of
from ppl.density.conditioning import reader_of
from ppl.errors import ArgumentError, DataError
from ppl.kernel.density.layout import Data, check_sizes, packed_places, parameter_places, parameters_of
from ppl.kernel.draws.names import sized
from ppl.kernel.emit.library import Wrap
from ppl.kernel.emit.load import Code, Module, load
from ppl.kernel.emit.located import located
from ppl.kernel.emit.runtime import ParameterPlace, check, check_each
from ppl.kernel.ir import nodes as ir
from ppl.optimise.draw_by_draw import DrawByDraw
from ppl.optimise.forms import DRAWS, VALUES, Form
from ppl.optimise.tracing.namespace import TRACING
from ppl.optimise.tracing.tracer import checking, refuse
from ppl.records import dataclass, field, replace
from ppl.source import SourceText
from ppl.system.freed_memory import keep_freed_memory
from ppl.types import INT, element_type

if TYPE_CHECKING:
    from ppl.kernel.language import ast
    from ppl.structure.discrete.rewrite import Summed
    from ppl.structure.observed.completed import Completion

TRACED = {
    "print": refuse,
    "check": checking(partial(check, NUMPY)),
    "check_each": checking(partial(check_each, NUMPY)),
}
"""What does something beside giving a value, which a trace must not do once for all points."""


@dataclass(frozen=True)
class CompiledProgram:
    """A compilation, whose forms are bound to namespaces when they are first asked for.

    Example:
        >>> module = model.load(VALUES, NUMPY)
        >>> round(float(module.log_joint(posterior.d, np.zeros(posterior.param_unc_num()), True)), 3)
        -44.129
    """

    keeps_time: ClassVar[bool] = False
    """Whether each run is timed, block by block, which JAX's compiled code is not."""
    compilation: Compilation
    modules: dict[tuple[str, str], Module] = field(init=False, default_factory=dict, compare=False)
    unavailable: set[str] = field(init=False, default_factory=set, compare=False)
    """Names of forms for many draws that the program does not have."""
    jax_cache: dict[str, Any] = field(init=False, default_factory=dict, compare=False)
    """What ppl/jax_backend makes of the program, once."""

    def __post_init__(self) -> None:
        if not isinstance(self.compilation, Compilation):
            raise ArgumentError(f"a Model is made by ppl.compile_model({repr_of(self.compilation)})")

    def __repr__(self) -> str:
        data = f"data {', '.join(self.data_schema)}" if self.data_schema else "no data"
        parameters = ", ".join(d.name for d in self.lowered.parameters) or "none"
        return f"<Model {self.source.name}: {data}; parameters {parameters}>"

    def __reduce__(self) -> Any:
        """By the text of the program: compiled code does not travel."""
        return type(self), (self.compilation,)

    def changed(self, **settings: Any) -> Self:
        """The model of the same program, compiled with other settings of `phases.Compilation`."""
        return replace(self, compilation=self.compilation.changed(**settings))

    def of_program(self, tree: "ast.Program", missing: frozenset[str] | None = None) -> Self:
        """The model of a program that was made of this one's, compiled with the same settings.

        `missing` are its data with missing values, by default those of this program.
        """
        missing = self.compilation.missing if missing is None else missing
        return self.changed(tree=tree, missing=missing, values=None, part=None, sharded=False)

    @property
    def source(self) -> SourceText:
        """The text of the program."""
        return self.compilation.source

    @property
    def lowered(self) -> ir.Program:
        """The program as IR, before any pass."""
        return self.compilation.lowered

    @property
    def discrete(self) -> "Summed | None":
        """How discrete parameters were summed out, if the program has any."""
        return self.compilation.discrete

    @property
    def completions(self) -> "tuple[Completion, ...]":
        """Data with missing values, which are parameters of this model."""
        return self.compilation.completions

    # --- Forms ---

    def program(self, form: Form = VALUES) -> ir.Program:
        """A form of the program, a record of `optimise.forms`, as IR."""
        return self.compilation.program(form)

    def code_of(self, form: Form) -> Code:
        """A form as Python code."""
        return self.compilation.code(form)

    def load(self, form: Form, xp: Namespace) -> Module:
        """A form bound to a namespace.

        Raises:
            DrawByDraw: the program has no such form.
        """
        key = form.name, xp.name
        if key not in self.modules:
            self.modules[key] = self.bind(form, xp)
        return self.modules[key]

    def load_over_draws(self, form: Form, xp: Namespace) -> Module | None:
        """A form for many draws bound to a namespace; None where the program has none."""
        try:
            return None if form.name in self.unavailable else self.load(form, xp)
        except DrawByDraw:
            self.unavailable.add(form.name)
            return None

    def bind(self, form: Form, xp: Namespace, wrap: Wrap | None = None, **replaced: Any) -> Module:
        """A form bound to a namespace anew; `wrap`, `replaced` are those of kernel.emit.load."""
        traced = TRACED if xp is TRACING else {}
        return load(self.code_of(form), xp, wrap, **{**traced, **replaced})

    @property
    def nodes(self) -> type[TapeNode]:
        """What the tapes of its densities are made of."""
        return TapeNode

    @property
    def plain(self) -> Module:
        """The module in NumPy: data, values, draws."""
        return self.load(VALUES, NUMPY)

    @cached_property
    def over_draws(self) -> Module | None:
        """The module in NumPy that computes the variables of many draws at once, if the program allows it."""
        return self.load_over_draws(DRAWS, NUMPY)

    # --- What the program is ---

    @property
    def python_source(self) -> str:
        """The text of the Python module that values are computed by.

        Example:
            >>> print(model.python_source.splitlines()[0])
            def read_data(d, read):
        """
        return self.code_of(VALUES).emitted.text

    @property
    def data_schema(self) -> dict[str, str]:
        """The type of each variable of the data block, by name.

        Example:
            >>> model.data_schema
            {'J': 'int', 'y': 'array[] real', 'sigma': 'array[] real'}
        """
        return {d.name: str(d.type) for d in self.lowered.data}

    @property
    def made_of(self) -> dict[str, frozenset[str]]:
        """The parameters that each transformed parameter is made of, by its name."""
        return self.compilation.made_of

    @property
    def traits(self) -> Traits:
        """What of the log density decides how it is computed."""
        return self.compilation.traits

    # --- Data ---

    def data_of(self, inputs: Inputs, seed: int = 0) -> Data:
        """The data with all that is computed from them; `seed` is for random numbers in transformed data.

        Of data on disk, `LogDensity.prepared` computes what the log joint needs of all rows.

        Raises:
            DataError: a variable is missing or does not fit its declaration; the message names it.
            Rejection: a statement of transformed data rejects them.
            InferenceError: a statement of transformed data cannot be computed; names it.
        """
        d = Data(seed__=seed)
        with np.errstate(all="ignore"), located(self.plain):
            self.plain.read_data(d, reader_of(self.lowered.data, inputs))
            self.plain.transform_data(d, np.random.default_rng(seed))
            d.own_places = parameter_places(parameters_of(self.plain.layout, d))
            d.places = self.packed(d)
            self.plain.shapes(d, lambda group, *shape: check_sizes(sized(*shape)))
        return d if mapped(d) else self.prepared(d)

    def packed(self, d: Data) -> dict[str, ParameterPlace]:
        """The places that the log joint reads, of data that have those of the parameters."""
        return packed_places(d.own_places, self.plain.emitted.packs)

    def known_values(self, d: Data) -> dict[str, Any]:
        """The values of data and transformed data."""
        known = (*self.lowered.data, *self.lowered.transformed_data_names)
        return {v.name: d.of(v.name) for v in known if not v.items}

    def prepared(self, d: Data, form: Form = VALUES, after: Form | None = None) -> Data:
        """The data with what a form computes of them once, which the form `after` may have done already."""
        if after is not None and self.code_of(form).emitted.prepare == self.code_of(after).emitted.prepare:
            return d
        d, module = d.with_values({}, places=self.packed(d)), self.load(form, NUMPY)
        with np.errstate(all="ignore"), located(module):
            module.prepare(d)
        return d


def mapped(d: Data) -> list[NDArray[Any]]:
    """The arrays of the data that lie on disk."""
    return [value for value in vars(d).values() if is_mapped(value)]


def as_declared(model: CompiledProgram, inputs: Inputs, first_fit: bool = False) -> Inputs:
    """The inputs with what the program makes of columns of a table, and words of ints as codes.

    A column `Age (years)` is the variable `age_years`. The column of one row is a single number, where that
    is declared; a size that the inputs lack is that of the first variable that is declared with it: of a
    column, as Stan asks for sizes beside arrays, but for new rows of any.

    Raises:
        DataError: a variable has more levels than its bounds allow, or a table has no rows, which is seldom
            meant: a fit would sample the prior.
    """
    if not all(rows.count for rows in inputs.columns.values()):
        prior = '; to sample the prior give sizes of 0 in JSON or a dict, {"N": 0, "y": []}'
        raise DataError(f"{inputs.label}: the table has no rows{prior * first_fit}", code="PPL905")
    inputs = coded(with_declared_names(inputs, columns_of(model)), bounds_of(model))
    values = dict(inputs.values)
    for v in model.lowered.data:
        rows, axes = inputs.columns.get(v.name), (*v.dims, *v.sizes)
        if rows and not axes and rows.count == 1:
            values[v.name] = inputs.values[v.name][0]
        shape = shape_of(values.get(v.name)) if rows or not first_fit else ()
        for size, length in zip(axes, shape, strict=True) if len(axes) == len(shape) else ():
            if isinstance(size, ir.Var):
                values.setdefault(size.name, length)
    return replace(inputs, values=values)


def columns_of(model: CompiledProgram) -> list[str]:
    """The data that columns of a table can be: arrays, for a single number is no column."""
    return [v.name for v in model.lowered.data if v.dims or v.sizes]


def bounds_of(model: CompiledProgram) -> list[Bounds]:
    """The ints of the data whose upper bound is a number, or one of the data; without a lower one from 1."""
    sizes, found = {v.name for v in model.lowered.data if v.type == INT}, list[Bounds]()
    for v in model.lowered.data:
        if v.constraint in ("upper", "lower_upper") and element_type(v.type) == INT:
            lower, upper = (1, *(bound_value(argument, sizes) for argument in v.arguments))[-2:]
            if upper is not None and isinstance(lower, int):
                found.append(Bounds(ExpectedData(v.name, v.type, (), (), v.span), lower, upper))
    return found


def bound_value(bound: ir.Expr, sizes: Collection[str]) -> int | str | None:
    """A bound that is a number, or the name of a size."""
    match bound:
        case ir.Const(value=int(value)):
            return value
        case ir.Var(name=name) if name in sizes:
            return name
    return None


def conditioned(
    model: CompiledProgram,
    data: Inputs | Mapping[str, Any] | Frame | str | Path,
    seed: int,
    missing: Literal["refuse", "model", "drop"] = "refuse",
) -> tuple[CompiledProgram, Data, Inputs]:
    """The model, its data, and what was given for them; see Model.condition."""
    keep_freed_memory()
    inputs = with_declared_names(load_data(data), columns_of(model))
    if missing == "drop":
        inputs = complete_rows(inputs, columns_of(model))
    inputs = with_sizes(as_declared(model, inputs, first_fit=True), bounds_of(model))
    if missing == "model":
        from ppl.density.missing import holes_of, without_holes

        if holes := holes_of(model.compilation.checked[0], inputs):
            completed = model.changed(missing=frozenset(holes))
            inputs, is_complete = without_holes(inputs, holes, completed.completions)
            model = completed if is_complete else model
    if shared := shared_names(inputs.values):
        from ppl.density.sharded import require_sums_over_rows

        require_sums_over_rows(model.lowered, shared)
        model = model.changed(part=model.lowered, sharded=True)
    d = model.data_of(inputs, seed)
    if model.discrete:
        special = model.compilation.specialised(model.known_values(d))
        if special is not model.compilation:
            model = replace(model, compilation=special)
            d = model.data_of(inputs, seed)
    return model, d, inputs
