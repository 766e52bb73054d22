"""Completions at the cursor: words of the grammar, variables in scope, functions, distributions."""

import re
from collections.abc import Iterator, Mapping

from lsprotocol import types

from ppl.cli.lsp.documents import View
from ppl.cli.lsp.expected import ExpectedSyntax, NamePlace, call_at, expected
from ppl.cli.lsp.pages import brief, page, signatures, statement
from ppl.cli.lsp.positions import Positions
from ppl.cli.lsp.symbols import signature, stem, visible
from ppl.kernel.language.calls import DENSITY_SUFFIXES, suffix_of
from ppl.kernel.language.declarations import CONSTRAINED
from ppl.kernel.language.higher_order import HIGHER_ORDER
from ppl.kernel.language.laplace import LAPLACE, STATEMENTS
from ppl.kernel.language.scope import BlockName
from ppl.source import SourceText
from ppl.stdlib.library import standard
from ppl.types import NAMED

ItemKind = types.CompletionItemKind
WITH_TARGET = (BlockName.TRANSFORMED_PARAMETERS, BlockName.MODEL, BlockName.FUNCTIONS)
ONLY_IN: Mapping[str, tuple[BlockName, ...]] = {
    "return": (BlockName.FUNCTIONS,),
    "target": WITH_TARGET,
    "jacobian": (BlockName.TRANSFORMED_PARAMETERS, BlockName.FUNCTIONS),
}
"""Words that the grammar has everywhere and the checker does not."""
ENDINGS: Mapping[str, tuple[BlockName, ...]] = {
    "rng": (BlockName.TRANSFORMED_DATA, BlockName.GENERATED_QUANTITIES, BlockName.FUNCTIONS),
    "lupdf": (BlockName.MODEL, BlockName.FUNCTIONS),
    "lupmf": (BlockName.MODEL, BlockName.FUNCTIONS),
    "jacobian": ONLY_IN["jacobian"],
}
"""The same of functions by the last word of their names."""


def completions(view: View, source: SourceText, offset: int) -> list[types.CompletionItem]:
    """Everything that may stand there; the editor picks what fits the letters that are typed already."""
    start = offset - len(written(source.text[:offset]))
    may = expected(source, start)
    if may is None:
        return []
    items = [*words(may)]
    if may.place is NamePlace.VALUE and may.block is not None:
        items += [*variables(view, may.block), *own_functions(view), *library_functions(may.block)]
    elif may.place is NamePlace.DISTRIBUTION:
        items += distributions(view)
    return items


def written(head: str) -> str:
    """The letters of a word before the cursor."""
    word = re.search(r"[A-Za-z]\w*\Z", head)
    return word[0] if word else ""


def words(may: ExpectedSyntax) -> Iterator[types.CompletionItem]:
    for word in may.words:
        if may.block is None or may.block in ONLY_IN.get(word, (may.block,)):
            kind = ItemKind.TypeParameter if word in (*NAMED, *CONSTRAINED) else ItemKind.Keyword
            yield types.CompletionItem(word, kind=kind, sort_text=f"2{word}", data=word)


def variables(view: View, block: BlockName) -> Iterator[types.CompletionItem]:
    program, facts = view.analysis.program, view.analysis.facts
    for symbol, _ in visible(program, facts, block, view.file, view.line, view.column):
        detail = f"{symbol.type or ''} ({symbol.block.value})".strip()
        yield types.CompletionItem(
            symbol.name, kind=ItemKind.Variable, detail=detail, sort_text=f"0{symbol.name}"
        )


def own_functions(view: View) -> Iterator[types.CompletionItem]:
    functions = {f.name: f for f in view.analysis.facts.functions.values()}
    for name, f in functions.items():
        detail = signature(f.definition)
        yield types.CompletionItem(name, kind=ItemKind.Function, detail=detail, sort_text=f"1{name}")


def library_functions(block: BlockName) -> Iterator[types.CompletionItem]:
    for name in (*standard().callees, *HIGHER_ORDER, *LAPLACE):
        if block in ENDINGS.get(suffix_of(name), (block,)):
            yield types.CompletionItem(name, kind=ItemKind.Function, sort_text=f"3{name}", data=name)


def distributions(view: View) -> Iterator[types.CompletionItem]:
    own = {
        stem(f.name) for f in view.analysis.facts.functions.values() if suffix_of(f.name) in DENSITY_SUFFIXES
    }
    library = [d.name for d in standard().families.values() if d.signatures]
    for name in sorted(own):
        yield types.CompletionItem(
            name, kind=ItemKind.Function, detail="of this program", sort_text=f"0{name}"
        )
    for name in (*library, *STATEMENTS):
        yield types.CompletionItem(
            name, kind=ItemKind.Function, detail=statement(name), sort_text=f"1{name}", data=name
        )


def documented(item: types.CompletionItem) -> types.CompletionItem:
    """The item with its page, which the editor asks for when it is looked at."""
    text = page(item.data) if isinstance(item.data, str) else None
    if text is not None:
        item.detail = item.detail or brief(item.label)
        item.documentation = types.MarkupContent(types.MarkupKind.Markdown, f"```text\n{text}\n```")
    return item


# --- The call around the cursor ------------------------------------------------------------------

MOST_SIGNATURES = 30
"""As many ways to call a function are shown."""


def signature_help(
    view: View, source: SourceText, offset: int, positions: Positions
) -> types.SignatureHelp | None:
    """How the function or the distribution around the cursor is called, and which argument stands there."""
    call = call_at(source, offset)
    if call is None:
        return None
    name, after_tilde, argument = call
    found_labels = [*labels(view, name, after_tilde)][:MOST_SIGNATURES]
    if not found_labels:
        return None
    parts = [parameters(label) for label in found_labels]
    fits = (k for k, part in enumerate(parts) if len(part) > argument)
    return types.SignatureHelp(
        signatures=[
            types.SignatureInformation(
                label,
                documentation=brief(name) or None,
                parameters=[
                    types.ParameterInformation((positions.units(label[:a]), positions.units(label[:b])))
                    for a, b in part
                ],
            )
            for label, part in zip(found_labels, parts, strict=True)
        ],
        active_signature=next(fits, 0),
        active_parameter=argument,
    )


def labels(view: View, name: str, after_tilde: bool) -> Iterator[str]:
    """`real f(real x)`, or after a `~` what is written there: `y ~ normal(mu, sigma)`."""
    for f in view.analysis.facts.functions.values():
        if f.name == name:
            yield signature(f.definition)
        elif after_tilde and stem(f.name) == name and suffix_of(f.name) in DENSITY_SUFFIXES:
            variate, *rest = f.definition.args
            yield f"{variate.name} ~ {name}({', '.join(a.name for a in rest)})"
    if after_tilde:
        if (form := statement(name)) is not None:
            yield form
    else:
        yield from signatures(name)


def parameters(label: str) -> list[tuple[int, int]]:
    """Where the arguments stand in a signature."""
    start, spans, depth = label.index("(") + 1, [], 0
    begin = start
    for k, sign in enumerate(label[start:], start):
        if depth == 0 and sign in ",|)":
            spans.append(
                (begin + len(label[begin:k]) - len(label[begin:k].lstrip()), len(label[:k].rstrip()))
            )
            begin = k + 1
            if sign == ")":
                break
        depth += (sign in "([") - (sign in ")]")
    return [(a, b) for a, b in spans if a < b]
