"""Another name for a variable or a function of a program, at every place where it stands."""

from collections.abc import Iterable, Sequence

from ppl.cli.lsp.symbols import Frames, Name, frames, names, same, stem
from ppl.errors import ArgumentError, Fix
from ppl.kernel.language import ast
from ppl.kernel.language.calls import TARGET, UNSUPPORTED, suffix_of
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.higher_order import HIGHER_ORDER
from ppl.kernel.language.lalr import is_identifier
from ppl.kernel.language.laplace import LAPLACE
from ppl.kernel.language.scope import Symbol, UserFunction


def renamed(program: ast.Program, facts: Facts, name: Name, new: str) -> list[Fix]:
    """The changes that make `new` of a name; of `f_lpdf` also of `f_lcdf` and of `y ~ f(...)`.

    Raises:
        ArgumentError: it is a word of the library, or the program would no longer mean the same.
    """
    every = names(program, facts)
    together = same(every, name)
    if not together:
        raise ArgumentError(f"`{name.text}` is not a variable or function of this program")
    refuse_word(new)
    if isinstance(name.meaning, Symbol):
        refuse_variable(every, dict(frames(program)), together, new)
        return [Fix(n.span, new) for n in together]
    old, instead = stem(name.text), stem(new)
    refuse_ending(name, new)
    changed = {n.text: instead + n.text[len(old) :] for n in together}
    refuse_functions(facts, every, changed)
    return [Fix(n.span, changed[n.text]) for n in together]


def refuse_word(new: str) -> None:
    if not is_identifier(new):
        raise ArgumentError(
            f"`{new}` cannot be a name: expected a letter, then letters, digits and underscores, at most one "
            "underscore at the end, and no reserved word"
        )


def refuse_variable(
    every: Sequence[Name], around: dict[ast.Node, Frames], together: Sequence[Name], new: str
) -> None:
    """A name that something else has where the variable is visible, or that could not be a variable's."""
    if suffix_of(new) in ("lupdf", "lupmf"):
        raise ArgumentError(
            f"`{new}` cannot be a variable: this ending is that of densities without constants"
        )
    own = next(around[n.node] for n in together if n.declares)
    for other in every:
        if other.text != new or other in together:
            continue
        if isinstance(other.meaning, UserFunction):
            raise in_use(new, other)
        if other.declares and isinstance(other.meaning, Symbol) and nested(own, around[other.node]):
            raise in_use(new, other)


def nested(a: Frames, b: Frames) -> bool:
    """Whether one scope is in the other."""
    return all(x is y for x, y in zip(a, b, strict=False))


def refuse_ending(name: Name, new: str) -> None:
    """The ending of a function's name says what it may do."""
    ending = suffix_of(name.text)
    if suffix_of(new) != ending:
        must = f"must end in `_{ending}`, as `{name.text}` does" if ending else f"ends in `_{suffix_of(new)}`"
        raise ArgumentError(f"`{new}` {must}: the ending says what a function may do")


def refuse_functions(facts: Facts, every: Sequence[Name], changed: dict[str, str]) -> None:
    library = facts.library
    reserved = {*library.callees, *library.families, *HIGHER_ORDER, *LAPLACE, *UNSUPPORTED, *TARGET}
    for new in changed.values():
        if new in reserved:
            raise ArgumentError(f"`{new}` is a function or a distribution of the library")
    refuse_used(every, {*changed.values()} - {*changed})


def refuse_used(every: Sequence[Name], new: Iterable[str]) -> None:
    for other in every:
        if other.meaning is not None and stem(other.text) in map(stem, new):
            raise in_use(other.text, other)


def in_use(new: str, other: Name) -> ArgumentError:
    return ArgumentError(f"`{new}` is in use on line {other.span.line} of {other.span.source.name}")
