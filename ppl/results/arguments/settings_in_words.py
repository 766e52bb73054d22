"""Settings of a variational run in CmdStan's words, and back."""

from typing import Any

from ppl.results.arguments.tree import Values
from ppl.results.fits.settings import Settings

FIELDS = {
    "variational.algorithm": "algorithm",
    "variational.iter": "iter",
    "variational.grad_samples": "grad_samples",
    "variational.elbo_samples": "elbo_samples",
    "variational.adapt.iter": "adapt_iter",
    "variational.tol_rel_obj": "tol_rel_obj",
    "variational.eval_elbo": "eval_elbo",
    "variational.output_samples": "draws",
    "random.seed": "seed",
    "ppl.start": "start",
    "ppl.average": "average",
    "ppl.polish": "polish",
    "ppl.step_up": "step_up",
    "ppl.linear_response": "linear_response",
    "ppl.runs": "runs",
    "ppl.noise": "noise",
    "ppl.backend": "backend",
    "ppl.device": "device",
    "ppl.sharded": "sharded",
    "ppl.quick_jit": "quick_jit",
}
"""Arguments that a field of Settings has one to one."""

OPTIONAL = {"ppl.init_scale": "init_scale", "ppl.rank": "rank", "ppl.minibatch": "minibatch"}
"""Numbers that are None in Settings where they are 0 in arguments."""

NAMES = {
    "ppl.rows": "rows",
    "ppl.ard": "ard",
    "ppl.marginal": "marginal",
    "ppl.estimator": "estimator",
    "ppl.step_rule": "step_rule",
    "ppl.stop": "stop",
}
"""Names that are None in Settings where they are empty in arguments."""

EITHER = {
    "ppl.correct": "correct",
    "ppl.resample": "resample",
    "ppl.anneal": "anneal",
    "ppl.jacobian": "jacobian",
}
"""Switches that are None in Settings where they are empty in arguments."""

SAID = {"": None, "true": True, "false": False}


def given_of(settings: Settings, eta: float) -> dict[str, Any]:
    """The arguments of a run; `eta` stands where it was given, its default 1 where it was searched for."""
    return {
        "method": "variational",
        **{path: getattr(settings, field) for path, field in FIELDS.items()},
        "variational.eta": 1.0 if settings.eta is None else float(eta),
        "variational.adapt.engaged": settings.eta is None,
        "init": _init_text(settings.init),
        **{path: _said(getattr(settings, field)) for path, field in EITHER.items()},
        **{path: getattr(settings, field) or 0 for path, field in OPTIONAL.items()},
        **{path: getattr(settings, field) or "" for path, field in NAMES.items()},
    }


def in_cmdstans_words(settings: Settings, family: str) -> dict[str, str]:
    """The family that `auto` came to, where CmdStan's clients look for an algorithm: they know no `auto`."""
    return {"variational.algorithm": family} if settings.algorithm == "auto" else {}


def settings_of(given: Values) -> dict[str, Any]:
    """What the given arguments say of Settings; like CmdStan, `eta` counts when the search is off."""
    settings = {field: given[path] for path, field in FIELDS.items() if path in given}
    if not given.get("variational.adapt.engaged", True):
        settings["eta"] = given.get("variational.eta", 1.0)
    if "init" in given:
        settings["init"] = _as_init(given["init"])
    settings |= {field: SAID[given[path]] for path, field in EITHER.items() if path in given}
    others = OPTIONAL | NAMES
    return settings | {field: given[path] or None for path, field in others.items() if path in given}


def _said(value: bool | None) -> str:
    return next(word for word, known in SAID.items() if known is value)


def _as_init(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _init_text(init: object) -> str:
    match init:
        case int() | float():
            return f"{init:g}"
        case dict():
            return "given"
        case _:
            return str(init)
