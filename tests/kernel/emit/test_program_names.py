"""A program may call its variables and functions what it likes: Python's words and the emitter's own too."""

import ast
import builtins
import keyword
from functools import cache

import numpy as np
import pytest
from laws.every import every

import ppl
from ppl.arrays import NUMPY
from ppl.extend import library, unary
from ppl.kernel.density.layout import Data
from ppl.kernel.emit.library import library as library_of
from ppl.kernel.emit.load import BUILTINS
from ppl.kernel.emit.runtime import OWN_NAMES
from ppl.kernel.language.lalr import is_identifier
from ppl.stdlib.library import standard

ROLES = {
    "data": """
        data { int N; vector[N] NAME; int after; }
        transformed data { vector[N] twice = 2 * NAME; }
        parameters { real z; }
        model { for (n in 1:N) target += NAME[n] * z * after; NAME ~ normal(z, exp(twice)); }
        generated quantities { real g = sum(NAME); }""",
    "size": """
        data { int N; }
        transformed data { int NAME = N; vector[NAME] y = rep_vector(0.5, NAME); }
        parameters { vector<lower=0>[NAME] z; }
        transformed parameters { vector[NAME] w = z / 2; }
        model { for (n in 1:NAME) w[n] ~ normal(y[n], 1); }
        generated quantities { vector[NAME] g = z; }""",
    "parameter": """
        data { int N; }
        parameters { real<lower=0> NAME; vector<lower=NAME>[N] b; }
        transformed parameters { vector[N] w = NAME + b; }
        model { NAME ~ lognormal(0, 1); w ~ normal(NAME, 1); }
        generated quantities { real g = NAME + normal_rng(0, 1); }""",
    "transformed parameter": """
        data { int N; }
        parameters { vector[N] z; }
        transformed parameters {
          vector[N] NAME; for (n in 1:N) NAME[n] = z[n] * n;
          real<lower=-9> w = sum(NAME);
        }
        model { NAME ~ normal(w, 1); }
        generated quantities { real g = sum(NAME) + w; }""",
    "generated quantity": """
        data { int N; }
        parameters { vector[N] z; }
        model { z ~ std_normal(); }
        generated quantities { real NAME = std_normal_rng(); real after = NAME + z[1]; }""",
    "local": """
        functions { real f(vector v) { real NAME = 1; for (i in 1:2) NAME += v[i]; return NAME; } }
        data { int N; }
        parameters { vector[N] z; }
        model {
          real NAME = f(z);
          for (n in 1:N) { real other = NAME * z[n]; target += other - NAME ^ 2; }
        }""",
    "loop variable": """
        data { int N; }
        parameters { vector[N] z; }
        model {
          real s = 0;
          for (NAME in 1:N) { s = tanh(s + z[NAME]); target += s; z[NAME] ~ normal(NAME, 1); }
        }""",
    "function": """
        functions {
          real NAME(real after) { return after <= 0 ? 0 : after + NAME(after - 1); }
          real half_lpdf(real y, real NAME) { return -y ^ 2 / NAME; }
          real draw_rng(real NAME) { return normal_rng(NAME, 1); }
          void more_lp(real NAME) { target += NAME; }
        }
        data { int N; }
        parameters { vector[N] z; }
        model { for (n in 1:N) z[n] ~ half(NAME(2)); more_lp(z[1]); }
        generated quantities { real g = draw_rng(z[2]); }""",
}  # fmt: skip
EMITTED = "lib d u x rng read place declare values places rows with_jacobian read_data transform_data prepare"
EMITTED += " layout log_joint constrained unconstrained generated shapes put take own terms part_1 data_1 n_1"
COMMON = (
    "print range len list dict type id input object str bool sum min max self np numpy xp ppl False_ x_ _x"
)
OF_DATA = [name for name in (*dir(Data), *Data.__annotations__) if not name.endswith("__")]
NAMES = sorted(
    {*keyword.kwlist, *keyword.softkwlist, *EMITTED.split(), *COMMON.split(), *OF_DATA, *BUILTINS}
    - {"_", "_x"}
)
DATA = {"N": 3, "after": 2, "y": [0.1, 0.2, 0.3]}


@cache
def results(role: str, name: str) -> tuple[list[str], np.ndarray]:
    """Names, density, gradient and values of a program."""
    posterior = ppl.compile_model(ROLES[role].replace("NAME", name)).condition(
        {**DATA, name: [0.3, -1.0, 0.4]}
    )
    u = np.linspace(0.2, 0.9, posterior.param_unc_num())
    values = posterior.param_constrain(u, include_tp=True, include_gq=True, rng=np.random.default_rng(1))
    names = posterior.param_names(include_tp=True, include_gq=True)
    without = posterior.log_density(u, jacobian=False)
    return names, np.array(
        [posterior.log_density(u), without, *posterior.log_density_gradient(u)[1], *values]
    )


@cache
def is_reserved(name: str) -> bool:
    """Whether the language itself keeps the word."""
    try:
        ppl.compile_model(f"model {{ real {name}; }}")
    except ppl.ModelError:
        return True
    return False


PLACES = [
    (role, name)
    for role in ROLES
    for name in NAMES
    if role != "function" or not name.endswith("_jacobian")  # this ending says what the function may do
]


@pytest.mark.rotate
@every("role, name", PLACES, lambda place: place[0])
def test_any_name_will_do(role: str, name: str) -> None:
    if is_reserved(name):
        return
    names, numbers = results(role, name)
    plain_names, plain_numbers = results(role, "ordinary")
    assert names == [n.replace("ordinary", name) for n in plain_names]
    assert np.all(np.isfinite(numbers))
    np.testing.assert_array_equal(numbers, plain_numbers)


def test_python_words_are_free_except_where_the_language_has_them() -> None:
    free = {name for name in NAMES if not is_reserved(name)}
    assert {"lambda", "None", "del", "lib", "u", "list", "range"} <= free
    assert {"for", "if", "return"}.isdisjoint(free)


def test_a_library_function_never_hides_one_of_the_runtime() -> None:
    assert OWN_NAMES.isdisjoint(standard().callees)


def test_a_users_function_may_have_the_name_of_one_of_the_runtime() -> None:
    named = [
        unary(name, "a name of the runtime", lambda xp, x: 2.0 * x)
        for name in sorted(filter(is_identifier, OWN_NAMES))
    ]
    calls = " ".join(f"target += {f.name}(x);" for f in named)
    model = ppl.compile_model(
        f"parameters {{ real<lower=0> x; }} model {{ {calls} }}", library=library(functions=named)
    )
    assert model.condition({}).log_density([0.0]) == pytest.approx(2.0 * len(named))


def test_the_names_of_the_runtime_are_those_of_the_library() -> None:
    assert {*vars(library_of(NUMPY, {}, False)), "solve"} == OWN_NAMES


@pytest.mark.parametrize("role", ROLES)
def test_emitted_code_uses_no_builtins_but_those_it_is_given(role: str) -> None:
    tree = ast.parse(ppl.compile_model(ROLES[role].replace("NAME", "ordinary")).python_source)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert used & set(dir(builtins)) <= set(BUILTINS)
    assert not any(isinstance(node, ast.Import | ast.ImportFrom | ast.Global) for node in ast.walk(tree))
