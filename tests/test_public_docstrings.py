"""The documentation of what `ppl` exports, and of every record that users extend: what it must say."""

import ast
import builtins
import inspect
import re
import textwrap
from functools import cached_property
from pathlib import Path

import pytest
from laws.every import every

import ppl
from ppl.kernel.advi.estimators import ESTIMATORS
from ppl.kernel.advi.families import FAMILIES
from ppl.kernel.advi.outcome import Outcome
from ppl.kernel.advi.steps import STEPS
from ppl.kernel.advi.stopping import STOPPING
from ppl.methods.recipes import RECIPES, recipe_of
from ppl.methods.run.settings import Settings
from ppl.results.report.compare import Compared, Comparison
from ppl.results.report.loo import Loo
from ppl.results.report.summary import Row, Summary
from ppl.stdlib.constraints.record import Constraint
from ppl.stdlib.record import Distribution, Function, Overload

TOP = [getattr(ppl, name) for name in ppl.__all__]
REACHED = [Outcome, Settings, Summary, Row, Loo, Compared, Comparison]
"""What a public method returns or takes, for a user to look into."""
RECORDS = [Distribution, Function, Overload, Constraint]
"""What a user who adds a word to the language writes."""
SHAPED = re.compile(r"\(\w*(?:\(\))?,|\(\w+, \*?[\w ]+\)|shape")
"""How a docstring gives a shape: (n,), (n, dim), `of its own shape`."""
ARRAYS = ("ndarray", "Floats", "Array")


def own(kind):
    """Public methods and properties of a class, and of its bases in ppl, as (name, function)."""
    for name in dir(kind):
        if name.startswith("_"):
            continue
        found = inspect.getattr_static(kind, name)
        if isinstance(found, property):
            found = found.fget
        elif isinstance(found, cached_property):
            found = found.func
        elif isinstance(found, classmethod | staticmethod):
            found = found.__func__
        if inspect.isfunction(found) and found.__module__.startswith("ppl."):
            yield f"{kind.__name__}.{name}", found


MEMBERS = dict(member for kind in (*TOP, *REACHED) if inspect.isclass(kind) for member in own(kind))
FUNCTIONS = {f.__name__: f for f in TOP if inspect.isfunction(f)} | MEMBERS
CLASSES = {kind.__name__: kind for kind in (*TOP, *REACHED, *RECORDS) if inspect.isclass(kind)}
TABLES = {
    f"{table}[{name}]": part
    for table, parts in [
        ("ESTIMATORS", ESTIMATORS),
        ("FAMILIES", {name: type(make(2)) for name, make in FAMILIES.items()}),
        ("RECIPES", {name: recipe_of(name) for name in RECIPES}),
        ("STEPS", {name: type(make(0.1)) for name, make in STEPS.items()}),
        ("STOPPING", {name: type(make(100, 10, 0.01)) for name, make in STOPPING.items()}),
    ]
    for name, part in parts.items()
}


def documentation(thing):
    return inspect.getdoc(thing if inspect.isroutine(thing) or inspect.isclass(thing) else type(thing)) or ""


def takes_array(function):
    return any(kind in str(p.annotation) for p in parameters(function) for kind in ARRAYS)


def gives_array(function):
    return any(kind in str(function.__annotations__.get("return", "")) for kind in ARRAYS)


def parameters(function):
    return inspect.signature(function).parameters.values()


def raised(function):
    """The names of the errors that the body of a function raises."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    names = [c.func.id for c in calls if isinstance(c, ast.Call) and isinstance(c.func, ast.Name)]
    return {name for name in names if name[0].isupper()}


@every("name", [*FUNCTIONS, *CLASSES, *TABLES])
def test_it_begins_with_a_sentence(name):
    text = documentation({**FUNCTIONS, **CLASSES, **TABLES}[name])
    first = text.partition("\n\n")[0]
    assert first and first[0].isupper() | (first[0] in "`\"'-") | first.startswith(("reject", "u ="))
    assert first.rstrip(")\"'`").endswith("."), f"{name}: {first!r}"


@every("name", [n for n, f in FUNCTIONS.items() if takes_array(f) or gives_array(f)])
def test_arrays_have_shapes(name):
    assert SHAPED.search(documentation(FUNCTIONS[name])), f"{name} has no shape"


@every("name", [n for n, f in FUNCTIONS.items() if raised(f)])
def test_errors_that_it_raises_are_named(name):
    text = documentation(FUNCTIONS[name])
    section = text.partition("Raises:")[2]
    assert [error for error in raised(FUNCTIONS[name]) if error not in section] == []


def test_every_error_that_a_docstring_of_the_package_names_exists():
    texts = {path: path.read_text("utf-8") for path in Path(ppl.__file__).parent.rglob("*.py")}
    classes = {name for text in texts.values() for name in re.findall(r"^ *class (\w+)", text, re.MULTILINE)}
    known = {*classes, *dir(builtins), "LinAlgError"}
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)) if "Raises:\n" in text else ():
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                section = (ast.get_docstring(node) or "").partition("Raises:\n")[2].partition("\n\n")[0]
                names = re.findall(r"^ +(?:\w+\.)*([A-Z]\w+): ", section, re.MULTILINE)
                assert [name for name in names if name not in known] == [], path


PASSED_ON = {
    "compile_model": {"ModelError", "ArgumentError"},
    "load_fit": {"DataError"},
    "Model.condition": {"DataError", "InferenceError", "Rejection"},
    "Posterior.log_density": {"InferenceError", "ArgumentError"},
    "Posterior.log_densities": {"InferenceError", "ArgumentError"},
    "Posterior.log_density_gradient": {"InferenceError", "ArgumentError"},
    "Posterior.log_density_gradients": {"InferenceError", "ArgumentError"},
    "Posterior.param_constrain": {"InferenceError", "Rejection", "ArgumentError"},
    "Posterior.param_unconstrain": {"DataError"},
    "Posterior.variational": {"DataError", "InferenceError", "UnknownSetting"},
    "Posterior.optimize": {"DataError", "InferenceError", "UnknownSetting"},
    "Posterior.laplace": {"DataError", "InferenceError", "UnknownSetting"},
    "Posterior.pathfinder": {"DataError", "InferenceError", "UnknownSetting"},
    "Posterior.sample": {"DataError", "InferenceError", "UnknownSetting", "MissingPackage"},
    "Model.sbc": {"ModelError", "DataError", "InferenceError"},
    "Model.prior_predictive": {"ModelError", "DataError", "InferenceError"},
    "Calibration.save_csv": {"OSError"},
    "Chains.loo": {"DataError"},
    "Chains.save": {"OSError", "MissingPackage"},
    "Chains.save_csv": {"OSError"},
    "Fit.loo": {"DataError"},
    "Fit.more": {"InferenceError"},
    "Fit.sample": {"InferenceError"},
    "Fit.save": {"OSError"},
    "Fit.save_config": {"OSError"},
    "Fit.save_csv": {"OSError"},
    "Fit.save_diagnostics": {"OSError"},
    "Fit.save_warm_start": {"OSError"},
    "Fit.stan_variable": {"UnknownName"},
}
"""Errors that come from what a function calls."""


@pytest.mark.parametrize("name", PASSED_ON)
def test_errors_that_it_passes_on_are_named(name):
    section = documentation(FUNCTIONS[name]).partition("Raises:")[2]
    assert {error for error in PASSED_ON[name] if f"{error}:" in section} == PASSED_ON[name]


@pytest.mark.parametrize("thing", TOP, ids=lambda thing: thing.__name__)
def test_what_is_exported_has_an_example(thing):
    example = documentation(thing).partition("Example:")[2]
    assert ">>> " in example


METHODS = [name for name in FUNCTIONS if name.startswith(("Fit.", "Posterior.")) and name in PASSED_ON]


@pytest.mark.parametrize("name", METHODS)
def test_a_method_that_users_call_has_an_example(name):
    assert ">>> " in documentation(FUNCTIONS[name]).partition("Example:")[2]
