"""Every signature of Stan 2.40 resolves to Stan's return type, but for a named few.

`stan_signatures.txt` lists them by name, in the notation of `expanded`.  Functions that take a function have
no signature there: only their names are tested.  The interpreter of the extra `oracle` tests the list itself.
"""

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from generator.interpreted_stan import INSTALLED

from ppl.kernel.language.higher_order import HIGHER_ORDER
from ppl.kernel.language.laplace import LAPLACE
from ppl.stdlib import signatures
from ppl.stdlib.library import standard

LISTING = Path(__file__).with_name("stan_signatures.txt")
ALIASES = {"reals": "real^0-1|vector|row_vector", "ints": "int^0-1", "number": "int|real"}
ALIASES["numbers"] = f"{ALIASES['ints']}|{ALIASES['reals']}"

VARIADIC = (
    *("ode_rk45", "ode_ckrk", "ode_adams", "ode_bdf", "solve_newton", "solve_powell", "dae"),
    *("integrate_1d_gauss_kronrod", "integrate_1d_double_exponential"),
)
"""Functions that take a function and any further arguments; each has a form with tolerances too."""
OTHERS = ("ode_adjoint_tol_ctl", "reduce_sum", "reduce_sum_static", "map_rect")
LIKELIHOODS = ("bernoulli_logit", "poisson_log", "neg_binomial_2_log")
OF_LAPLACE = (
    *("laplace_marginal", "laplace_marginal_tol", "laplace_latent_rng", "laplace_latent_tol_rng"),
    *("laplace_latent_solve", "laplace_latent_solve_tol"),
    *(f"laplace_marginal{tol}_{family}_lpmf" for tol in ("", "_tol") for family in LIKELIHOODS),
    *(f"laplace_latent{tol}_{family}_rng" for tol in ("", "_tol") for family in LIKELIHOODS),
)
MISSING = {
    "dae": "implicit equations need an integrator of their own; solve for y' where that is possible",
    "dae_tol": "as dae",
}
"""What of Stan's library the language lacks, and why."""


def expanded() -> Iterator[tuple[str, list[str], str]]:
    """(name, argument types, return type) of every line of the list.

    A bar separates alternatives; `real^2` is array[,] real, and `real^0-7` has up to seven array axes. T is
    the same type everywhere in a line, I that type with ints for reals, and k the same number.
    """
    name = ""
    for line in LISTING.read_text().splitlines():
        if not line.startswith(" "):
            name = line
            continue
        found = re.fullmatch(r"  \((.*)\) => (.*?)(?: for ([Tk]) in (.*))?", line)
        assert found is not None, line
        arguments, returns, variable, over = found.groups()
        for value in alternatives(over, variable) if over else [""]:
            of = lambda text, value=value, variable=variable: filled(text, variable, value)  # noqa: E731
            for types in product(*(alternatives(of(a), "T") for a in signatures.split_commas(arguments))):
                yield name, list(types), written(of(returns))


def filled(text: str, variable: str | None, value: str) -> str:
    """The text with the value of its variable."""
    if variable == "k":
        return text.replace("^k", f"^{value}")
    text = re.sub(r"\bT\b", value, text)
    return re.sub(r"\bI\b", value.replace("real", "int"), text)


def alternatives(text: str, variable: str | None) -> list[str]:
    """The types or, of k, the numbers that a text stands for."""
    if variable == "k":
        first, last = map(int, text.split("-"))
        return [str(k) for k in range(first, last + 1)]
    found = []
    for word in ALIASES.get(text, text).split("|"):
        base, _, axes = ALIASES.get(word, word).partition("^")
        first, _, last = (axes or "0").partition("-")
        found += [f"{base}^{k}" for k in range(int(first), int(last or first) + 1)]
    return found


def written(t: str) -> str:
    """`real^2` as array[,] real."""
    base, _, axes = t.partition("^")
    return f"array[{',' * (int(axes) - 1)}] {base}" if int(axes or 0) else base


def resolve(name: str, arguments: list[str]) -> str:
    """The return type by our records, or why there is none."""
    callee = standard().callees.get(name)
    if callee is None:
        return "no such name"
    types = [signatures.as_type(signatures.parse_pattern(written(a))) for a in arguments]
    match = signatures.choose(callee, types)
    return str(match.returns) if match else "no such overload"


@pytest.mark.rotate
def test_every_signature_resolves() -> None:
    wrong: dict[str, list[str]] = {}
    for name, arguments, returns in expanded():
        found = resolve(name, arguments)
        if found != returns:
            text = ", ".join(map(written, arguments))
            wrong.setdefault(name, []).append(f"({text}) => {returns}, here {found}")
    assert not wrong, "\n".join(f"{name}: {len(bad)}, first {bad[0]}" for name, bad in wrong.items())


def test_what_takes_a_function_is_missing_for_a_reason() -> None:
    names = {*VARIADIC, *(f"{name}_tol" for name in VARIADIC), *OTHERS, *OF_LAPLACE}
    assert names - {*HIGHER_ORDER, *LAPLACE} == MISSING.keys()


@pytest.mark.skipif(not INSTALLED, reason="the extra `oracle` is not installed")
@pytest.mark.parametrize("step", [400, pytest.param(1, marks=pytest.mark.whole)])
def test_stanc_takes_the_list(step: int) -> None:
    """In a function with arguments of these types, whose result is returned as that type."""
    import stanli

    for name, arguments, returns in list(expanded())[::step]:
        suffix = next((s for s in ("_rng", "_jacobian") if name.endswith(s)), "")
        declared = ", ".join(f"data {written(t)} a{k}" for k, t in enumerate(arguments))
        given = [f"a{k}" for k in range(len(arguments))]
        bar = " | " if re.search(r"_(lp[dm]f|cdf|lcdf|lccdf)$", name) else ", "
        call = f"{name}({bar.join([*given[:1], ', '.join(given[1:])] if given[1:] else given)})"
        stanli.stan_to_mir(f"functions {{ {returns} f{suffix}({declared}) {{ return {call}; }} }}")
