"""The sentences for syntax errors, one rule each: where it applies, what is said, what is advised."""

from ppl.programs.syntax_rules import (
    BLOCK,
    BLOCKS,
    BOUNDS,
    CONSTRAINED,
    DECLARATION,
    DENSITIES,
    NAME,
    ONE_SIZE,
    OPEN_BOUND,
    SCALAR,
    SIGNS,
    SIZES,
    STATEMENT,
    TWO_SIZES,
    TYPE,
    Rule,
    argument,
    misspelt_statement,
    only,
    written,
)
from ppl.programs.syntax_stop import CLOSING, Stop

NO_CHARACTER = "the character {found} is not part of the language"

# The first rule that recognises the place is taken, so the particular ones stand before the general ones.
RULES: tuple[Rule, ...] = (
    # Characters and words that are right nowhere.
    Rule("PPL101", "the comment of line {line} is never closed; expected `*/`", found=r"/\*", at="end"),
    Rule(
        "PPL101", "the comment of line {line} is never closed; expected `*/`",
        found=r"\*", before="/", at="end",
    ),
    Rule(
        "PPL102", 'the string is not closed; expected `"` before the end of the line',
        found=r'"[^"\n]*(\n|\Z)',
    ),
    Rule(
        "PPL103", "`#` does not start a comment", "Write `// comment`, or `#include \"file\"`.",
        found="#", fix="//",
    ),
    Rule(
        "PPL104", "there is no operator `**`", "Write a power as `x ^ 2`.", found=r"\*", before=r"\*",
        fix="^", over="both",
    ),
    Rule(
        "PPL104", "there is no operator `{previous}{previous}`", "Write `i {previous}= 1;`.",
        found=r"[;)]", before=r"\s*(\+\s*\+|-\s*-)", fix=" {previous}= 1", over="before",
    ),
    Rule("PPL104", "there is no operator `{previous}=`", "Write `x = x {previous} 2;`.",
         found="=", before=r"[%^\\]", when=Stop.adjacent),
    Rule(
        "PPL104", "there is no operator `<>`", "Write `a != b` for not equal.", found=">", before="<",
        fix="!=", over="both",
    ),
    Rule("PPL104", "there is no operator `~=`", "Write `a != b` for not equal.", found="~=", fix="!="),
    Rule(
        "PPL104", "there is no operator `{word}`", "Write `a && b` for and, `a || b` for or, `!a` for not.",
        found=r"(?P<word>and|or)\b", when=Stop.finished, fix="{meant}",
    ),
    Rule(
        "PPL104", "there is no operator `@`", "Write a matrix product as `X * b`.",
        found="@", when=Stop.finished, fix="*",
    ),
    Rule(
        "PPL104", "there is no operator `%*%`", "Write a matrix product as `X * b`.",
        found=r"\*\s*%", before="%", fix="*", over="both",
    ),
    Rule("PPL104", "there is no operator `:=`", "Write `name = value;`.", found=":=", fix="="),
    Rule("PPL104", "there is no operator `&`", "Write `a && b` for and.", found=r"&(?!&)", fix="&&"),
    Rule(
        "PPL105", "functions belong to no module or object; found `{head}.{tail}`", "Write `{tail}(...)`.",
        found=rf"\.(?P<tail>{NAME})(?=\s*\()", before=rf"(?P<head>{NAME})", fix="{tail}", over="both",
    ),
    Rule(
        "PPL105", "data are called by their names alone; found `{head}${tail}`", "Write `{tail}`.",
        found=rf"(?P<head>data)\$(?P<tail>{NAME})", fix="{tail}",
    ),
    Rule(
        "PPL105", "a name holds letters, digits and underscores; found `.`", "Write `{head}_{tail}`.",
        found=r"\.(?P<tail>[A-Za-z]\w*)", before=rf"(?P<head>{NAME})", fix="{head}_{tail}", over="both",
    ),
    Rule(
        "PPL106", "the exponent `{tail}` of `{head}{tail}` has no digits", "Write `1e-3` or `2.5e6`.",
        found=r"(?P<tail>[eE][+-]?)(?![\w.])", before=r"(?P<head>\b[\d.]+)", when=Stop.adjacent,
    ),
    Rule(
        "PPL106", "`{head}{tail}` is neither a number nor a name",
        "Start a name with a letter; write a product with `*`.",
        found=r"(?P<tail>[A-Za-z_]\w*)", before=r"(?P<head>\b\d[\d.]*)", when=Stop.adjacent,
    ),
    Rule(
        "PPL175", "the name of a distribution is expected after `~`, found {found}",
        "Write for instance `x ~ normal(0, 1);`.",
        found=r"(?!\w*[A-Za-z])", before="~", when=Stop.takes_name,
    ),
    Rule(
        "PPL107", "a name starts with a letter; found `{bad}`", "Put a letter first.",
        found=r"(?P<bad>[\d_]\w*)", when=Stop.takes_name,
    ),
    Rule(
        "PPL107", "the name `{bad}` ends in two underscores, which is reserved", "Choose another name.",
        found=rf"(?P<bad>{NAME}(?<=__)\b)",
    ),
    Rule(
        "PPL109", "`{word}` is not a value", "Write `1` for true, `0` for false.",
        found=r"(?P<word>true|false)\b", when=Stop.takes_value, fix="{meant}",
    ),
    Rule(
        "PPL178", "an annotation stands before the type of a variable or of a function; found {found}",
        "Write for instance `@name real x;`.",
        found=r"@[^\s()]",
    ),
    Rule("PPL110", NO_CHARACTER, "Write `-`.", found="[\u2010-\u2015\u2212]", fix="-"),
    Rule("PPL110", NO_CHARACTER, 'Write `"`.', found="[\u201c-\u201f]", fix='"'),
    Rule(
        "PPL110", NO_CHARACTER, "Write `{meant}`.",
        found=f"(?P<word>[{''.join(SIGNS)}])", fix="{meant}",
    ),
    Rule(
        "PPL110", NO_CHARACTER,
        "Names have letters from a to z, digits and `_`: write `sigma`, `beta_1` for Greek letters.",
        found=r"(?![a-zA-Z])[^\W\d_]",
    ),
    Rule(
        "PPL110", "the marks of a code block are not part of the language", "Remove them.",
        found=r"`{3}\w*", fix="",
    ),
    Rule("PPL110", NO_CHARACTER, found=r"[^\x00-\x7f]|[$@`\x00-\x08]"),

    Rule(
        "PPL102", "a string has no prefix; found `{head}`", 'Write `print("m is ", m);`.',
        found='"', before=r"\b(?P<head>[fr])", when=Stop.adjacent, fix="", over="before",
    ),
    Rule(
        "PPL102", "a string is written in double quotes; found `'`", 'Write `"text"`.',
        found="'", when=Stop.takes_value,
    ),

    # Between blocks.
    Rule("PPL120", "`{{` expected after `{previous}`, found {found}", when=only("LBRACE"), repair="{"),
    Rule(
        "PPL121",
        "`transformed` alone is not a block; expected `transformed data` or `transformed parameters`",
        found=r"transformed\s*\{", when=Stop.between_blocks,
    ),
    Rule(
        "PPL122", "a second block `{name}`; each block is written once", "Move its lines into the first one.",
        found=BLOCK, when=lambda stop: stop.between_blocks() and written(stop),
    ),
    Rule(
        "PPL123", "the block `{name}` comes too late", f"The order of blocks is: {', '.join(BLOCKS)}.",
        found=BLOCK, when=Stop.between_blocks,
    ),
    Rule(
        "PPL124", "unmatched `}}`; expected a block or the end of the program",
        "Remove it, or look for a missing `{{` above.",
        found=r"\}", when=Stop.between_blocks, fix="",
    ),
    Rule(
        "PPL121", "there is no block `{name}`", "{advice}",
        found=r"(?P<name>(\w+\s+(?=quant|data|param))?[A-Za-z]\w*)\s*\{", when=Stop.between_blocks,
        fix="{meant}", over="name",
    ),
    Rule(
        "PPL125", "{found} is outside of every block", "Remove it: a program has nothing but blocks.",
        found=r"""(?:;|["']{3}|(?:import|from|library|require)\b[^\n{]*)""",
        when=Stop.between_blocks, fix="",
    ),
    Rule(
        "PPL125", "{found} is outside of every block",
        "Write functions in a block: `functions {{ real f(real x) {{ return 2 * x; }} }}`.",
        found=r"(?:def|function)\b", when=Stop.between_blocks,
    ),
    Rule(
        "PPL125", "{found} is outside of every block",
        "Put declarations and statements in a block, such as `model {{ ... }}`.",
        found=r"\S", when=Stop.between_blocks,
    ),
    Rule(
        "PPL126", "`{close}` is missing: the {opened} is still open where the next block begins",
        found=BLOCK + r"\s*\{", repair="}",
    ),
    Rule(
        "PPL126", "the program ends inside the block `{block}`; expected `}}` to close the {opened}",
        found=r"\Z", when=lambda stop: "RBRACE" in stop.accepts, repair="}",
    ),

    # Control.
    Rule(
        "PPL131", "there is no `{word}` loop", "Write `while (condition) {{ ... }}`.",
        found=r"(?P<word>repeat|until)\b", when=Stop.takes_statement,
    ),
    Rule(
        "PPL131", "there is no `do` loop", "Write `while (condition) {{ ... }}`.",
        found=r"\{", before=r"\b(?P<word>do)", at="word",
    ),
    Rule(
        "PPL132", "there is no `{word}`", "Write `else if (...)`.",
        before=r"\b(?P<word>elseif|elif|elsif)\b[^;{}]*", when=Stop.finished, at="word",
        fix="else if", over="word",
    ),
    Rule(
        "PPL177", "`{word}` does not start a statement", "{advice}",
        before=rf"[;{{}})]\s*(?P<word>{NAME})\s*\([^;{{}}]*",
        when=lambda stop: stop.finished() and misspelt_statement(stop), at="word", fix="{meant}", over="word",
    ),
    Rule(
        "PPL145", "the function `{name}` is defined outside of the functions block",
        "Move it to the functions block.",
        found=r"\(", before=rf"(?:{TYPE}|\])\s+(?P<name>{NAME})", when=lambda stop: stop.block != "functions",
        at="name",
    ),
    Rule(
        "PPL130", "`~` takes one distribution; found `{word}` before `{next}`", "Write `~ {next}(...)`.",
        found=rf"(?P<next>{NAME})\s*\(", before=rf"~\s*(?P<word>{NAME})", when=only("LPAR"),
        at="word", fix="", over="word",
    ),
    Rule(
        "PPL130", "`~` takes one distribution; found a sum or product of densities",
        "Write a mixture in a loop over n, as "
        "`target += log_mix(w, normal_lpdf(y[n] | mu[1], s), normal_lpdf(y[n] | mu[2], s));`.",
        found=rf"[-+*/][^;{{}}~]*?\b(?:{DENSITIES})\s*\(", before=rf"~\s*(?P<word>{NAME})", when=only("LPAR"),
    ),
    Rule(
        "PPL130", "the name of a distribution is expected after `~`, found the formula `{word} {tail}`",
        "Write for instance `~ normal({word} {tail}, sigma);`.",
        found=r"(?P<tail>[-+*/^\[][^;{}~]*?)(?=\s*;)", before=rf"~\s*(?P<word>{NAME})", when=only("LPAR"),
        at="word",
    ),
    Rule(
        "PPL130", "`(` expected after the distribution `{word}`, found {found}",
        before=rf"~\s*(?P<word>{NAME})", when=only("LPAR"),
    ),
    Rule(
        "PPL130", "`(` expected after `for`, found {found}", "Write `for ({name} in {values})`.",
        found=rf"(?P<name>{NAME})\s+in\s+(?!range)(?P<values>[^\s{{;~:]+(:[^\n{{;~:]*[^\s{{;~:])?)(\s*:)?(?=\s*[\n{{])",
        before=r"\bfor", when=only("LPAR"), fix="({name} in {values})",
    ),
    Rule(
        "PPL130", "`(` expected after `for`, found {found}", "Write for instance `for ({name} in 1:N)`.",
        found=rf"(?P<name>{NAME})", before=r"\bfor", when=only("LPAR"),
    ),
    Rule(
        "PPL130", "`(` expected after `{word}`, found {found}", "Write `{word} (...)`.",
        before=r"\b(?P<word>if|while|for|print|reject|fatal_error|profile)", when=only("LPAR"),
    ),
    Rule(
        "PPL131",
        "the variable of a `for` loop is declared by the loop, and always an int", "Write `for (i in 1:N)`.",
        found=rf"{TYPE}\s*", before=r"\bfor\s*\(", fix="",
    ),
    Rule(
        "PPL131", "`in` expected after the loop variable, found {found}", "Write `for ({name} in 1:N)`.",
        before=rf"\bfor\s*\(\s*(?P<name>{NAME})", when=only("_IN"),
    ),
    Rule(
        "PPL132", "`else` has no `if` before it", "Put several statements of an `if` in braces.",
        found=r"else\b", when=Stop.takes_statement,
    ),
    Rule(
        "PPL133", "`{word}` cannot be assigned; expected `+=`", "Write `{word} += value;`.",
        found="=|<-|~", before=r"\b(?P<word>target|jacobian)",
    ),
    Rule(
        "PPL133", "`target` alone is not a value",
        "Read it with `target()`, add to it with `target += value;`.",
        before=r"\btarget", when=only("LPAR", "PLUS_ASSIGN"),
    ),
    Rule(
        "PPL133", "`jacobian` is not a value", "Add to it with `jacobian += value;`.",
        found=r"jacobian\b", when=Stop.takes_value,
    ),
    Rule(
        "PPL134", "a second `=` in one statement", "Assign in two statements; write a comparison as `==`.",
        found="=(?!=)", before=r"[^=<>!]=[^=;{}][^;{}]*",
        when=lambda stop: stop.innermost == "{" and stop.finished(),
    ),
    Rule(
        "PPL134", "`=` assigns; arguments are identified by their order, not by names",
        "Write the values alone, in the order of `ppl docs {name}`: a scale may be a rate there.",
        found="=(?!=)", before=rf"~\s*(?P<name>{NAME})\s*\((?:[^;{{}}]*,)?\s*{NAME}", when=argument,
    ),
    Rule(
        "PPL134", "`=` assigns; arguments are identified by their order, not by names",
        "Write the value alone, in its position.",
        found=rf"{NAME}\s*=(?!=)\s*", before="[(,|]", when=argument, fix="",
    ),
    Rule(
        "PPL134", "`=` assigns; arguments are identified by their order, not by names",
        "Write the value alone, in its position.",
        found="=", before=rf"[(,|]\s*{NAME}", when=lambda stop: argument(stop) and stop.finished(),
    ),
    Rule(
        "PPL134", "`=` assigns; found in an expression", "Write a comparison as `{left} == ...`.",
        found="=", before=rf"(?P<left>{NAME}|[\w)\]]+)", fix="==",
        when=lambda stop: stop.innermost == "(" and stop.finished(),
    ),
    Rule(
        "PPL135", "`{word}` requires at least one argument", 'Write `{word}("x is ", x);`.',
        found=r"\)", before=r"\b(?P<word>print|reject|fatal_error)\s*\(",
    ),
    Rule(
        "PPL136", "strings have no operators; found {found}", "Separate the printed values by commas.",
        found=r"[-+*/.]", before='"', fix=",",
    ),
    Rule(
        "PPL136", "a string can only be printed; found {found}",
        "Strings are allowed only in `print`, `reject` and `fatal_error`.",
        found='"', when=Stop.takes_value,
    ),

    Rule(
        "PPL134", "there is no `{word}` inside an expression", "Write `condition ? a : b`.",
        found=r"(?P<word>if|then)\b", when=lambda stop: stop.finished() and stop.innermost != "{",
    ),
    Rule(
        "PPL134", "there is no `for` inside an expression",
        "Write a loop, or a function of a whole vector such as `sum(x)`.",
        found=r"for\b", when=lambda stop: stop.finished() and stop.innermost != "{",
    ),
    Rule(
        "PPL134", "the left side of `~` is a variable alone; found `|`",
        "Write `{left} ~ normal(mu, sigma);`, with parameters as arguments.",
        found=r"\|[^~;{}]*(?=~)", before=rf"(?P<left>{NAME}{SIZES})", fix="",
    ),

    # Types in a function's signature.
    Rule(
        "PPL141",
        "an array in a function's signature is written before its type", "Write `array{empty} {word}`.",
        found=r"(?P<empty>\[\s*,*\s*\])", before=rf"(?P<word>{TYPE})", when=Stop.in_signature,
        fix="array{empty} {word}", over="both",
    ),
    Rule(
        "PPL142",
        "`{word}` has no size in a function's signature; found `[`", "Write `{word}`, or `array[] {word}`.",
        found=r"\[([^\]\n]*\])?", before=rf"(?P<word>{TYPE})", when=Stop.in_signature, fix="",
    ),
    Rule(
        "PPL143", "`{word}` has no constraint in a function's signature; found `<`", "Write `{word}`.",
        found=r"<([^<>\n]*>)?", before=rf"(?P<word>{TYPE})", when=Stop.in_signature, fix="",
    ),

    # A declaration and a statement in one.
    Rule(
        "PPL159", "`{name}` is declared and given a distribution at once; found `~`",
        "Write `{head};` here, and `{name} {matched};` in the model block.",
        found=r"~[^;{}]*", before=rf"(?P<head>{DECLARATION})",
        when=lambda stop: stop.block in ("data", "parameters"),
    ),
    Rule(
        "PPL159", "`{name}` is declared and given a distribution at once; found `~`",
        "Write a draw as `{head} = {distribution}_rng{arguments};`.",
        found=r"~\s*(?P<distribution>\w+)\s*(?P<arguments>\([^;{}]*)", before=rf"(?P<head>{DECLARATION})",
        when=lambda stop: stop.block == "generated quantities",
        fix="= {distribution}_rng{arguments}",
    ),
    Rule(
        "PPL159", "`{name}` is declared and given a distribution at once; found `~`",
        "Write `{head};` in the parameters block, and `{name} {matched};` in the model block.",
        found=r"~[^;{}]*", before=rf"(?P<head>{DECLARATION})",
    ),

    # Declarations.
    Rule(
        "PPL155", "the bounds of `{word}` stand between `<` and `>`; found `(`", "Write `{word}<{bounds}>`.",
        found=r"\((?P<bounds>[^()]*)\)", before=rf"(?P<word>{SCALAR}|{ONE_SIZE}|{TWO_SIZES})",
        when=lambda stop: "LESS" in stop.accepts, fix="<{bounds}>",
    ),
    Rule(
        "PPL155", "bounds stand after the type, not after the name; found `<`",
        "Write for instance `real<{bounds}> {name};`.",
        found="<(?P<bounds>[^<>;]*)>", before=rf"(?P<name>{NAME})", when=only("COMMA", "SEMICOLON", "ASSIGN"),
    ),
    Rule(
        "PPL173", "a declaration ends with `;`; found `,` before `{word}`", "Write `;` for the comma.",
        found=rf"(?P<word>{TYPE}|array)\b", before=",", when=Stop.takes_name, fix=";", over="before",
    ),
    Rule(
        "PPL150", "`array` needs its sizes: `[` expected, found {found}", "Write `array[N] real y;`.",
        before=r"\barray", when=only("LSQB"),
    ),
    Rule(
        "PPL160", "the type of the elements is missing after `array[{sizes}]`",
        "Write `array[{sizes}] real {bad};`.",
        found=rf"(?P<bad>{NAME})", before=r"\barray\s*\[(?P<sizes>[^\];]*)\]",
    ),
    Rule(
        "PPL154", "a comma follows the only item of a tuple; `,` expected before `)`",
        "Write for instance `tuple(real, )`.",
        found=r"\)", before=r"\btuple\s*\([^();]*", when=only("COMMA"), fix=", ", over="gap",
    ),
    Rule(
        "PPL158", "`=` expected after `{word}`, found {found}", "Write for instance `<{word}=0>`.",
        before=r"<[^;>]*\b(?P<word>lower|upper|offset|multiplier)", when=only("ASSIGN"),
    ),
    Rule(
        "PPL151", "`{name}[{sizes}]` is the removed form of an array declaration",
        "Write `array[{sizes}] {word} {name};`.",
        found=r"\[(?P<sizes>[^\];]*)\]?",
        before=rf"(?P<word>{TYPE}{BOUNDS}(?:\s*\[[^\]]*\])?)\s+(?P<name>{NAME})",
        fix="array[{sizes}] {word} {name}", over="both",
    ),
    Rule(
        "PPL152",
        "`{word}` has no size; found `[`", "Write `array[{sizes}] {word} x;`, or `vector[{sizes}] x;`.",
        found=r"\[(?P<sizes>[^\];]*)\]?", before=rf"(?P<word>{SCALAR})(?P<bounds>{BOUNDS})",
        when=Stop.takes_name, fix="array[{sizes}] {word}{bounds}", over="both",
    ),
    Rule(
        "PPL155", "`{word}` has its own constraint and takes no bounds; expected `[`, found `<`",
        found=r"<([^<>\n]*>)?", before=rf"(?P<word>{CONSTRAINED})", fix="",
    ),
    Rule(
        "PPL156", "a local variable takes no constraint; found `<` after `{word}`",
        "Remove the constraint; only variables of a block have one.",
        found=r"<([^<>\n]*>)?", before=rf"(?P<word>{TYPE})", fix="",
    ),
    Rule(
        "PPL108", "`{bad}` is a reserved word, so it cannot be a name", "Choose another name.",
        found=rf"(?P<bad>{NAME})", when=Stop.takes_name,
    ),
    Rule(
        "PPL156",
        "a local variable takes no constraint; found `{word}`", "Declare a vector or a matrix here.",
        found=rf"(?P<word>{CONSTRAINED})", when=Stop.takes_statement,
    ),
    Rule(
        "PPL153", "`{word}` needs its size: `[` expected, found {found}", "Write `{word}[N]`.",
        before=rf"(?P<word>{ONE_SIZE}){BOUNDS}", when=only("LSQB", "LESS"),
    ),
    Rule(
        "PPL153", "`{word}` needs its sizes: `[` expected, found {found}", "Write `{word}[M, N]`.",
        before=rf"(?P<word>{TWO_SIZES}){BOUNDS}", when=only("LSQB", "LESS"),
    ),
    Rule(
        "PPL154",
        "`{word}` takes two sizes, its rows and columns; `,` expected before `]`", "Write `{word}[M, N]`.",
        found=r"\]", before=rf"(?P<word>{TWO_SIZES}){BOUNDS}\s*\[[^\],;]*",
    ),
    Rule(
        "PPL154",
        "`{word}` takes one size: `]` expected, found `,`", "For an array write `array[M] {word}[N] x;`.",
        found=",", before=rf"(?P<word>{ONE_SIZE}){BOUNDS}\s*\[[^\],;]*",
    ),
    Rule(
        "PPL157", "{found} is not a bound here; expected {expected}",
        "Bounds are `<lower=a, upper=b>` or `<offset=m, multiplier=s>`.",
        when=only("LOWER", "UPPER", "OFFSET", "MULTIPLIER"),
    ),
    Rule(
        "PPL158", "`,` expected between two bounds, found {found}",
        found=r"(lower|upper|offset|multiplier)\b", before=OPEN_BOUND,
    ),
    Rule(
        "PPL158",
        "a bound cannot contain a comparison or logical operator; found {found}", "Put it in parentheses.",
        found=r"[<>=!]=|<|&&|\|\||\?", before=OPEN_BOUND,
    ),
    Rule(
        "PPL158", "`>` expected to close the constraint, found {found}",
        before=OPEN_BOUND, when=lambda stop: "GREATER" in stop.accepts and "LESS" not in stop.accepts,
        fix=">", over="gap",
    ),
    Rule(
        "PPL159", "`{name}` cannot have a value here: the block `{block}` only declares; found `=`",
        "Define it in the block `transformed {block}`.",
        found="=", before=rf"(?P<name>{NAME})", when=lambda stop: stop.block == "data",
    ),
    Rule(
        "PPL159", "`{name}` cannot have a value here: the block `{block}` only declares; found `=`",
        "Define it in the block `transformed {block}`, or write `{name} ~ ...;` in the model block.",
        found="=", before=rf"(?P<name>{NAME})", when=lambda stop: stop.block == "parameters",
    ),
    Rule(
        "PPL160", "`{word}` does not define a function",
        "Begin with the type of the result, and give each argument its type: "
        "`real {name}(real x) {{ return 2 * x; }}`.",
        found=rf"(?P<word>def|function|fn|func)\s+(?P<name>{NAME})",
        when=lambda stop: stop.block == "functions",
    ),
    Rule(
        "PPL160", "`{word}` is not a type", "{advice}",
        found=rf"(?P<word>{NAME})(?=\s*(<[^>;]*>\s*)?(\[[^\];]*\]\s*)?{NAME}\s*[;,=()\[])",
        when=lambda stop: stop.declares_only() or stop.in_signature(), fix="{meant}", over="word",
    ),
    Rule(
        "PPL160", "`{word}` is not a type", "{advice}",
        found=rf"{NAME}\s*[;,=\[]", before=rf"[;{{}}]\s*(?P<word>{NAME})(?:\s*<[^>;]*>)?(?:\s*\[[^\];]*\])?",
        when=lambda stop: not stop.newline(), at="word", fix="{meant}", over="word",
    ),
    Rule(
        "PPL160", "`{bad}` has no type", "Write for instance `real {bad}`.",
        found=rf"(?P<bad>{NAME})", when=lambda stop: stop.in_signature() and "REAL" in stop.accepts,
    ),
    Rule(
        "PPL160", "`{name}` has no type", "Write for instance `real {name};`, or `vector[N] {name};`.",
        found=rf"(?P<name>{NAME}){SIZES}\s*[;,]", when=Stop.declares_only,
    ),
    Rule(
        "PPL160", "a declaration begins with its type; found `{bad}`", "Remove it.",
        found=rf"(?P<bad>{NAME})\s+(?=(?:{TYPE}|array)\b)", when=Stop.declares_only, fix="",
    ),
    Rule(
        "PPL161",
        "the block `{block}` holds declarations only; found {found}", "Statements belong in the model block.",
        found=r"\S", when=Stop.declares_only,
    ),

    # Brackets, semicolons, operands.
    Rule(
        "PPL162", "a truncation is written `T[lower, upper]`; found {found}",
        before=r"\bT", when=only("LSQB"),
    ),
    Rule(
        "PPL162", "`,` expected before `]`: a truncation is `T[lower, upper]`, and either side may be empty",
        "For a lower bound alone write `T[{bound}, ]`.",
        found=r"\]", before=r"\bT\s*\[(?P<bound>[^\],;]*)", when=lambda stop: "COMMA" in stop.accepts,
        fix=", ", over="gap",
    ),
    Rule(
        "PPL170",
        "an expression is missing between `,` and {found}", "Remove the comma, or write the expression.",
        found=r"[)\]}]", before=",", when=Stop.takes_value, fix="", over="before",
    ),
    Rule(
        "PPL171", "`{close}` expected: the {opened} is not closed; found {found}",
        found=r"[;{}]|\Z", when=Stop.unclosed, fix="{close}", over="gap",
    ),
    Rule(
        "PPL171", "`{close}` expected: the {opened} is not closed",
        found=STATEMENT, when=lambda stop: stop.unclosed() and stop.newline(), at="gap",
        fix="{close}", over="gap",
    ),
    Rule(
        "PPL172",
        "{found} has no matching opening bracket", "Remove it, or look for a missing `(` or `[` before it.",
        found=r"[)\]]", when=lambda stop: CLOSING.get(stop.innermost) != stop.found, fix="",
    ),
    Rule("PPL173", "`;` expected at the end of the statement", when=Stop.ended, at="gap", repair=";"),
    Rule(
        "PPL174", "an operator, `,` or `{end}` is missing between `{previous}` and {found}",
        "Write a product as `2 * x`.",
        found=r'[\w("]|\.\d', before=r"[\w)\]'\".]", when=Stop.finished,
    ),
    Rule(
        "PPL170", "an expression is expected after `{previous}`, found {found}",
        when=lambda stop: stop.takes_value() and not stop.takes_statement(),
    ),
    Rule("PPL175", "a name is expected after `{previous}`, found {found}", when=only("IDENTIFIER")),
    Rule("PPL176", "found {found}; expected {expected}"),
)  # fmt: skip
