"""The sentences for syntax errors: how each mistake is recognised, what is said, what is advised."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from ppl.frontend.syntax_stop import CLOSING, Stop

BLOCKS = (
    "functions", "data", "transformed data", "parameters", "transformed parameters", "model",
    "generated quantities",
)  # fmt: skip
TYPES = (
    "int", "real", "complex", "vector", "row_vector", "matrix", "simplex", "unit_vector", "ordered",
    "positive_ordered", "cov_matrix", "corr_matrix", "cholesky_factor_cov", "cholesky_factor_corr", "array",
)  # fmt: skip
NO_STRINGS = "No variable is a string: strings stand in `print` and `reject` only."
ELSEWHERE = {
    "bool": "Write `int<lower=0, upper=1>`.", "boolean": "Write `int<lower=0, upper=1>`.",
    "integer": "Write `int`.", "double": "Write `real`.", "float": "Write `real`.",
    "string": NO_STRINGS, "str": NO_STRINGS, "char": NO_STRINGS,
}  # fmt: skip

NAME = r"\b[A-Za-z]\w*"
SCALAR = r"\b(?:int|real|complex)\b"
ONE_SIZE = (
    r"\b(?:(?:complex_)?(?:row_)?vector|simplex|unit_vector|(?:positive_)?ordered|sum_to_zero_vector"
    r"|(?:cov|corr)_matrix|cholesky_factor_corr)\b"
)
TWO_SIZES = r"\b(?:(?:complex_)?matrix|sum_to_zero_matrix|(?:row|column)_stochastic_matrix)\b"
CONSTRAINED = (
    r"\b(?:simplex|unit_vector|(?:positive_)?ordered|sum_to_zero_(?:vector|matrix)|(?:cov|corr)_matrix"
    r"|cholesky_factor_(?:cov|corr)|(?:row|column)_stochastic_matrix)\b"
)
TYPE = rf"(?:{SCALAR}|{ONE_SIZE}|{TWO_SIZES}|{CONSTRAINED})"
BLOCK = r"(?P<name>functions|(?:transformed\s+)?(?:data|parameters)|model|generated\s+quantities)\b"
BOUNDS = r"(?:\s*<[^<>;]*>)?"
OPEN_BOUND = r"<\s*(?:lower|upper|offset|multiplier)\s*=[^;{}>]*"
STATEMENT = (
    rf"(?:for|if|while|return|target|print|reject|{TYPE})\b|{NAME}(?:\[[^\]\n]*\])*\s*(?:~|[-+*/]?=(?!=))"
)


@dataclass(frozen=True)
class Rule:
    """`message` and `hint` are said where `found` follows, `before` ends there and `when` holds.

    `found` and `before` are regular expressions; their named groups and the words of `Rule.words`
    fill the sentence.
    """

    message: str
    hint: str = ""
    found: str = ""
    before: str = ""
    when: Callable[[Stop], object] = lambda stop: True
    at: Literal["found", "word", "gap", "end"] = "found"

    def recognise(self, stop: Stop) -> dict[str, str] | None:
        """The words for the sentence, or None where the rule does not apply."""
        ahead = re.match(self.found, stop.rest)
        behind = re.search(rf"(?:{self.before})\Z", stop.before[-400:])
        if not (ahead and behind and self.when(stop)):
            return None
        groups = {**behind.groupdict(""), **ahead.groupdict("")}
        return {**self.words(stop), **groups, "advice": advice(stop, groups)}

    def words(self, stop: Stop) -> dict[str, str]:
        return {
            "found": f"`{stop.found}`" if stop.found else "the end of the program",
            "previous": stop.previous,
            "block": stop.block,
            "line": str(stop.program.span(stop.offset, stop.offset).line),
            "opened": stop.opened,
            "close": CLOSING.get(stop.innermost, ""),
            "end": ";" if stop.innermost == "{" else CLOSING.get(stop.innermost, ""),
            "expected": stop.expected,
        }


def advice(stop: Stop, groups: dict[str, str]) -> str:
    """The block or the type that a word was meant for."""
    word, known = (groups.get("word", ""), TYPES) if stop.open else (groups.get("name", ""), BLOCKS)
    if stop.open and word in ELSEWHERE:
        return ELSEWHERE[word]
    match = get_close_matches(word, known, n=1, cutoff=0.6)
    return f"Did you mean `{match[0]}`?" if match else f"Expected one of {', '.join(known)}."


def names(stop: Stop) -> bool:
    """Whether a name is expected, and no expression."""
    return "IDENTIFIER" in stop.accepts and "INT_LITERAL" not in stop.accepts


def values(stop: Stop) -> bool:
    """Whether an expression is expected."""
    return "INT_LITERAL" in stop.accepts


def statements(stop: Stop) -> bool:
    return "_FOR" in stop.accepts


def outside(stop: Stop) -> bool:
    """Whether the place is between blocks."""
    return not stop.open


def declares_only(stop: Stop) -> bool:
    return stop.block in ("data", "parameters") and "INT" in stop.accepts


def written(stop: Stop) -> bool:
    """Whether the block that begins here has been written before."""
    block = re.match(BLOCK, stop.rest)
    return bool(block and re.search(rf"(?:\A|\}})\s*{block['name']}\s*\{{", stop.before))


def signature(stop: Stop) -> bool:
    return stop.signature


def adjacent(stop: Stop) -> bool:
    return stop.adjacent


def only(*terminals: str) -> Callable[[Stop], bool]:
    return lambda stop: stop.accepts <= set(terminals)


def unclosed(stop: Stop) -> bool:
    return stop.innermost in ("(", "[") and not values(stop)


def finished(stop: Stop) -> bool:
    """Whether an expression is complete and could be the last of its list or statement."""
    return (
        bool({"SEMICOLON", "COMMA", "RPAR", "RSQB"} & stop.accepts) and not values(stop) and not names(stop)
    )


def ended(stop: Stop) -> bool:
    """Whether only a semicolon is missing before the next line or the end of the block."""
    return "SEMICOLON" in stop.accepts and not values(stop) and (stop.newline or stop.found == "}")


# The first rule that recognises the place is taken, so the particular ones stand before the general ones.
RULES: tuple[Rule, ...] = (
    # Characters and words that are right nowhere.
    Rule("the comment of line {line} is never closed; expected `*/`", found=r"/\*", at="end"),
    Rule("the comment of line {line} is never closed; expected `*/`", found=r"\*", before="/", at="end"),
    Rule('the string is not closed; expected `"` before the end of the line', found=r'"[^"\n]*(\n|\Z)'),
    Rule("`#` starts no comment", "Write `// comment`, or `#include \"file\"` for a file.", found="#"),
    Rule("there is no operator `**`", "A power is written `x ^ 2`.", found=r"\*", before=r"\*"),
    Rule(
        "there is no operator `{previous}{previous}`", "Write `i {previous}= 1;`.",
        found=r"[;)]", before=r"\+\s*\+|-\s*-",
    ),
    Rule("there is no operator `:=`", "Write `name = value;`.", found=":="),
    Rule("there is no operator `&`", "Logical and is written `a && b`.", found=r"&(?!&)"),
    Rule(
        "a name holds letters, digits and underscores; found `.`", "Write `{head}_{tail}`.",
        found=r"\.(?P<tail>[A-Za-z]\w*)", before=rf"(?P<head>{NAME})",
    ),
    Rule(
        "the exponent `{tail}` of `{head}{tail}` has no digits", "Write `1e-3` or `2.5e6`.",
        found=r"(?P<tail>[eE][+-]?)(?![\w.])", before=r"(?P<head>\b[\d.]+)", when=adjacent,
    ),
    Rule(
        "`{head}{tail}` is neither a number nor a name",
        "A name starts with a letter; a product needs its `*`.",
        found=r"(?P<tail>[A-Za-z_]\w*)", before=r"(?P<head>\b\d[\d.]*)", when=adjacent,
    ),
    Rule(
        "a name starts with a letter; found `{bad}`", "Put a letter first.",
        found=r"(?P<bad>[\d_]\w*)", when=names,
    ),
    Rule(
        "the name `{bad}` ends in two underscores, which is reserved", "Choose another name.",
        found=rf"(?P<bad>{NAME}(?<=__)\b)",
    ),
    Rule(
        "`{bad}` is no value", "Write `1` for true, `0` for false.",
        found=r"(?P<bad>true|false)\b", when=values,
    ),
    Rule("the character {found} is not part of the language", found=r"[^\x00-\x7f]|[$@`\x00-\x08]"),

    # Between blocks.
    Rule("`{{` expected after `{previous}`, found {found}", when=only("LBRACE")),
    Rule(
        "`transformed` of what? Expected `transformed data` or `transformed parameters`",
        found=r"transformed\s*\{", when=outside,
    ),
    Rule(
        "a second block `{name}`; each block is written once", "Move its lines into the first one.",
        found=BLOCK, when=lambda stop: outside(stop) and written(stop),
    ),
    Rule(
        "the block `{name}` comes too late", f"Blocks stand in this order: {', '.join(BLOCKS)}.",
        found=BLOCK, when=outside,
    ),
    Rule(
        "`}}` closes nothing; expected a block or the end of the program",
        "Take it out, or look for a missing `{{` above.",
        found=r"\}", when=outside,
    ),
    Rule(
        "there is no block `{name}`", "{advice}",
        found=r"(?P<name>(generated\s+)?[A-Za-z]\w*)\s*\{", when=outside,
    ),
    Rule(
        "{found} stands outside every block; expected {expected}",
        "Declarations and statements stand in a block, as in `model {{ ... }}`.",
        found=r"\S", when=outside,
    ),
    Rule(
        "`{close}` is missing: the {opened} is still open where the next block begins",
        found=BLOCK + r"\s*\{",
    ),
    Rule(
        "the program ends inside the block `{block}`; expected `}}` to close the {opened}",
        found=r"\Z", when=lambda stop: "RBRACE" in stop.accepts,
    ),

    # Control.
    Rule(
        "`(` expected after `{word}`, found {found}",
        before=r"\b(?P<word>if|while|for|print|reject|fatal_error|profile)", when=only("LPAR"),
    ),
    Rule(
        "the variable of a `for` loop is declared by the loop, and always an int", "Write `for (i in 1:N)`.",
        found=TYPE, before=r"\bfor\s*\(",
    ),
    Rule(
        "`in` expected after the loop variable, found {found}", "Write `for ({name} in 1:N)`.",
        before=rf"\bfor\s*\(\s*(?P<name>{NAME})", when=only("_IN"),
    ),
    Rule(
        "`else` has no `if` before it", "An `if` with several statements needs braces around them.",
        found=r"else\b", when=statements,
    ),
    Rule(
        "`target` is added to, not assigned", "Write `target += value;`.",
        found="=|<-|~", before=r"\btarget",
    ),
    Rule(
        "`=` assigns; found in an expression", "A comparison is written `{left} == ...`.",
        found="=", before=rf"(?P<left>{NAME}|[\w)\]]+)",
        when=lambda stop: stop.innermost == "(" and finished(stop),
    ),
    Rule(
        "`{word}` needs something to print", 'Write `{word}("x is ", x);`.',
        found=r"\)", before=r"\b(?P<word>print|reject|fatal_error)\s*\(",
    ),
    Rule(
        "a string can only be printed; found {found}",
        "Strings stand in `print`, `reject` and `fatal_error`.",
        found='"', when=values,
    ),

    # Types in a function's signature.
    Rule(
        "an array in a function's signature is written before its type", "Write `array{empty} {word}`.",
        found=r"(?P<empty>\[\s*,*\s*\])", before=rf"(?P<word>{TYPE})", when=signature,
    ),
    Rule(
        "`{word}` has no size in a function's signature; found `[`", "Write `{word}`, or `array[] {word}`.",
        found=r"\[", before=rf"(?P<word>{TYPE})", when=signature,
    ),
    Rule(
        "`{word}` has no constraint in a function's signature; found `<`", "Write `{word}`.",
        found="<", before=rf"(?P<word>{TYPE})", when=signature,
    ),

    # Declarations.
    Rule(
        "`array` needs its sizes: `[` expected, found {found}", "Write `array[N] real y;`.",
        before=r"\barray", when=only("LSQB"),
    ),
    Rule(
        "`{name}[{sizes}]` is the removed form of an array declaration",
        "Write `array[{sizes}] {word} {name};`.",
        found=r"\[(?P<sizes>[^\];]*)\]?",
        before=rf"(?P<word>{TYPE}{BOUNDS}(?:\s*\[[^\]]*\])?)\s+(?P<name>{NAME})",
    ),
    Rule(
        "`{word}` has no size; found `[`", "Write `array[{sizes}] {word} x;`, or `vector[{sizes}] x;`.",
        found=r"\[(?P<sizes>[^\];]*)", before=rf"(?P<word>{SCALAR}){BOUNDS}", when=names,
    ),
    Rule(
        "`{word}` has its own constraint and takes no bounds; expected `[`, found `<`",
        found="<", before=rf"(?P<word>{CONSTRAINED})",
    ),
    Rule(
        "a local variable takes no constraint; found `<` after `{word}`",
        "Only top-level variables are constrained.",
        found="<", before=rf"(?P<word>{TYPE})",
    ),
    Rule(
        "`{bad}` is a reserved word, so it cannot be a name", "Choose another name.",
        found=rf"(?P<bad>{NAME})", when=names,
    ),
    Rule(
        "a local variable takes no constraint; found `{word}`", "Declare a vector or a matrix here.",
        found=rf"(?P<word>{CONSTRAINED})", when=statements,
    ),
    Rule(
        "`{word}` needs its size: `[` expected, found {found}", "Write `{word}[N]`.",
        before=rf"(?P<word>{ONE_SIZE}){BOUNDS}", when=only("LSQB", "LESS"),
    ),
    Rule(
        "`{word}` needs its sizes: `[` expected, found {found}", "Write `{word}[M, N]`.",
        before=rf"(?P<word>{TWO_SIZES}){BOUNDS}", when=only("LSQB", "LESS"),
    ),
    Rule(
        "`{word}` takes two sizes, its rows and columns; `,` expected before `]`", "Write `{word}[M, N]`.",
        found=r"\]", before=rf"(?P<word>{TWO_SIZES}){BOUNDS}\s*\[[^\],;]*",
    ),
    Rule(
        "`{word}` takes one size: `]` expected, found `,`", "For an array write `array[M] {word}[N] x;`.",
        found=",", before=rf"(?P<word>{ONE_SIZE}){BOUNDS}\s*\[[^\],;]*",
    ),
    Rule(
        "{found} is no bound here; expected {expected}",
        "Bounds are `<lower=a, upper=b>` or `<offset=m, multiplier=s>`.",
        when=only("LOWER", "UPPER", "OFFSET", "MULTIPLIER"),
    ),
    Rule(
        "`,` expected between two bounds, found {found}",
        found=r"(lower|upper|offset|multiplier)\b", before=OPEN_BOUND,
    ),
    Rule(
        "a bound holds no comparison and no logical operator; found {found}", "Put it in parentheses.",
        found=r"[<>=!]=|<|&&|\|\||\?", before=OPEN_BOUND,
    ),
    Rule(
        "`>` expected to close the constraint, found {found}",
        before=OPEN_BOUND, when=lambda stop: "GREATER" in stop.accepts and "LESS" not in stop.accepts,
    ),
    Rule(
        "`{name}` is given no value here: the block `{block}` only declares; found `=`",
        "Define it in the block `transformed {block}`.",
        found="=", before=rf"(?P<name>{NAME})", when=lambda stop: stop.block in ("data", "parameters"),
    ),
    Rule(
        "`{word}` is no type", "{advice}",
        found=rf"(?P<word>{NAME})(?=\s*(<[^>;]*>\s*)?(\[[^\];]*\]\s*)?{NAME}\s*[;,=()\[])",
        when=lambda stop: declares_only(stop) or stop.signature,
    ),
    Rule(
        "`{word}` is no type", "{advice}",
        found=rf"{NAME}\s*[;,=\[]", before=rf"[;{{}}]\s*(?P<word>{NAME})(?:\s*<[^>;]*>)?(?:\s*\[[^\];]*\])?",
        when=lambda stop: not stop.newline, at="word",
    ),
    Rule(
        "the block `{block}` holds declarations only; found {found}", "Statements belong in the model block.",
        found=r"\S", when=declares_only,
    ),

    # Brackets, semicolons, operands.
    Rule(
        "`,` expected before `]`: a truncation is `T[lower, upper]`, and either side may be empty",
        "For a lower bound alone write `T[{bound}, ]`.",
        found=r"\]", before=r"\bT\s*\[(?P<bound>[^\],;]*)", when=lambda stop: "COMMA" in stop.accepts,
    ),
    Rule(
        "an expression is missing between `,` and {found}", "Take the comma out, or write the expression.",
        found=r"[)\]}]", before=",", when=values,
    ),
    Rule("`{close}` expected: the {opened} is not closed; found {found}", found=r"[;{}]|\Z", when=unclosed),
    Rule(
        "`{close}` expected: the {opened} is not closed",
        found=STATEMENT, when=lambda stop: unclosed(stop) and stop.newline, at="gap",
    ),
    Rule(
        "{found} closes nothing that is open", "Take it out, or look for a missing `(` or `[` before.",
        found=r"[)\]]", when=lambda stop: CLOSING.get(stop.innermost) != stop.found,
    ),
    Rule("`;` expected at the end of the statement", when=ended, at="gap"),
    Rule(
        "an operator, `,` or `{end}` is missing between `{previous}` and {found}",
        "A product is written `2 * x`.",
        found=r'[\w("]|\.\d', before=r"[\w)\]'\".]", when=finished,
    ),
    Rule(
        "an expression is expected after `{previous}`, found {found}",
        when=lambda stop: values(stop) and not statements(stop),
    ),
    Rule("a name is expected after `{previous}`, found {found}", when=only("IDENTIFIER")),
    Rule("found {found}; expected {expected}"),
)  # fmt: skip
