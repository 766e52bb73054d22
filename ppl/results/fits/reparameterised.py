"""Another form of the program, for a fit that is less than good."""

from ppl.density.model import Model
from ppl.frontend.non_centred import centred


def non_centred_forms(model: Model) -> tuple[str, ...]:
    """A sentence with the declarations that make its hierarchies non-centred; none where there are none.

    Example:
        >>> program = "parameters { real v; vector[9] x; } model { v ~ normal(0, 3); x ~ normal(0, exp(v)); }"
        >>> print(*non_centred_forms(ppl.compile_model(program)))
        Where data are few, try the non-centred form: declare `vector<multiplier=exp(v)>[9] x;` (line 1).
    """
    if model.compilation.part is not None:  # a part of a program has no text of its own
        return ()
    found = list(centred(*model.compilation.checked))
    if not found:
        return ()
    lines = ", ".join(f"`{c.non_centred}` (line {c.declaration.span.line})" for c in found)
    moved = [f"`{c.declaration.name}`" for c in found if not c.in_order]
    below = f" Move {' and '.join(moved)} below what the declaration names." if moved else ""
    return (f"Where data are few, try the non-centred form: declare {lines}.{below}",)
