"""Arguments of public functions, held to their annotations: a wrong one is an ArgumentError with its name."""

from collections.abc import Callable, Collection, Mapping
from functools import cache, wraps
from inspect import Parameter, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ppl.errors import ArgumentError, UnknownSetting, in_a_line
from ppl.scalars import python_number
from ppl.spelling import nearest

F = TypeVar("F", bound=Callable[..., Any])
ELSEWHERE = ("self", "data", "progress", "keywords")
"""Arguments that are checked where they are read, with messages of their own."""
OF_OTHERS: Mapping[str, str] = {
    **dict.fromkeys(("stan_file", "model_code", "program_code"), "the program, or its path, comes first."),
    **dict.fromkeys(("cpp_options", "stanc_options", "exe_file"), "there is no C++ compiler to set."),
    "inc_warmup": "draws of the warmup are not stored.",
    "percentiles": 'write interval=0.9, or np.percentile(fit["mu"], [5, 95]).',
    "hdi_prob": "write interval=0.9, hdi=True.",
    "var": "write name.",
    "var_names": 'the variables come first, as in summary(["mu", "theta"]).',
    "round_to": "write sig_figs=3.",
}
"""Arguments as CmdStanPy, PyStan and ArviZ call them, and what to write."""
CALLS: Mapping[str, str] = {
    "condition": "name each variable, condition(x=x, y=y).",
    "draws": 'one variable is fit["mu"], some columns are fit.draws_pd(["mu", "theta[1]"]).',
    "predict": "data are new rows; replicated data of the rows of the fit are fit.predictive().",
}
"""The calls to write where arguments do not fit, by function."""
WORDS: Mapping[Any, str] = {
    bool: "True or False",
    int: "an integer of at least 0",
    float: "a number",
    str: "a string",
    Path: "a path",
    NoneType: "None",
    Mapping: 'a dict by name, {"a": ...}',
    Callable: "a function, such as np.exp",
}


def checks(function: F) -> F:
    """The function with its arguments checked; arrays of numbers are left to `numbers`.

    Raises:
        ArgumentError: an argument is none of what its annotation names; all integers are counts or seeds.
            Or one is missing, or has no name where it needs one.
        UnknownSetting: there is no argument of that name.
    """
    own_signature = signature(function)
    names = list(parameters := own_signature.parameters)
    takes_any = any(each.kind is Parameter.VAR_KEYWORD for each in parameters.values())

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if not takes_any and (unknown := [name for name in kwargs if name not in parameters]):
            near = nearest(unknown[0], own := [name for name in names if name != "self"])
            advice = {name: OF_OTHERS.get(name) or _advice(name, own) for name in unknown}
            raise UnknownSetting(function.__name__, advice, near)
        try:
            own_signature.bind(*args, **kwargs)
        except TypeError as error:
            instead = filter(None, (str(error), CALLS.get(function.__name__)))
            raise ArgumentError(f"{function.__name__}(): {'; '.join(instead)}") from None
        kinds = _kinds(function)
        args = tuple(map(python_number, args))
        kwargs = {name: python_number(value) for name, value in kwargs.items()}
        for name, value in (*zip(names, args, strict=False), *kwargs.items()):
            kind = kinds.get(name, Any)
            as_annotated = kind is Any or (kind is type(value) and kind is not int)
            if not as_annotated and not is_a(value, kind):
                what = f"{name} is {repr_of(value)}, but must be {' or '.join(_words(kind))}"
                raise ArgumentError(f"{function.__name__}(): {what}")
        return function(*args, **kwargs)

    return cast(F, checked)


def numbers(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """An argument as an array of doubles.

    Raises:
        ArgumentError: it is none.
    """
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} is {repr_of(value)}, but must be an array of numbers") from None


def repr_of(value: Any) -> str:
    """A value in a message, of a long one the beginning."""
    return f"{in_a_line(repr(value))} ({type(value).__name__})"


def _advice(name: str, known: Collection[str]) -> str:
    near = nearest(name, known)
    return f"did you mean {near}?" if near else f"it has {', '.join(known) or 'none'}."


@cache
def _kinds(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The annotations by name; those of packages that may be absent are left out."""
    kinds = {}
    for name, parameter in signature(function).parameters.items():
        plain = parameter.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
        kind = parameter.annotation
        if plain and name not in ELSEWHERE and kind is not ArrayLike:
            kinds[name] = eval(kind, function.__globals__) if isinstance(kind, str) else kind
    return kinds


def form_of(kind: Any) -> Any:
    """The class, Union or Literal of an annotation; of NDArray, a `type` alias from NumPy 2.5, ndarray."""
    form = get_origin(kind) or kind
    meaning = getattr(form, "__value__", form)
    return get_origin(meaning) or meaning


def is_a(value: Any, kind: Any) -> bool:
    """Whether a value is what an annotation says; integers are counts or seeds, a list does for a tuple."""
    form, args = form_of(kind), get_args(kind)
    if form is Any:
        return True
    if form in (Union, UnionType):
        return any(is_a(value, one) for one in args)
    if form is Literal:
        return isinstance(value, str) and value in args
    if form in (bool, int, float):
        return _is_number(value, form)
    if issubclass(form, np.ndarray):
        return isinstance(value, np.ndarray)
    if issubclass(form, Mapping):
        return isinstance(value, Mapping) and all(
            is_a(key, args[0]) and is_a(item, args[1]) for key, item in value.items()
        )
    if getattr(form, "_is_protocol", False):
        return all(hasattr(value, name) for name in vars(form) if not name.startswith("_"))
    if args and issubclass(form, Collection):
        form = tuple | list if form is tuple else form
        many = isinstance(value, form) and not isinstance(value, str | np.ndarray)
        return many and all(is_a(item, args[0]) for item in value)
    return isinstance(value, form)


def _is_number(value: Any, kind: type) -> bool:
    if isinstance(value, bool | np.bool_):
        return kind is bool
    if kind is int:
        return isinstance(value, int) and value >= 0
    return kind is float and isinstance(value, int | float)


def _words(kind: Any) -> list[str]:
    form, args = form_of(kind), get_args(kind)
    if form in (Union, UnionType):
        return [word for one in args for word in _words(one)]
    if form is Literal:
        return [repr(word) for word in args]
    return [WORDS.get(form) or f"a {getattr(form, '__name__', form)}"]
