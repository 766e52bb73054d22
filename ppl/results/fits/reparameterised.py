"""Another form of the program, for a fit that is less than good."""

from ppl.density.compiled_program import CompiledProgram


def non_centred_forms(model: CompiledProgram) -> tuple[str, ...]:
    """A sentence with the declarations that make its hierarchies non-centred; none where there are none.

    Example:
        >>> program = "parameters { real<lower=0> s; vector[9] x; } model { x ~ normal(0, s); }"
        >>> non_centred_forms(ppl.compile_model(program))[0].partition("declare ")[2]
        '`vector<multiplier=s>[9] x;` (line 1).'
    """
    if model.compilation.part is not None:  # a part of a program has no text of its own
        return ()
    from ppl.programs.non_centred import centred

    found = list(centred(*model.compilation.checked))
    if not found:
        return ()
    lines = ", ".join(f"`{c.non_centred}` (line {c.declaration.span.line})" for c in found)
    names = [f"`{c.declaration.name}`" for c in found if not c.in_order]
    below = f" Move {' and '.join(names)} below the parameters that the declaration uses." if names else ""
    return (f"With few data, try the non-centred form (`ppl fix`): declare {lines}.{below}",)
