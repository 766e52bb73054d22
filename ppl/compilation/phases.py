"""The phases of the compiler, in order, and what each makes of a program."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, partial
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ppl.compilation.programs import StoredProgram, in_cache
from ppl.compilation.traits import Traits, traits_of
from ppl.kernel.emit.load import Code, Emitted
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import assigned_names, used_names
from ppl.memory import MOST_TABLE_ENTRIES
from ppl.optimise.draw_by_draw import DrawByDraw
from ppl.optimise.forms import ARRAYS, DRAWS, VALUES, Form
from ppl.optimise.solving_code import SolvingCode
from ppl.records import dataclass, field, fields, replace
from ppl.source import SourceText, Span

if TYPE_CHECKING:
    from ppl.kernel.language import ast
    from ppl.kernel.language.facts import Facts
    from ppl.stdlib.library import Library
    from ppl.structure.discrete.rewrite import Summed
    from ppl.structure.factors import Factors
    from ppl.structure.observed.completed import Completion

    Checked = tuple[ast.Program, Facts]

T = TypeVar("T")
Warned = tuple[Span, str, str, str]


@dataclass(frozen=True)
class Compilation:
    """A program with the settings of its compilation; what a phase makes is made when it is first asked for.

    The compiler is imported phase by phase. Of a program that was compiled before, the last ones are stored,
    and none is imported.

    Example:
        >>> Compilation(SourceText("parameters { real x; }")).lowered.parameters[0].name
        'x'
    """

    source: SourceText
    softplus: bool = False
    without: frozenset[str] = frozenset()
    """Passes that are skipped."""
    library: "Library | None" = None
    """The names that the program may call, if these are more than the standard library."""
    most_entries: int = MOST_TABLE_ENTRIES
    missing: frozenset[str] = frozenset()
    """Data with missing values, which become parameters."""
    values: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    """Values of data, which may decide how discrete parameters are summed out."""
    elimination: Literal["sum", "maximum", "tilted"] = "sum"
    """The treatment of discrete parameters' values (`discrete/summing.py`)."""
    tree: "ast.Program | None" = field(default=None, repr=False)
    """A syntax tree in place of that of the text, made of it by a function of `ppl.structure`."""
    part: ir.Program | None = field(default=None, repr=False)
    """A lowered program in place of the whole one."""
    sharded: bool = False
    """Whether some rows of the data are another process's, so that only sums over rows can be had."""
    record: StoredProgram | None = field(default=None, repr=False, compare=False)
    """The parts that an executable has stored."""
    programs: dict[str, ir.Program] = field(init=False, default_factory=dict, repr=False, compare=False)
    codes: dict[str, Code] = field(init=False, default_factory=dict, repr=False, compare=False)

    def changed(self, **settings: Any) -> "Compilation":
        """The compilation of the same program with other settings."""
        return Compilation(**{**self._settings(), "record": None, **settings})

    def _settings(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(Compilation) if f.init}

    def __reduce__(self) -> Any:
        """By the text of the program: compiled code does not travel, nor do data."""
        if self.part is not None and not self.sharded:
            raise TypeError(f"a part of {self.source.name} has no text of its own to copy it by")
        without_data = {"values": None, "part": None, "sharded": False, "record": None}
        return Compilation, tuple({**self._settings(), **without_data}.values())

    @cached_property
    def stored(self) -> StoredProgram | None:
        """The parts that an earlier compilation has stored; None of a library or data of the user's own."""
        if self.record is not None:
            return self.record
        if self.library is not None or self.values is not None or self.part is not None or self.sharded:
            return None
        sets = {"without": sorted(self.without), "missing": sorted(self.missing)}
        others = {name: getattr(self, name) for name in ("softplus", "most_entries", "elimination")}
        return in_cache(self.source, {**sets, **others, "tree": self._tree_as_text()})

    def _tree_as_text(self) -> str:
        if self.tree is None:
            return ""
        from ppl.kernel.language.printer import print_program

        return print_program(self.tree)

    def stored_or(self, name: str, kind: type | UnionType, make: Callable[[], T]) -> T:
        """A part of the compilation, as an earlier one stored it if it did; `kind` is its class."""
        return self.stored.part(name, kind, make) if self.stored else make()

    # --- The program as text, and as a tree ---

    @cached_property
    def checked(self) -> "Checked":
        """The syntax tree of the program, and what is known of it."""
        if self.tree is not None:
            return self._checked(self.tree)
        from ppl.programs.checked import analyse

        return analyse(self.source, library=self.library)

    def _checked(self, program: "ast.Program") -> "Checked":
        from ppl.kernel.language.check import check

        return program, check(program, self.library)

    @cached_property
    def completed(self) -> "tuple[Checked, tuple[Completion, ...]]":
        """The program with parameters in place of missing data, and what they are called."""
        if not self.missing:
            return self.checked, ()
        from ppl.structure.observed.completed import completed

        program, completions = completed(*self.checked, self.missing)
        return self._checked(program), completions

    @property
    def completions(self) -> "tuple[Completion, ...]":
        """Data with missing values, which are parameters."""
        return self.completed[1] if self.missing else ()

    @cached_property
    def discrete(self) -> "Summed | None":
        """How discrete parameters were summed out, if the program has any."""
        if not self.stored_or("has discrete", bool, self._has_discrete):
            return None
        from ppl.structure.discrete.summing import summed  # few programs have any

        (program, facts), _ = self.completed
        return summed(program, facts, self.elimination, self.most_entries, self.values)

    def _has_discrete(self) -> bool:
        from ppl.structure.discrete.parameters import has_discrete

        return has_discrete(self.completed[0][0])

    @cached_property
    def continuous(self) -> "Checked":
        """The program without discrete parameters."""
        return self.completed[0] if self.discrete is None else self._checked(self.discrete.program)

    def specialised(self, values: Mapping[str, Any]) -> "Compilation":
        """The compilation for these values of data, where they decide how discrete parameters are summed out.

        Raises:
            ModelError: these values leave no sum, or tables of more than `most_entries`.
        """
        if self.discrete and self.discrete.needs_data:
            return self.changed(part=None, values=values)
        if self.discrete:
            self.discrete.check_sizes(values, self.most_entries)
        return self

    @cached_property
    def factors(self) -> "Factors":
        """The factors of the program: what its statements touch."""
        from ppl.structure.factors import Factors

        return Factors(*self.checked)

    # --- The program as IR, and as Python ---

    @cached_property
    def lowered(self) -> ir.Program:
        """The program as IR, before any pass."""
        return self.part if self.part is not None else self.stored_or("lowered", ir.Program, self._lower)

    def _lower(self) -> ir.Program:
        from ppl.kernel.ir.lower import lower

        return lower(*self.continuous)

    def program(self, form: Form = VALUES) -> ir.Program:
        """A form of the program, a record of `optimise.forms`."""
        if form.name not in self.programs:
            base = self.program(form.base) if form.base else self.lowered
            if self.sharded and form is VALUES:  # of variables alone, not of the target
                base = replace(base, model=())
            self.programs[form.name] = form.from_base(base, self.without)
        return self.programs[form.name]

    def code(self, form: Form = VALUES) -> Code:
        """A form as Python code.

        Raises:
            DrawByDraw: the program has no such form.
        """
        if form.name not in self.codes:
            emitted = self.stored_or(f"form {form.name}", Emitted | str, partial(self._emit, form))
            if isinstance(emitted, str):
                raise DrawByDraw(emitted)
            self.codes[form.name] = SolvingCode.of(emitted, self.source.name, self.softplus)
        return self.codes[form.name]

    def _emit(self, form: Form) -> Emitted | str:
        """The text of a form, or why the program has none."""
        from ppl.kernel.emit.emit import emit, emit_density, emit_over_draws

        try:
            program = self.program(form)
            if form is VALUES:
                return emit(program)
            if form is DRAWS:
                return emit_over_draws(program)
            return emit_density(program, form.propto, form.by_functions, form.over_draws)
        except DrawByDraw as why:
            return str(why)

    # --- Facts ---

    @cached_property
    def traits(self) -> Traits:
        """The traits of the log density that decide how it is computed."""
        return self.stored_or("traits", Traits, lambda: traits_of(self.program()))

    @cached_property
    def made_of(self) -> dict[str, frozenset[str]]:
        """The parameters that each transformed parameter is made of, by its name."""
        return self.stored_or("made of", dict, lambda: made_of(self.program(ARRAYS)))

    @cached_property
    def warnings(self) -> tuple[Warned, ...]:
        """The likely mistakes in the program: place, code, what is wrong, what to do."""
        return self.stored_or("warnings", tuple, self._warnings)

    def _warnings(self) -> tuple[Warned, ...]:
        from ppl.programs.pedantic import lints

        likely = [lint for lint in lints(*self.checked) if lint.likely]
        return tuple((lint.span, lint.code, lint.message, lint.hint) for lint in likely)


PHASES: Mapping[str, str] = {
    "checked": "Parse the text, resolve names, check types.",
    "completed": "Replace missing data by parameters.",
    "continuous": "Sum out discrete parameters.",
    "specialised": "Do so again where data decide how.",
    "lowered": "Translate the syntax tree to IR.",
    "program": "Transform the IR into a form (ppl show forms).",
    "code": "Write the form as Python.",
}
"""The phases in order, each by the member of `Compilation` that it makes of those before it."""


@contextmanager
def depth_refused(c: Compilation) -> Iterator[None]:
    """ModelError where the program is nested deeper than Python's recursion or a hundred blocks."""
    try:
        yield
    except (RecursionError, IndentationError):
        from ppl.kernel.language.walk import too_deep

        raise too_deep(c.tree or c.checked[0]) from None


def made_of(program: ir.Program) -> dict[str, frozenset[str]]:
    """The parameters by the name of a transformed parameter, those it has through others included.

    What one statement sets is taken to be made of all that the statement reads.
    """
    sources = {parameter.name: {parameter.name} for parameter in program.parameters}
    for statement in program.transformed_parameters:
        read = set().union(*(sources.get(name, set()) for name in used_names(statement)))
        for name in assigned_names((statement,)):
            sources[name] = sources.get(name, set()) | read
    return {d.name: frozenset(sources.get(d.name, ())) for d in program.transformed_parameter_names}
