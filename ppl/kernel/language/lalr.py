"""Lark's LALR tables, stored as JSON in the user's cache, and run by a loop that makes nodes as it reads.

It passes at once through rules that only hand their one child on: of the thirteen levels of an expression
most do no more. To build the tables takes Lark a quarter of a second, to read them back a hundredth.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ppl.cache import StoredParts

if TYPE_CHECKING:
    import lark


Make = Callable[[str, int, int, list[Any]], Any]
"""The action of a rule, given its name, the offsets of its start and end, and the values of its symbols."""
Match = Callable[[str, int], Any]
NAME = "IDENTIFIER"
"""The terminal with a long pattern: it is compiled once, by itself."""
Read = tuple[int, Any, int | None, int | None]
"""A state, what has been read before it, and the offsets of its start and end; None where that is empty."""


class Token(str):
    """A word of the text, and the offset where it starts."""

    __slots__ = ("start",)
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self)


class GrammarRule(NamedTuple):
    """A rule of the grammar.

    `kept` are the positions of the symbols that go into the node, -1 for an optional one that is absent, and
    whether that symbol is a part of a rule, whose own symbols take its place. A rule that is `alone` hands a
    single child on; if it `hands_on`, it does nothing else. One that `is_part` builds no node.
    """

    origin: str
    name: str
    size: int
    kept: tuple[tuple[int, bool], ...]
    alone: bool
    hands_on: bool
    is_part: bool


def tables_of(lark: Any) -> dict[str, Any]:
    """The tables of Lark's parser as data: an action is the next state, or -1 less the rule's number."""
    table = lark.parser.parser.parser.parse_table
    numbers = {rule: number for number, rule in enumerate(lark.rules)}
    (start,), (end,) = table.start_states.values(), table.end_states.values()
    states = [
        {s: -1 - numbers[to] if action.name == "Reduce" else to for s, (action, to) in row.items()}
        for _, row in sorted(table.states.items())
    ]
    lexer = lark.parser.lexer.root_lexer
    terminals = [(t.name, t.pattern.to_regexp()) for t in lexer.terminals]
    kept = {s.name for rule in lark.rules for s in rule.expansion if s.is_term and not s.filter_out}
    rules = [plain_rule(rule) for rule in lark.rules]
    return {
        "start": start, "end": end, "states": states, "rules": rules,
        "terminals": terminals, "kept": sorted(kept), "ignored": sorted(lexer.ignore_types),
    }  # fmt: skip


def plain_rule(rule: Any) -> GrammarRule:
    symbols, options = rule.expansion, rule.options
    absent = options.empty_indices or (False,) * len(symbols)
    kept, symbol = list[tuple[int, bool]](), 0
    for is_absent in absent:
        if is_absent:
            kept.append((-1, False))
            continue
        each, position = symbols[symbol], symbol
        symbol += 1
        if not (each.is_term and each.filter_out):
            kept.append((position, not each.is_term and each.name[0] == "_"))
    alone = bool(options.expand1 and not rule.alias)
    hands_on = alone and len(symbols) == 1 and kept == [(0, False)] and not symbols[0].is_term
    name = rule.alias or options.template_source or rule.origin.name
    return GrammarRule(
        rule.origin.name, name, len(symbols), tuple(kept), alone, hands_on, rule.origin.name[0] == "_"
    )


class Refusal(Exception):
    """The text is not of the language from `offset` on; a terminal of `accepts` could stand there."""

    def __init__(self, offset: int, accepts: frozenset[str]):
        super().__init__(offset)
        self.offset, self.accepts = offset, accepts


class Fast:
    """A parser by the tables of `tables_of`."""

    def __init__(self, tables: Mapping[str, Any]):
        self.first, self.last, self.rows = tables["start"], tables["end"], tables["states"]
        self.rules = [GrammarRule(*rule) for rule in tables["rules"]]
        self.patterns = dict(tables["terminals"])
        ignored = "|".join(self.patterns[name] for name in tables["ignored"])
        self.skip: Match = re.compile(f"(?:{ignored})*").match
        self.kept = frozenset(tables["kept"])
        """The terminals that some rule keeps the text of."""
        self.scanners: dict[int, list[Match]] = {}
        self.goes: dict[tuple[int, str, str], int] = {}
        """Where a state goes with a rule before a terminal."""

    def run(self, text: str, make: Make) -> Any:
        """The value of a text by the actions of its rules.

        Raises:
            Refusal: the text is not of the language.
        """
        rows, rules, goes, skip = self.rows, self.rules, self.goes, self.skip
        stack: list[Read] = [(self.first, None, None, None)]
        at, end, kind = skip(text, 0).end(), len(text), ""
        while kind != "$END":
            state, token, after = stack[-1][0], None, at
            if at == end:
                kind = "$END"
            else:
                for match in self.scanners.get(state) or self.scanner(state):
                    if lexeme := match(text, at):
                        break
                else:
                    break
                kind, after = lexeme.lastgroup, lexeme.end()
                if kind in self.kept:
                    token = Token(lexeme[0])
                    token.start = at
            while (action := rows[state].get(kind)) is not None and action < 0:
                rule = rules[-1 - action]
                read = stack[len(stack) - rule.size :]
                if read:
                    del stack[-rule.size :]
                value, start, stop = reduced(rule, read, make)
                below = stack[-1][0]
                state = goes.get((below, rule.origin, kind)) or self.after(below, rule.origin, kind)
                if kind == "$END" and state == self.last:
                    return value
                stack.append((state, value, start, stop))
            if action is None:
                break
            stack.append((action, token, at, after))
            at = skip(text, after).end()
        states = [state for state, *_ in stack]
        raise Refusal(at, frozenset(kind for kind in rows[states[-1]] if self.accepts(states, kind)))

    def accepts(self, states: list[int], kind: str) -> bool:
        """Whether a terminal can be read next, after the rules that it ends."""
        states = list(states)
        while (action := self.rows[states[-1]].get(kind)) is not None and action < 0:
            rule = self.rules[-1 - action]
            del states[len(states) - rule.size :]
            states.append(self.rows[states[-1]][rule.origin])
            if kind == "$END" and states[-1] == self.last:
                return True
        return kind.isupper() and action is not None

    def scanner(self, state: int) -> list[Match]:
        """The terminals that a state reads, in Lark's order."""
        read = [name for name in self.patterns if name in self.rows[state]]
        cut = read.index(NAME) if NAME in read else len(read)
        groups = filter(None, (read[:cut], read[cut : cut + 1], read[cut + 1 :]))
        patterns = ("|".join(f"(?P<{name}>{self.patterns[name]})" for name in group) for group in groups)
        self.scanners[state] = [re.compile(pattern).match for pattern in patterns]
        return self.scanners[state]

    def after(self, below: int, name: str, kind: str) -> int:
        """The state that follows a rule, and all rules above it that hand it on before this terminal."""
        state: int = self.rows[below][name]
        while (action := self.rows[state].get(kind, 0)) < 0 and self.rules[-1 - action].hands_on:
            state = self.rows[below][self.rules[-1 - action].origin]
        self.goes[below, name, kind] = state
        return state


def reduced(rule: GrammarRule, read: list[Read], make: Make) -> tuple[Any, int | None, int | None]:
    """The value of a rule, from the start of its first symbol to the end of its last."""
    children: list[Any] = []
    for position, is_part in rule.kept:
        if is_part and not children:  # of a repetition all before its last: nobody else has the list
            children = read[position][1]
        elif is_part:
            children += read[position][1]
        else:
            children.append(None if position < 0 else read[position][1])
    start, stop = (read[0][2], read[-1][3]) if read else (None, None)
    if start is None or stop is None:
        start = next((each[2] for each in read if each[2] is not None), None)
        stop = next((each[3] for each in reversed(read) if each[3] is not None), None)
    if rule.is_part:
        return children, start, stop
    if rule.alone and len(children) == 1:
        return children[0], start, stop
    return make(rule.name, start or 0, 1 if stop is None else stop, children), start, stop


# --- Stored tables -------------------------------------------------------------------------------


@cache
def grammar_text() -> str:
    return Path(import_module("ppl.grammar").__path__[0], "model.lark").read_text("utf-8")


@cache
def parser() -> "lark.Lark":
    """The parser of the language as Lark makes it of the grammar."""
    import lark

    return lark.Lark(
        grammar_text(), start="program", parser="lalr", lexer="contextual", propagate_positions=True
    )


@cache
def fast() -> Fast:
    """The same parser, run by a shorter loop, from the tables in the cache or from the grammar."""
    reader = Path(__file__).read_text("utf-8")
    parts = StoredParts(hashlib.sha256((reader + grammar_text()).encode()).hexdigest(), "the grammar")
    with suppress(ValueError, LookupError, TypeError):  # what is no table is made again
        return Fast(json.loads(parts.read("tables") or ""))
    tables = json.dumps(tables_of(parser()))
    parts.write("tables", tables)
    return Fast(json.loads(tables))


def parse(text: str, make: Make) -> Any:
    """The value of a text by the actions of its rules.

    Raises:
        Refusal: the text is not of the language.
        ModelError, RecursionError: as `make` does.
    """
    return fast().run(text, make)


def is_identifier(name: str) -> bool:
    """Whether a program may call something so: a reserved word is none."""
    return re.fullmatch(fast().patterns[NAME], name) is not None
