"""Lark's LALR tables, run by a shorter loop.

It makes the trees that Lark makes, but passes at once through rules that only hand their one child on: of the
thirteen levels of an expression most do no more. Where the text is not of the language Lark has the word.
"""

from collections.abc import Callable, Mapping
from typing import Any

import lark
from lark import Token, Tree
from lark.parse_tree_builder import PropagatePositions
from lark.parsers.lalr_analysis import Shift

Match = Callable[[str, int], Any]


class Fast:
    """A parser for one start symbol; `goes` remembers where a state goes with a rule before a terminal."""

    def __init__(self, parser: lark.Lark):
        frontend: Any = parser.parser
        machine = frontend.parser.parser
        (self.first,) = machine.parse_table.start_states.values()
        (self.last,) = machine.parse_table.end_states.values()
        self.lark = parser
        self.states: Mapping[int, Mapping[str, Any]] = machine.parse_table.states
        self.callbacks = {rule: unplaced(build) for rule, build in machine.callbacks.items()}
        self.lexers = frontend.lexer.lexers
        self.scanners: dict[int, tuple[list[Match], frozenset[str]]] = {}
        self.goes: dict[tuple[int, str, str], int] = {}

    def parse(self, text: str) -> Tree[Token]:
        """The tree of a text; raises lark.UnexpectedInput as Lark does."""
        found = self.run(text)
        return self.lark.parse(text) if found is None else found

    def run(self, text: str) -> Tree[Token] | None:
        """The tree; None where the text is not of the language."""
        state, stack, values = self.first, [self.first], list[Any]()
        for token in self.tokens(text, stack):
            if token is None:
                return None
            kind = token.type
            while True:
                step = self.states[state].get(kind)
                if step is None:
                    return None
                action, what = step
                if action is Shift:
                    stack.append(what)
                    values.append(token)
                    state = what
                    break
                size = len(what.expansion)
                children = values[-size:] if size else []
                if size:
                    del stack[-size:], values[-size:]
                values.append(placed(self.callbacks[what](children), children))
                state = self.after(stack[-1], what.origin.name, kind)
                stack.append(state)
                if state == self.last and kind == "$END":
                    return values[-1]  # type: ignore[no-any-return]
        return None

    def tokens(self, text: str, stack: list[int]) -> Any:
        """The tokens of a text, as the state on the stack reads them, and its end; None for what is none."""
        at, end = 0, len(text)
        while at < end:
            state = stack[-1]
            scanner = self.scanners.get(state)
            if scanner is None:
                scanner = self.scanners[state] = self.scanner(state)
            matches, ignored = scanner
            found = next((m for match in matches if (m := match(text, at))), None)
            if found is None:
                yield None
                return
            kind, start, at = found.lastgroup, at, found.end()
            if kind not in ignored:
                yield Token(kind, found.group(), start, None, None, None, None, at)
        yield Token("$END", "", end, None, None, None, None, end)

    def scanner(self, state: int) -> tuple[list[Match], frozenset[str]]:
        lexer = self.lexers[state]
        return [mre.match for mre in lexer.scanner._mres], frozenset(lexer.ignore_types)

    def after(self, below: int, name: str, kind: str) -> int:
        """The state that follows a rule, and all rules above it that hand it on before this terminal."""
        key = (below, name, kind)
        state = self.goes.get(key)
        if state is None:
            state = self.goes[key] = self.handed_on(below, name, kind)
        return state

    def handed_on(self, below: int, name: str, kind: str) -> int:
        state: int = self.states[below][name][1]
        step = self.states[state].get(kind)
        while step is not None and step[0] is not Shift and hands_on(step[1]):
            state = self.states[below][step[1].origin.name][1]
            step = self.states[state].get(kind)
        return state


def unplaced(build: Any) -> Any:
    """What makes a node, without what Lark has it placed by."""
    return build.node_builder if isinstance(build, PropagatePositions) else build


def placed(node: Any, children: list[Any]) -> Any:
    """The node from the start of its first child to the end of its last, as offsets alone.

    A node that a rule handed on keeps its place, in a container that has brackets around it.
    """
    if type(node) is not Tree:
        return node
    start = end = None
    for child in children:
        if (start := begin_of(child)) is not None:
            break
    if start is None:
        return node
    for child in reversed(children):
        if (end := end_of(child)) is not None:
            break
    meta: Any = node.meta
    if meta.empty:
        meta.start_pos, meta.end_pos, meta.empty = start, end, False
    meta.container_start_pos, meta.container_end_pos = start, end
    return node


def begin_of(child: Any) -> Any:
    if type(child) is Token:
        return child.start_pos
    return None if child is None or child.meta.empty else child.meta.container_start_pos


def end_of(child: Any) -> Any:
    if type(child) is Token:
        return child.end_pos
    return None if child is None or child.meta.empty else child.meta.container_end_pos


def hands_on(rule: Any) -> bool:
    """Whether a rule is its one child, as `?sum: product` is."""
    alone = len(rule.expansion) == 1 and not rule.expansion[0].is_term
    return bool(alone and rule.options.expand1 and not rule.alias and rule.expansion[0].name[0] != "_")
