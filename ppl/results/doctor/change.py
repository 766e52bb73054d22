"""The proposal of a finding, as a sentence and as changes of the program's text."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from ppl.errors import Fix
from ppl.kernel.language import ast
from ppl.kernel.language.include import with_fixes
from ppl.kernel.language.parser import parse
from ppl.kernel.language.walk import statements, walk
from ppl.records import dataclass, replace
from ppl.results.doctor.statement import Lines, Site, Statement, arguments_of, density_of
from ppl.source import SourceText, Span
from ppl.structure.places import in_common

COMMENTS = ("//", "/*")
NO_FIX = "the change depends on what the data mean"


class ByHand(Exception):
    """Why the text cannot be changed without a person."""


@dataclass(frozen=True, eq=False)
class Change:
    """A statement `old` becomes `new`, with more declarations of data and parameters and their priors.

    `new` is the end of a sentence if the form of the statement is unknown. Parameters between two bounds need
    no prior. `hint` is the sentence: "Declare `real<lower=2> nu;` in parameters, write `nu ~ gamma(2, 0.1);`,
    and write `y ~ student_t(nu, mu, sigma);`." `premise` stands before it, `alternative` behind it.
    """

    old: Statement
    new: Statement | Lines | str
    parameters: tuple[str, ...] = ()
    priors: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    premise: str = ""
    alternative: str = "."

    @property
    def subject(self) -> str:
        """The variable that the statement is of."""
        return self.old.left

    @property
    def hint(self) -> str:
        blocks = ((self.data, "data"), (self.parameters, "parameters"))
        declared = " and ".join(f"{quoted(lines)} in {block}" for lines, block in blocks if lines)
        before = (f"declare {declared}, " if declared else "") + (
            f"write {quoted(self.priors)}, " if self.priors else ""
        )
        text = f"{self.premise}{before}{'and ' if before else ''}{written(self.new)}{self.alternative}"
        return text[0].upper() + text[1:]

    @cached_property
    def edits(self) -> tuple[tuple[Fix, ...], str]:
        """The changes of the text, which all belong together; where there are none, the reason."""
        try:
            return tuple(self._fixes()), ""
        except ByHand as why:
            return (), str(why)

    def _fixes(self) -> Iterator[Fix]:
        site = self.old.site
        if site is None or isinstance(self.new, str):
            raise ByHand(NO_FIX)
        p, new = site.program, self.new
        densities = tuple(renewed(site, self.old, new))
        fixes = [
            *appended(p.data, self.data, "data"),
            *appended(p.parameters, self.parameters, "parameters"),
            *with_priors(p.model, site.node.span, self.priors),
            *(fix for density in densities for fix in rewritten(*density)),
            *([replaced(site.node, new)] if isinstance(new, Lines) else ()),
        ]
        if any(fix.span.source.name != site.file for fix in fixes):
            raise ByHand("it concerns an included file")
        refuse_misread(fixes, densities)
        yield from fixes


@dataclass(frozen=True, eq=False)
class Rescaling:
    """The declaration of a parameter with a multiplier; `fix` is None if it has bounds or other names."""

    subject: str
    fix: Fix | None

    @property
    def edits(self) -> tuple[tuple[Fix, ...], str]:
        """As those of a `Change`."""
        return ((self.fix,), "") if self.fix else ((), "the declaration has bounds, a comment or other names")


def written(new: Statement | Lines | str) -> str:
    """The end of a sentence that says to write a statement."""
    return new if isinstance(new, str) else f"write `{new.text}`"


def quoted(lines: Sequence[str]) -> str:
    return f"`{' '.join(lines)}`"


def refuse_parts(site: Site) -> None:
    """ByHand where more of the model block has to change with the statement of an outcome."""
    if not site.alone:
        raise ByHand("the outcome has several statements")
    increments = (n.value for n in statements(site.program.model) if isinstance(n, ast.TargetIncrement))
    if isinstance(site.node, ast.Call) and site.node not in increments:
        raise ByHand("the density is part of an expression")


ChangedDensity = tuple[ast.Tilde | ast.Call, str, tuple[str, ...]]
"""A statement or a call, its new distribution and its new arguments."""


def renewed(site: Site, old: Statement, new: Statement | Lines) -> Iterator[ChangedDensity]:
    """The statement, and the calls in generated quantities that simulate or evaluate its outcome."""
    if isinstance(new, Statement):
        yield site.node, new.distribution, new.args
    if site.is_prior:
        return
    refuse_parts(site)
    for call in (n for n in walk(site.program.generated_quantities) if isinstance(n, ast.Call)):
        name, own = density_of(call)
        if name == old.distribution:
            if isinstance(new, Lines) or (args := alike(own, old, new)) is None:
                raise ByHand(f"`{call.name}` on line {call.span.line} has to change with it")
            yield call, new.distribution, args


def refuse_misread(fixes: Sequence[Fix], densities: Sequence[ChangedDensity]) -> None:
    """ByHand where the changed text is not read as these densities: spans lack outer parentheses."""
    source: SourceText = fixes[0].span.source
    program = parse(SourceText(with_fixes(source.text, fixes), source.name))
    nodes = (*walk(program.model), *walk(program.generated_quantities))
    read = Counter(density_of(n) for n in nodes if isinstance(n, ast.Tilde | ast.Call) and n.args)
    if not Counter((name, args) for _, name, args in densities) <= read:
        raise ByHand("an argument is in parentheses")


def appended(block: Sequence[ast.Declaration], lines: Sequence[str], name: str) -> Iterator[Fix]:
    """Lines below the last declaration of a block."""
    if lines and not block:
        raise ByHand(f"the program has no block `{name}`")
    if lines:
        yield below(block[-1].span, lines)


def with_priors(model: Sequence[ast.Statement], changed: Span, lines: Sequence[str]) -> Iterator[Fix]:
    """Priors below the last one before the changed statement, above what holds that if there is none."""
    if not lines:
        return
    before = [s for s in model if (s.span.end_line, s.span.end_column) <= (changed.line, changed.column)]
    last = next((s for s in reversed(before) if isinstance(s, ast.Tilde)), None)
    yield above(model[len(before)].span, lines) if last is None else below(last.span, lines)


def below(span: Span, lines: Sequence[str]) -> Fix:
    """Lines of their own below a statement and a comment behind it; behind the statement in a longer line."""
    line = span.source.line(span.end_line)
    rest = line[span.end_column - 1 :].strip()
    if rest and not is_comment(rest):
        return Fix(after(span), "".join(f" {each}" for each in lines))
    text = "".join(f"\n{indentation(span)}{each}" for each in lines)
    return Fix(point(span, span.end_line, len(line) + 1), text)


def is_comment(rest: str) -> bool:
    """Whether the rest of a line is one comment that ends with it."""
    return rest.startswith("//") or (rest.startswith("/*") and rest.find("*/") == len(rest) - 2)


def above(span: Span, lines: Sequence[str]) -> Fix:
    """Lines of their own above a statement; before it in a longer line."""
    starts = not span.source.line(span.line)[: span.column - 1].strip()
    gap = f"\n{indentation(span)}" if starts else " "
    return Fix(point(span, span.line, span.column), "".join(f"{each}{gap}" for each in lines))


def indentation(span: Span) -> str:
    line = span.source.line(span.line)
    return line[: len(line) - len(line.lstrip())]


def after(span: Span) -> Span:
    return point(span, span.end_line, span.end_column)


def point(span: Span, line: int, column: int) -> Span:
    return Span(span.source, line, column, line, column)


def replaced(node: ast.Tilde | ast.Call, new: Lines) -> Fix:
    """The lines in place of the statement."""
    if not isinstance(node, ast.Tilde) or node.truncation:
        raise ByHand("the statement is not of the form `y ~ distribution(...);`")
    refuse_comments(node.span)
    return Fix(node.span, f"\n{indentation(node.span)}".join(new.lines))


def refuse_comments(span: Span) -> None:
    if any(mark in span.text for mark in COMMENTS):
        raise ByHand("there is a comment inside of what has to change")


def rewritten(node: ast.Tilde | ast.Call, distribution: str, args: Sequence[str]) -> Iterator[Fix]:
    """Another distribution, and the arguments that change: what stands around them stays."""
    name, old = density_of(node)
    if distribution != name:
        at = node.name_span if isinstance(node, ast.Tilde) else node.span
        yield Fix(replace(at, end_line=at.line, end_column=at.column + len(name)), distribution)
    spans = [a.span for a in arguments_of(node)]
    first, last = ends(old, args)
    text = ", ".join(args[first : len(args) - last])
    if first + last < len(old):
        end = spans[len(spans) - last - 1]
        whole = replace(spans[first], end_line=end.end_line, end_column=end.end_column)
        refuse_comments(whole)
        yield Fix(whole, text)
    elif text and first:
        yield Fix(after(spans[first - 1]), f", {text}")
    elif text:
        yield Fix(point(spans[0], spans[0].line, spans[0].column), f"{text}, ")


def ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many items two sequences have in common at the beginning, and of the rest at the end."""
    first = in_common(old, new)
    return first, in_common(old[first:][::-1], new[first:][::-1])


def alike(own: tuple[str, ...], old: Statement, new: Statement) -> tuple[str, ...] | None:
    """The arguments `own` of a call, changed as those of a statement; None if that is not certain.

    They may have other indices, such as `mu[n]` for `mu`, if the change only inserts arguments.
    """
    if own == old.args:
        return new.args
    first, last = ends(old.args, new.args)
    if first + last < len(old.args) or [*map(unindexed, own)] != [*map(unindexed, old.args)]:
        return None
    return (*own[:first], *new.args[first : len(new.args) - last], *own[first:])


def unindexed(text: str) -> str:
    return re.sub(r"\[\w+\]", "", text)
