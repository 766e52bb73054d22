"""Programs with discrete parameters: beside their sums by hand, beside themselves at ten times the size, and
beside the enumeration of NumPyro.
"""

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import ppl
from tests.benchmarks.clock import alternate, head, machine, row
from tests.benchmarks.peers import process
from tests.benchmarks.problems import MODELS, Data, Problem
from tests.benchmarks.programs import microseconds, on_backend

TIMES = 10
LONGER: Mapping[str, tuple[str, ...]] = {
    "change_point": ("T",),
    "cormack_jolly_seber": ("I",),
    "dawid_skene": ("N", "I"),
    "discrete_mixture": ("N",),
    "hidden_markov": ("T",),
    "latent_class": ("N",),
    "zero_inflated_poisson": ("N",),
}
"""The sizes that grow with the data."""

CLI = Path(sys.executable).with_name("ppl")


def table(problems: Sequence[Problem], rounds: int) -> Iterator[str]:
    yield machine()
    yield ""
    yield from head("program", "size", "backend", "automatic", "by hand", "ratio", "automatic, times")
    for name in LONGER:
        yield from twins(name, rounds)
    if process.PEERS_PYTHON:
        yield ""
        yield from head("program", "ppl, autograd", "ppl, jax", "numpyro", "cold ppl", "cold numpyro")
        yield beside_numpyro("hidden_markov", data_of("hidden_markov"), rounds)
        yield beside_numpyro("discrete_mixture", mixture_of(1_000), rounds)


def data_of(name: str) -> Data:
    found: Data = json.loads((MODELS / name / f"{name}.data.json").read_text())
    return found


def longer(name: str, data: Data) -> Data:
    """The data over and over; the items of raters are others each time."""
    rows = data[LONGER[name][0]]
    made = {k: list(v) * TIMES if np.ndim(v) and len(v) == rows else v for k, v in data.items()}
    if "item" in data:
        made["item"] = [i + k * data["I"] for k in range(TIMES) for i in data["item"]]
    return {**made, **{size: data[size] * TIMES for size in LONGER[name]}}


def mixture_of(rows: int) -> Data:
    rng = np.random.default_rng(3)
    z = rng.choice(3, rows, p=[0.3, 0.35, 0.35])
    y = rng.normal(np.array([-4.0, 0.0, 5.0])[z], np.array([1.0, 0.7, 1.5])[z])
    return {"N": rows, "K": 3, "y": y.round(3).tolist()}


def twins(name: str, rounds: int) -> Iterator[str]:
    """Microseconds of CPU a gradient, automatic and by hand; nan where a program is out of JAX's reach."""
    programs = {"automatic": MODELS / name / f"{name}.model", "by hand": MODELS / name / "by_hand.stan"}
    first: dict[str, float] = {}
    for size, data in ((1, data_of(name)), (TIMES, longer(name, data_of(name)))):
        made = {way: ppl.compile_model(file).condition(data) for way, file in programs.items()}
        u = np.random.default_rng(0).normal(0.0, 0.1, made["by hand"].param_unc_num())
        for backend in ("autograd", "jax"):
            targets = {way: on_backend(posterior, backend) for way, posterior in made.items()}
            times = gradients(targets, u, rounds)
            ours, theirs = (times.get(way, float("nan")) for way in programs)
            grown = ours / first.setdefault(backend, ours)
            yield row(name, size, backend, ours, theirs, ours / theirs, grown)


def gradients(targets: Mapping[str, Any], u: Any, rounds: int) -> dict[str, float]:
    tasks = {
        way: lambda target=target: microseconds(lambda: target.log_density_gradient(u))
        for way, target in targets.items()
        if target is not None
    }
    return alternate(rounds, tasks)


def beside_numpyro(name: str, data: Data, rounds: int) -> str:
    """Microseconds a gradient; seconds by the clock from files to draws, with nothing compiled before."""
    program = MODELS / name / f"{name}.model"
    posterior = ppl.compile_model(program).condition(data)
    u = np.random.default_rng(0).normal(0.0, 0.1, posterior.param_unc_num())
    times = gradients({b: on_backend(posterior, b) for b in ("autograd", "jax")}, u, rounds)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        file = folder / "data.json"
        file.write_text(json.dumps(data))
        request = {"name": name, "data": str(file)}
        theirs = process.answer(process.peer("run_numpyro_enumeration.py", request))["microseconds"]
        fit = {**request, "iterations": 5_000, "output": str(folder / "peer.csv")}
        words = [CLI, "variational", program, file, "--seed=1", "-o", folder / "ours.csv"]
        environment = {**os.environ, "JAX_COMPILATION_CACHE_DIR": str(folder)}
        cold = {
            "ppl": lambda: process.timed(words, env=environment).seconds,
            "numpyro": lambda: process.timed(process.peer("run_numpyro_enumeration.py", fit)).seconds,
        }
        seconds = alternate(1, cold)
    return row(name, times["autograd"], times["jax"], theirs, seconds["ppl"], seconds["numpyro"])
