"""The names of axes that a program declares."""

from ppl.kernel.ir import nodes as ir

OF_DRAWS = ("chain", "draw")


def declared_axes(program: ir.Program) -> dict[str, tuple[str | None, ...]]:
    """The names of the sizes of every global variable: of `array[N] vector[J] theta` they are N and J.

    A size that is a number or an expression has no name; nor has one that is called as a variable with
    draws is, which a data set would take for that variable.
    """
    drawn = [*program.parameters, *program.transformed_parameter_names, *program.generated_names]
    taken = {*OF_DRAWS, *(variable.name for variable in drawn)}
    return {
        variable.name: tuple(
            size.name if isinstance(size, ir.Var) and size.name not in taken else None
            for size in (*variable.dims, *variable.sizes)
        )
        for variable in (*program.data, *drawn)
    }
