"""A compiled program."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ppl.arrays import AUTOGRAD, NUMPY, Namespace
from ppl.backend.emit import Emitted, emit, emit_over_draws
from ppl.backend.library import Wrap
from ppl.backend.load import Module, compile_text, load, load_over_draws, load_per_draw
from ppl.backend.located import located
from ppl.backend.memory import keep_freed_memory
from ppl.backend.text import python_name
from ppl.conditioning import DataReader
from ppl.data import Inputs, load_data
from ppl.ir import nodes as ir
from ppl.ir.made_of import made_of
from ppl.ir.passes.apart import prepare_parts, take_apart
from ppl.ir.passes.covariances import by_covariance
from ppl.ir.passes.fuse import fuse
from ppl.ir.passes.hoist_data import hoist_data
from ppl.ir.passes.over_draws import DrawByDraw, over_draws
from ppl.ir.passes.share import share
from ppl.ir.passes.zero_based import count_from_zero
from ppl.ir.walk import walk
from ppl.layout import check_sizes, lay_out, parameters_of
from ppl.marginals import Summing
from ppl.posterior import Posterior
from ppl.source import SourceText

if TYPE_CHECKING:
    from ppl.compiled.density import Density


@dataclass(frozen=True)
class Model:
    """A program that compiled; `condition` gives it data.

    Example:
        >>> model = compile_model("eight_schools.model")
        >>> model
        <Model eight_schools.model: data J, y, sigma; parameters mu, tau, theta_raw>
        >>> posterior = model.condition("eight_schools.data.json")
    """

    source: SourceText
    program: ir.Program = field(repr=False)
    resolved: ir.Program = field(repr=False)
    emitted: Emitted = field(repr=False)
    code: CodeType = field(repr=False)
    softplus: bool = False
    loops: ir.Program | None = field(default=None, repr=False)
    """The program whose loops are still loops, where it is known."""
    discrete: Summing | None = field(default=None, repr=False)
    """The program with its discrete parameters, where it has some."""
    waits: bool = field(default=False, repr=False)
    """Whether how they are summed out depends on data, so that the model is but the rest of the program."""
    loaded: dict[tuple[str, bool], Module] = field(
        init=False, default_factory=dict, repr=False, compare=False
    )
    """The modules of `per_draw` that were asked for."""

    def __repr__(self) -> str:
        data = f"data {', '.join(self.data_schema)}" if self.data_schema else "no data"
        parameters = ", ".join(d.name for d in self.program.parameters) or "none"
        return f"<Model {self.source.name}: {data}; parameters {parameters}>"

    @classmethod
    def build(
        cls, source: SourceText, resolved: ir.Program, softplus: bool, loops: ir.Program | None = None
    ) -> "Model":
        """The last phases of the compiler: hoist, emit, and Python's own compilation."""
        hoisted = prepare_parts(share(hoist_data(resolved)))
        emitted = emit(hoisted)
        return cls(source, hoisted, resolved, emitted, compile_text(emitted, source.name), softplus, loops)

    @property
    def python_source(self) -> str:
        """The Python module the program was compiled to."""
        return self.emitted.text

    @property
    def data_schema(self) -> dict[str, str]:
        """The type of each variable of the data block, by name."""
        return {d.name: str(d.type) for d in self.program.data}

    def module(self, xp: Namespace, wrap: Wrap | None = None, **replaced: Any) -> Module:
        return load(self.emitted, self.code, xp, self.softplus, wrap, **replaced)

    @cached_property
    def made_of(self) -> dict[str, frozenset[str]]:
        """The parameters that each transformed parameter is made of, by its name."""
        return made_of(self.resolved)

    @cached_property
    def recurs(self) -> bool:
        """Whether the log density has a recurrence, which is run step by step."""
        return any(isinstance(n, ir.Scan) for n in self._density_nodes())

    @cached_property
    def loops_by_row(self) -> bool:
        """Whether a function with a loop of its own is called once for each row of the data."""
        functions = self.program.functions
        loops = {f.name for f in functions if any(isinstance(n, ir.While | ir.For) for n in walk(f.body))}
        calls = (n for n in self._density_nodes() if isinstance(n, ir.CallUser))
        return any(call.lifted and call.name in loops for call in calls)

    def _density_nodes(self) -> Iterator[Any]:
        """Every node of what the log density may run."""
        p = self.program
        return walk((p.functions, p.transformed_parameters, p.model))

    @cached_property
    def plain(self) -> Module:
        """The module in NumPy: data, values, draws."""
        return self.module(NUMPY)

    @cached_property
    def traced(self) -> Module:
        """The module under autograd: gradients."""
        return load(*self.emitted_as(fuse(self.quick)), AUTOGRAD, self.softplus)

    def emitted_as(self, program: ir.Program) -> tuple[Emitted, CodeType]:
        """The text of another form of the program."""
        if program == self.program:
            return self.emitted, self.code
        emitted = emit(program)
        return emitted, compile_text(emitted, self.source.name)

    @cached_property
    def apart(self) -> tuple[Emitted, CodeType]:
        """The text in which densities are in two parts."""
        return self.emitted_as(self.quick)

    @cached_property
    def quick(self) -> ir.Program:
        """The program as it is fastest to differentiate."""
        return take_apart(by_covariance(self.program))

    @cached_property
    def compiled(self) -> "Density":
        """The log density under JAX, which the extra "jax" installs."""
        from ppl.compiled.density import Density

        return Density(*self.apart, self.softplus)

    @cached_property
    def unnormalised(self) -> Module:
        """The module under autograd whose densities drop their constants."""
        return load(*self.without_constants, AUTOGRAD, self.softplus)

    @cached_property
    def without_constants(self) -> tuple[Emitted, CodeType]:
        emitted = emit(self.program, propto=True)
        return emitted, compile_text(emitted, self.source.name)

    def density(self, xp: Namespace, propto: bool) -> Module:
        """The module to ask for a log density."""
        return self.unnormalised if propto else self.traced if xp is AUTOGRAD else self.plain

    def per_draw(self, xp: Namespace, propto: bool) -> Module:
        """The module that takes many draws at once."""
        if (xp.name, propto) not in self.loaded:
            text = self.without_constants if propto else self.apart
            self.loaded[xp.name, propto] = load_per_draw(*text, xp, self.softplus)
        return self.loaded[xp.name, propto]

    @cached_property
    def over_draws(self) -> Module | None:
        """The module in NumPy that computes the variables of many draws at once, if the program allows it."""
        if self.loops is None:
            return None
        try:
            lifted, _ = over_draws(self.loops)
        except DrawByDraw:
            return None
        emitted = emit_over_draws(count_from_zero(lifted))
        return load_over_draws(emitted, compile_text(emitted, self.source.name), self.softplus)

    def known_values(self, d: SimpleNamespace) -> dict[str, Any]:
        """The values of data and transformed data."""
        known = (*self.program.data, *self.program.transformed_data_names)
        return {v.name: getattr(d, python_name(v.name)) for v in known if not v.items}

    def condition(self, data: Inputs | Mapping[str, Any] | str | Path = {}, seed: int = 0) -> Posterior:  # noqa: B006
        """The posterior given data: a mapping of names, or a path to JSON (also .gz) or .npz.

        An array that is a `np.memmap` of doubles stays on disk; fitted by minibatches, it is read a block of
        rows at a time.  `data.with_arrays` takes variables from files of their own.

        `seed` is for random numbers in transformed data.

        Raises:
            DataError: a variable is missing or does not fit its declaration; the message names it.
        """
        keep_freed_memory()
        inputs = load_data(data)
        d = SimpleNamespace()
        with np.errstate(all="ignore"), located(self.plain):
            self.plain.read_data(d, DataReader(self.program.data, inputs).read)
            self.plain.transform_data(d, np.random.default_rng(seed))
            self.plain.prepare(d)
            d.places = lay_out(parameters_of(self.plain.layout, d))
            check_sizes(self.plain.shapes, d)
        if self.discrete is not None:
            values = self.known_values(d)
            if self.waits:
                model: Model = self.discrete.with_data(values)
                return model.condition(inputs.values, seed)
            self.discrete.check_sizes(values)
        return Posterior(self, d, inputs.values)
