"""Features of a program that an older CmdStan lacks: notes of `ppl check --stan-version` and `--pedantic`.

Versions: Stan Functions Reference ("Available since"), release notes of stanc3.
"""

import re
from collections.abc import Iterator
from functools import cache

from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts, UserMatch
from ppl.kernel.language.higher_order import HIGHER_ORDER
from ppl.kernel.language.laplace import LAPLACE, STATEMENTS
from ppl.programs.lints import Lint, needs_newer_stan
from ppl.programs.nodes import Nodes
from ppl.source import Span
from ppl.types import VECTOR

ASSUMED = 37
"""Stan 2.37, which `--pedantic` compares with if no version is named."""

NAMES: tuple[tuple[int, re.Pattern[str]], ...] = tuple(
    (version, re.compile(pattern))
    for version, pattern in (
        (27, r"ode_adjoint_tol_ctl|ode_ckrk(_tol)?|quantile"),
        (28, r"skew_double_exponential\w*|polar|proj|arg|conj|get_(real|imag)|to_complex"),
        (29, r"loglogistic\w*|von_mises_l?c?cdf|bernoulli_logit_glm_rng"),
        (30, r"(eigenvalues|eigenvectors|(inv_)?fft2?|inv_inc_beta|log_determinant_spd|norm[12])"),
        (30, r"(multi_student_t|(inv_)?wishart)_cholesky\w*"),
        (31, r"complex_schur_decompose_[tu]|solve_(newton|powell)(_tol)?|std_normal_(log_)?qf|to_int"),
        (33, r"complex_schur_decompose|csr_extract|eigendecompose(_sym)?|qr(_thin)?|svd"),
        (34, r"binomial_logit_glm\w*|dirichlet_multinomial\w*"),
        (36, r"beta_neg_binomial\w*"),
        (37, r"hypergeometric_(1F0|2F1|3F2|pFq)|\w+_(constrain|unconstrain|jacobian)"),
        (38, r"wiener_lc?cdf_(defective|unnorm)\w*"),
        (40, r"laplace_latent_solve(_tol)?|student_t_qf|integrate_1d_(gauss_kronrod|double_exponential)\w*"),
        (39, r"laplace_\w+|generate_laplace_options|yule_simon\w*|trace_dot"),
    )
)
"""The minor version that brought a function or distribution: that of the first pattern that fits."""

TYPES: dict[str, int] = {
    "complex": 28,
    **dict.fromkeys(("complex_vector", "complex_row_vector", "complex_matrix"), 30),
    "tuple": 33,
    **dict.fromkeys(("sum_to_zero_vector", "row_stochastic_matrix", "column_stochastic_matrix"), 36),
    "sum_to_zero_matrix": 37,
}
"""Keywords of types."""

WIENER: dict[int, int] = {6: 35, 8: 35, 7: 38, 9: 38}
"""Numbers of arguments of `wiener`: with variabilities, and with the precision of its gradient."""


NEEDING = frozenset(
    {ast.Call, ast.Tilde, ast.TupleLiteral, ast.SizedTuple, ast.UnsizedType, ast.SizedType}
    | {ast.ImaginaryLiteral, ast.Assignment, ast.JacobianIncrement, ast.Reject}
)
"""The kinds of nodes that may need a newer Stan."""


def newer_than(version: int, p: Nodes) -> Iterator[Lint]:
    """Each function, distribution and form of the language that came after Stan 2.`version`, once."""
    said: set[str] = set()
    for node in p.every:
        if type(node) not in NEEDING:
            continue
        for what, since, span in needs(node, p.facts):
            if since > version and what not in said:
                said.add(what)
                yield needs_newer_stan(what, f"2.{since}", span)


def needs(node: ast.Node, facts: Facts) -> Iterator[tuple[str, int, Span]]:
    """The feature that a node uses, since which minor version Stan has it, and where."""
    match node:
        case ast.Call(name=name) | ast.Tilde(distribution=name) if not is_own(name, node, facts):
            yield from called(name, node, facts)
        case ast.TupleLiteral(items=(_,)) | ast.SizedTuple(items=(_,)) | ast.UnsizedType(items=(_,)):
            yield "A tuple of one item", 39, node.span
        case ast.TupleLiteral():
            yield "The type `tuple`", TYPES["tuple"], node.span
        case ast.SizedType(keyword=word) | ast.SizedTuple(keyword=word) | ast.UnsizedType(keyword=word):
            if word in TYPES:
                yield f"The type `{word}`", TYPES[word], node.span
        case ast.ImaginaryLiteral():
            yield "The type `complex`", TYPES["complex"], node.span
        case ast.Assignment(target=ast.TupleLiteral()):
            yield "Assignment of a tuple to several variables", 34, node.span
        case ast.JacobianIncrement():
            yield "`jacobian +=`", 36, node.span
        case ast.Reject(fatal=True):
            yield "`fatal_error`", 35, node.span
        case _:
            return


def is_own(name: str, node: ast.Node, facts: Facts) -> bool:
    """Whether a call is that of a function of the program, not of a solver that takes one."""
    takes_one = name in HIGHER_ORDER or name in LAPLACE or name in STATEMENTS
    return isinstance(facts.calls.get(node), UserMatch) and not takes_one


@cache
def since_version(name: str) -> int | None:
    """The minor version that brought a function or distribution, if it is newer than 2.26."""
    return next((version for version, pattern in NAMES if pattern.fullmatch(name)), None)


def called(name: str, node: ast.Call | ast.Tilde, facts: Facts) -> Iterator[tuple[str, int, Span]]:
    since = since_version(name)
    count = len(node.args) + isinstance(node, ast.Tilde)
    if since is not None:
        yield f"`{name}`", since, node.span
    elif name in ("softmax", "log_softmax") and (t := facts.types.get(node.args[0])) != VECTOR:
        yield f"`{name}` of a value of type {t}", 40, node.span
    elif re.fullmatch(r"wiener(_lu?pdf)?", name) and count in WIENER:
        yield f"`{name}` of {count} arguments", WIENER[count], node.span
