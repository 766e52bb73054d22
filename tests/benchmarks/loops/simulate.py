"""The data of the programs beside it, which loop as their users write them, simulated.

    python tests/benchmarks/loops/simulate.py FOLDER
    python -m tests.benchmarks.programs FOLDER --backend autograd jax stan

writes programs and data to the folder, the same bytes every time.
"""

import itertools
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import expit

HERE = Path(__file__).parent
Data = dict[str, Any]


def multistate_capture(rng: Generator, individuals: int) -> Data:
    """Three sites, six occasions, marked in turn at each."""
    occasions, phi, p = 6, (0.85, 0.75, 0.65), (0.7, 0.5, 0.4)
    psi = ((0.6, 0.3, 0.1), (0.3, 0.5, 0.2), (0.1, 0.3, 0.6))
    y = np.full((individuals, occasions), 4)
    first = np.arange(individuals) % (occasions - 1)
    for i, t in enumerate(first):
        site = i % 3
        y[i, t] = site + 1
        while t + 1 < occasions and rng.random() < phi[site]:
            t, site = t + 1, rng.choice(3, p=psi[site])
            if rng.random() < p[site]:
                y[i, t] = site + 1
    return {"nind": individuals, "n_occasions": occasions, "y": y.tolist(), "first": (first + 1).tolist()}


def jolly_seber_occupancy(rng: Generator, individuals: int) -> Data:
    """Seven occasions; two thirds as many again augment those that may have been there."""
    occasions, augmented = 7, individuals * 5 // 3
    y = np.zeros((augmented, occasions), dtype=int)
    for i in range(individuals):
        t, p = rng.choice(occasions, p=(0.34, *[0.11] * 6)), expit(rng.normal(0, 0.5))
        y[i, t] = rng.random() < p
        while t + 1 < occasions and rng.random() < 0.7:
            t += 1
            y[i, t] = rng.random() < p
    return {"M": augmented, "n_occasions": occasions, "y": y.tolist()}


def jolly_seber_superpopulation(rng: Generator, individuals: int, occasions: int = 8) -> Data:
    """Two thirds enter at some occasion, the others never do."""
    y = np.zeros((individuals, occasions), dtype=int)
    for i in range(individuals * 2 // 3):
        t = rng.choice(occasions)
        y[i, t] = rng.random() < 0.5
        while t + 1 < occasions and rng.random() < 0.7:
            t += 1
            y[i, t] = rng.random() < 0.5
    return {"M": individuals, "n_occasions": occasions, "y": y.tolist()}


def mark_recovery_cells(rng: Generator, individuals: int, years: int = 15) -> Data:
    """Two in five of the dead are found."""
    marked = rng.integers(1, years + 1, individuals)
    died = marked + rng.geometric(0.3, individuals) - 1
    found = (died <= years) & (rng.random(individuals) < 0.4)
    recovered = np.where(found, died, years + 1)
    return {"M": individuals, "T": years, "marked": marked.tolist(), "recovered": recovered.tolist()}


def dina_skills(rng: Generator, people: int, items: int = 20, skills: int = 5) -> Data:
    """Each item asks for one skill, or for two; slips and guesses of 15%."""
    profiles = np.array(list(itertools.product([0, 1], repeat=skills)))
    required = np.zeros((items, skills), dtype=int)
    for i in range(items):
        required[i, [i % skills, (i + i // skills) % skills if i >= items // 2 else i % skills]] = 1
    mastered = (profiles[rng.integers(0, len(profiles), people)][:, None] >= required).all(axis=2)
    right = rng.random((people, items)) < np.where(mastered, 0.85, 0.15)
    return {
        "I": items,
        "J": people,
        "K": skills,
        "C": len(profiles),
        "y": right.astype(int).tolist(),
        "alpha": profiles.tolist(),
        "Q": required.tolist(),
    }


def naive_bayes_words(rng: Generator, documents: int, words: int = 1000, each: int = 40) -> Data:
    """Documents of four topics, so many words each."""
    topics = rng.dirichlet(np.full(words, 0.1), 4)
    w = [1 + rng.choice(words, p=topics[rng.integers(4)], size=each) for _ in range(documents)]
    return {
        "K": 4,
        "V": words,
        "M": documents,
        "N": documents * each,
        "w": np.concatenate(w).tolist(),
        "doc": np.repeat(np.arange(1, documents + 1), each).tolist(),
        "alpha": [1.0] * 4,
        "beta": [0.5] * words,
    }


def mixed_logit_ragged(rng: Generator, people: int) -> Data:
    """Eight tasks a person, of two to five alternatives with three attributes."""
    tasks = people * 8
    sizes = rng.integers(2, 6, tasks)
    end = np.cumsum(sizes)
    person = np.repeat(np.arange(people), 8)
    own = np.array([0.8, -0.5, 0.3]) + 0.5 * rng.standard_normal((people, 3))
    X = rng.standard_normal((end[-1], 3)).round(3)
    choice = np.zeros(end[-1])
    for t, size in enumerate(sizes):
        rows = slice(end[t] - size, end[t])
        choice[rows.start + np.argmax(X[rows] @ own[person[t]] + rng.gumbel(size=size))] = 1
    return {
        "N": len(X),
        "T": tasks,
        "I": people,
        "K": 3,
        "choice": choice.tolist(),
        "X": X.tolist(),
        "person": (person + 1).tolist(),
        "start": (end - sizes + 1).tolist(),
        "end": end.tolist(),
    }


def kalman_four_states(rng: Generator, times: int) -> Data:
    """A trend, a cycle of some twelve steps, and noise."""
    level, slope, cycle = 0.0, 0.02, 1.0 + 0.0j
    y = []
    for _ in range(times):
        level, slope = level + slope + 0.1 * rng.standard_normal(), slope + 0.01 * rng.standard_normal()
        cycle = 0.95 * np.exp(-0.5j) * cycle + 0.3 * complex(*rng.standard_normal(2))
        y.append(level + cycle.real + 0.3 * rng.standard_normal())
    return {"T": times, "y": np.round(y, 4).tolist()}


SIZES: dict[Callable[..., Data], tuple[dict[str, int], dict[str, int]]] = {
    multistate_capture: ({"individuals": 250}, {"individuals": 8}),
    jolly_seber_occupancy: ({"individuals": 80}, {"individuals": 6}),
    jolly_seber_superpopulation: ({"individuals": 535}, {"individuals": 15, "occasions": 4}),
    mark_recovery_cells: ({"individuals": 700}, {"individuals": 12, "years": 4}),
    dina_skills: ({"people": 200}, {"people": 4, "items": 6, "skills": 3}),
    naive_bayes_words: ({"documents": 100}, {"documents": 3, "words": 9, "each": 4}),
    mixed_logit_ragged: ({"people": 60}, {"people": 3}),
    kalman_four_states: ({"times": 200}, {"times": 6}),
}
"""The sizes that are timed, and those of a test."""


def simulated(small: bool = False) -> dict[str, Data]:
    """The data of each program by its name."""
    return {f.__name__: f(np.random.default_rng(1), **sizes[small]) for f, sizes in SIZES.items()}


def write(folder: Path, small: bool = False) -> None:
    """Write each program with its data."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in simulated(small).items():
        shutil.copy(HERE / f"{name}.stan", folder)
        (folder / f"{name}.data.json").write_text(json.dumps(data) + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
