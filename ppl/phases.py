"""The phases of the compiler, in order, and what each makes of a program."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ppl.arrays import NUMPY
from ppl.backend.load import Code, load
from ppl.ir import nodes as ir
from ppl.ir.forms import DRAWS, VALUES, Form
from ppl.memory import MOST_TABLE_ENTRIES
from ppl.source import SourceText

if TYPE_CHECKING:
    from ppl.discrete.rewrite import Summed
    from ppl.frontend import ast
    from ppl.frontend.facts import Facts
    from ppl.observed.completed import Completion
    from ppl.stdlib.library import Library

    Checked = tuple[ast.Program, Facts]


@dataclass(frozen=True)
class Compilation:
    """A program with the settings of its compilation; what a phase makes is made when it is first asked for.

    The compiler is imported phase by phase: an executable, which has stored its last ones, imports none.

    Example:
        >>> Compilation(SourceText("parameters { real x; }")).lowered.parameters[0].name
        'x'
    """

    source: SourceText
    softplus: bool = False
    without: frozenset[str] = frozenset()
    """Passes that are skipped."""
    library: "Library | None" = None
    """What the program may call, if that is more than the standard library."""
    most_entries: int = MOST_TABLE_ENTRIES
    missing: frozenset[str] = frozenset()
    """Data with missing values, which become parameters."""
    values: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    """Values of data, which may decide how discrete parameters are summed out."""
    elimination: Literal["sum", "maximum", "tilted"] = "sum"
    """What becomes of the values of discrete parameters (`discrete/summing.py`)."""
    part: ir.Program | None = field(default=None, repr=False)
    """A lowered program in place of the whole one."""
    sharded: bool = False
    """Whether some rows of the data are another process's, so that only sums over rows can be had."""
    programs: dict[str, ir.Program] = field(init=False, default_factory=dict, repr=False, compare=False)
    codes: dict[str, Code] = field(init=False, default_factory=dict, repr=False, compare=False)

    def changed(self, **settings: Any) -> "Compilation":
        """The compilation of the same program with other settings."""
        return Compilation(**{**self._settings(), **settings})

    def _settings(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(Compilation) if f.init}

    def __reduce__(self) -> Any:
        """By the text of the program: compiled code does not travel, nor do data."""
        if self.part is not None and not self.sharded:
            raise TypeError(f"a part of {self.source.name} has no text of its own to copy it by")
        without_data = {"values": None, "part": None, "sharded": False}
        return Compilation, tuple({**self._settings(), **without_data}.values())

    # --- The program as text, and as a tree ---

    @cached_property
    def checked(self) -> "Checked":
        """The syntax tree of the program, and what is known of it."""
        from ppl.frontend.check import analyse

        return analyse(self.source, library=self.library)

    @cached_property
    def completed(self) -> "tuple[Checked, tuple[Completion, ...]]":
        """The program with parameters in place of missing data, and what they are called."""
        if not self.missing:
            return self.checked, ()
        from ppl.frontend.check import check
        from ppl.observed.completed import completed

        program, completions = completed(*self.checked, self.missing)
        return (program, check(program, self.library)), completions

    @property
    def completions(self) -> "tuple[Completion, ...]":
        """Data with missing values, which are parameters."""
        return self.completed[1] if self.missing else ()

    @cached_property
    def discrete(self) -> "Summed | None":
        """How discrete parameters were summed out, if the program has any."""
        from ppl.discrete.parameters import has_discrete

        (program, facts), _ = self.completed
        if not has_discrete(program):
            return None
        from ppl.discrete.summing import summed  # few programs have any

        return summed(program, facts, self.elimination, self.most_entries, self.values)

    @cached_property
    def continuous(self) -> "Checked":
        """The program without discrete parameters."""
        if self.discrete is None:
            return self.completed[0]
        from ppl.frontend.check import check

        return self.discrete.program, check(self.discrete.program, self.library)

    # --- The program as IR, and as Python ---

    @cached_property
    def lowered(self) -> ir.Program:
        """The program as IR, before any pass."""
        if self.part is not None:
            return self.part
        from ppl.ir.lower import lower

        return lower(*self.continuous)

    def program(self, form: Form = VALUES) -> ir.Program:
        """A form of the program, a record of `ir.forms`."""
        if form.name not in self.programs:
            base = self.program(form.base) if form.base else self.lowered
            if self.sharded and form is VALUES:  # of variables alone, not of the target
                base = replace(base, model=())
            self.programs[form.name] = form.from_base(base, self.without)
        return self.programs[form.name]

    def code(self, form: Form = VALUES) -> Code:
        """A form as Python code."""
        if form.name not in self.codes:
            from ppl.backend.emit import emit, emit_density, emit_over_draws

            program = self.program(form)
            if form is VALUES:
                emitted = emit(program)
            elif form is DRAWS:
                emitted = emit_over_draws(program)
            else:
                emitted = emit_density(program, form.propto, form.by_functions, form.over_draws)
            self.codes[form.name] = Code.of(emitted, self.source.name, self.softplus)
        return self.codes[form.name]


@dataclass(frozen=True)
class Phase:
    """A step of the compiler: `run` makes something of a program, of a form of it where forms differ."""

    name: str
    meaning: str
    run: Callable[[Compilation, Form], Any] = field(repr=False)


PHASES = (
    Phase("check", "Parse the text, resolve names, check types.", lambda c, form: c.checked),
    Phase("complete", "Replace missing data by parameters.", lambda c, form: c.completed),
    Phase("sum out", "Sum out discrete parameters.", lambda c, form: c.continuous),
    Phase("lower", "Translate the syntax tree to IR.", lambda c, form: c.lowered),
    Phase("passes", "Transform the IR into a form (ppl show forms).", lambda c, form: c.program(form)),
    Phase("emit", "Write the form as Python.", lambda c, form: c.code(form)),
    Phase("load", "Bind the Python to NumPy, autograd or JAX.", lambda c, form: load(c.code(form), NUMPY)),
)


def run_phases(c: Compilation, last: str, form: Form = VALUES) -> Any:
    """What the phase `last` makes of a program, after those before it.

    Raises:
        ModelError: a phase refuses the program.
    """
    with depth_refused(c):
        for phase in PHASES:
            result = phase.run(c, form)
            if phase.name == last:
                return result
    raise KeyError(last)


@contextmanager
def depth_refused(c: Compilation) -> Iterator[None]:
    """ModelError where the program is nested deeper than Python's recursion or a hundred blocks."""
    try:
        yield
    except (RecursionError, IndentationError):
        from ppl.frontend.nesting import too_deep

        raise too_deep(c.checked[0]) from None
