"""The driver: the phases of the compiler in order, and nothing else."""

from collections.abc import Callable, Mapping
from pathlib import Path

from ppl.backend.emit import emit
from ppl.discrete.parameters import is_discrete
from ppl.discrete.rewrite import MOST as MOST_ENTRIES
from ppl.discrete.rewrite import summed_out
from ppl.discrete.uses import check_uses
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
from ppl.summing import Summing


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


def show_stage(program: str | Path, stage: str) -> str:
    """One stage of the compiler as text; `stage` is a key of STAGES.

    Raises:
        ModelError: the program is refused before the stage is reached.
        KeyError: there is no such stage.
    """
    source = read_source(program)
    try:
        return STAGES[stage](source)
    except RecursionError:
        raise too_deep(analyse(source)[0]) from None


def without_discrete(tree: ast.Program, facts: Facts) -> tuple[ast.Program, Facts]:
    """The program with its discrete parameters summed out."""
    if not any(map(is_discrete, tree.parameters)):
        return tree, facts
    check_uses(tree, facts)
    program = summed_out(tree, facts).program
    return program, check(program)


def _show_ast(source: SourceText) -> str:
    tree, _ = analyse(source)
    return print_ast(tree)


def _show_program(source: SourceText) -> str:
    return print_ast(without_discrete(*analyse(source))[0])


def _show_ir(source: SourceText) -> str:
    return print_ir(run_passes(lower(*without_discrete(*analyse(source)))))


def _show_python(source: SourceText) -> str:
    return emit(run_passes(lower(*without_discrete(*analyse(source))))).text


def _show_plan(source: SourceText) -> str:
    return plan(lower(*without_discrete(*analyse(source))))


STAGES: Mapping[str, Callable[[SourceText], str]] = {
    "ast": _show_ast,
    "program": _show_program,
    "ir": _show_ir,
    "python": _show_python,
    "plan": _show_plan,
}
