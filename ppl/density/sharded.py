"""A program of whose data this process has read some rows only: what it may compute from them."""

from collections.abc import Iterable, Iterator, Mapping

from ppl.data.shares import NOT_ALL_ROWS
from ppl.errors import InferenceError
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import used_names
from ppl.optimise.passes.split_rows import depends_on


def require_sums_over_rows(program: ir.Program, shared: Iterable[str]) -> None:
    """Refuse statements outside the model that compute something of variables of which rows are missing.

    Raises:
        InferenceError: there is one; it is shown.
    """
    p, later = program, (*program.transformed_parameters, *program.generated_quantities)
    touched = depends_on([*p.transformed_data, *later], set(shared))
    for part in (*p.transformed_data, *p.parameters, *later):
        if found := sorted(used_names(part) & touched):
            raise InferenceError(f"{part.span.describe()}\n`{found[0]}`: {NOT_ALL_ROWS}", "PPL974")


def row_files(program: ir.Program, files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The variables among those with files whose first axis is a size, each with the size's name."""
    for d in program.data:
        first = next(iter((*d.dims, *d.sizes)), None)
        if d.name in files and isinstance(first, ir.Var):
            yield d.name, first.name
