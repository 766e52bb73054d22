"""The driver: the phases of the compiler in order, and nothing else."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ppl.backend.emit import emit
from ppl.data import Inputs
from ppl.discrete.parameters import is_discrete
from ppl.discrete.plan import plan_of
from ppl.discrete.rewrite import MOST as MOST_ENTRIES
from ppl.frontend import ast
from ppl.frontend.check import analyse, check
from ppl.frontend.facts import Facts
from ppl.frontend.nesting import too_deep
from ppl.frontend.printer import print_program as print_ast
from ppl.ir.lower import lower
from ppl.ir.passes.table import ARRAYS, PREPARING, run_passes
from ppl.ir.passes.zero_based import count_from_zero
from ppl.ir.plan import plan
from ppl.ir.printer import print_program as print_ir
from ppl.model import Model
from ppl.source import SourceText, read_source
from ppl.summing import Summing, check_discrete, summed


def compile_model(
    program: str | Path, positive_transform: str = "log", most_entries: int = MOST_ENTRIES
) -> Model:
    """Compile a program, given as a path or as its text.

    A discrete parameter is summed out of the target and drawn back in generated quantities; `most_entries`
    is how many entries any table of the sum may have, for one entry of the parameter.

    `positive_transform` is "log" or "softplus", the map from R onto the positive reals (Kucukelbir et
    al. 2017, section 3.3); it serves every lower bound.

    Raises:
        ModelError: the program is refused; the error has line and column and says what was expected.

    Example:
        >>> model = compile_model("parameters { real x; } model { x ~ normal(0, 1); }")
        >>> model.condition({}).log_density([0.0])
        -0.9189385332046727
    """
    if positive_transform not in ("log", "softplus"):
        raise ValueError(f'positive_transform is "log" or "softplus", not {positive_transform!r}')
    source = read_source(program)
    tree, facts = analyse(source)

    def build(tree: ast.Program, facts: Facts) -> Model:
        loops = run_passes(lower(tree, facts), PREPARING)
        resolved = run_passes(loops, (*ARRAYS, count_from_zero))
        return Model.build(source, resolved, positive_transform == "softplus", loops)

    try:
        if any(map(is_discrete, tree.parameters)):
            model: Model = Summing.of(tree, facts, most_entries, build).model()
            return model
        return build(tree, facts)
    except (RecursionError, IndentationError):  # Python nests a hundred blocks
        raise too_deep(tree) from None


def show_stage(
    program: str | Path, stage: str, data: Inputs | Mapping[str, Any] | str | Path | None = None
) -> str:
    """One stage of the compiler as text; `stage` is a key of STAGES.

    `data` are needed where they decide how discrete parameters are summed out.

    Raises:
        ModelError: the program is refused before the stage is reached.
        KeyError: there is no such stage.
    """
    source = read_source(program)
    values = {} if data is None else known_values(program, data)
    try:
        return STAGES[stage](*analyse(source), values)
    except RecursionError:
        raise too_deep(analyse(source)[0]) from None


def known_values(program: str | Path, data: Inputs | Mapping[str, Any] | str | Path) -> Mapping[str, Any]:
    """The values of data and transformed data."""
    model = replace(compile_model(program), discrete=None)
    return model.known_values(model.condition(data).d)


def checked(source: SourceText) -> tuple[ast.Program, Facts]:
    """The checked program, discrete parameters and all that can be said of them without data too.

    Raises:
        ModelError: the program is refused.
    """
    tree, facts = analyse(source)
    check_discrete(tree, facts)
    return tree, facts


def continuous(tree: ast.Program, facts: Facts, values: Mapping[str, Any]) -> tuple[ast.Program, Facts]:
    """The program with its discrete parameters summed out."""
    if not any(map(is_discrete, tree.parameters)):
        return tree, facts
    program = summed(tree, facts, values).program
    return program, check(program)


def _show_ast(tree: ast.Program, facts: Facts, values: Mapping[str, Any]) -> str:
    return print_ast(tree)


def _show_program(tree: ast.Program, facts: Facts, values: Mapping[str, Any]) -> str:
    return print_ast(continuous(tree, facts, values)[0])


def _show_ir(tree: ast.Program, facts: Facts, values: Mapping[str, Any]) -> str:
    return print_ir(run_passes(lower(*continuous(tree, facts, values))))


def _show_python(tree: ast.Program, facts: Facts, values: Mapping[str, Any]) -> str:
    return emit(run_passes(lower(*continuous(tree, facts, values)))).text


def _show_plan(tree: ast.Program, facts: Facts, values: Mapping[str, Any]) -> str:
    if not any(map(is_discrete, tree.parameters)):
        return plan(lower(tree, facts))
    found = summed(tree, facts, values)
    return "\n".join([*plan_of(found), "", plan(lower(found.program, check(found.program)))])


STAGES: Mapping[str, Callable[[ast.Program, Facts, Mapping[str, Any]], str]] = {
    "ast": _show_ast,
    "program": _show_program,
    "ir": _show_ir,
    "python": _show_python,
    "plan": _show_plan,
}
