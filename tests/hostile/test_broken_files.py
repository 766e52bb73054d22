"""Checkpoints, saved fits and files of draws that are cut short or damaged are refused by name."""

import json
import random

import numpy as np
import pytest

import ppl
from ppl.results.files.formats import save_draws
from ppl.results.files.readers import read_file
from ppl.results.fits.fit import variational
from ppl.run import checkpoint
from ppl.run.checksum import with_checksum
from ppl.run.state_json import encode

PROGRAM = (
    "data { real y; } parameters { real mu; vector[2] x; } model { mu ~ normal(y, 1); x ~ normal(mu, 1); }"
)
DATA = {"y": 1.0}
SHORT = {"iter": 100, "eval_elbo": 50, "draws": 8, "move": False, "resample": False, "backend": "autograd"}
# The default's would end at the start, before any stage of the optimisation.
STAGES = {**SHORT, "algorithm": "meanfield"}
# A start is read and gone on from in a few steps; no step size is searched for.
FEW_STEPS = {**SHORT, "iter": 20, "eval_elbo": 10, "eta": 0.1}
OTHERS = (None, True, -1, 1e308, "", "x", [], {}, [[]], {"record": "Run"}, {"array": "", "dtype": "O"})


@pytest.fixture(scope="module")
def model():
    return ppl.compile_model(PROGRAM)


@pytest.fixture(scope="module")
def written(model, tmp_path_factory):
    """A file of each kind, and how it is read."""
    folder = tmp_path_factory.mktemp("whole")
    posterior, patch = model.condition(DATA), pytest.MonkeyPatch()
    patch.setattr(checkpoint.CheckpointOptions, "discard", lambda options, runs: None)
    fit = variational(posterior, checkpoint=folder / "kept", checkpoint_every=0, **STAGES)
    patch.undo()
    fit.save(folder / "fit.json")
    fit.save(folder / "init.json")
    for suffix in ("csv", "npz", "parquet"):
        save_draws(fit, folder / f"draws.{suffix}")
    readers = {
        "kept": lambda path: variational(posterior, checkpoint=path, resume=True, **STAGES),
        "fit.json": lambda path: ppl.load_fit(path, model, DATA),
        "init.json": lambda path: variational(posterior, init=path, **FEW_STEPS),
        **{f"draws.{suffix}": read_file for suffix in ("csv", "npz", "parquet")},
    }
    return {name: ((folder / name).read_bytes(), read) for name, read in readers.items()}


def refused_or_read(path, content, read):
    """Whether it is refused by a sentence that names the file; anything but a PPLError fails the test."""
    path.write_bytes(content)
    try:
        read(path)
    except ppl.DataError as error:
        assert str(path) in str(error)
        return True
    return False


KINDS = ["kept", "fit.json", "init.json", "draws.csv", "draws.npz", "draws.parquet"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_cut_short_anywhere_is_refused(written, kind, tmp_path, sample, tried):
    content, read = written[kind]
    lengths = sample(range(len(content.rstrip())), 60)
    passed = [n for n in lengths if not refused_or_read(tmp_path / kind, content[:n], read)]
    # A CSV file that ends with a line, and so with a draw, is one of fewer draws.
    assert [n for n in passed if kind != "draws.csv" or content[n - 1 : n] != b"\n"] == []
    tried("files cut short", len(lengths))


@pytest.mark.rotate
@pytest.mark.parametrize("kind", KINDS)
def test_a_byte_that_is_another_is_refused_or_harmless(written, kind, tmp_path, sample, tried):
    content, read = written[kind]
    rng = random.Random(1)
    places = sample([rng.randrange(len(content.rstrip())) for _ in range(2000)], 60)
    for place in places:
        broken = bytearray(content)
        broken[place] ^= 1 << rng.randrange(8)
        refused = refused_or_read(tmp_path / kind, bytes(broken), read)
        # Another last digit, or E for e, may be the same number: then nothing is damaged.
        assert refused or kind.startswith("draws") or json.loads(broken) == json.loads(content)
    tried("files with another byte", len(places))


def paths_in(value, path=()):
    """Where something stands in a record of JSON."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths_in(item, (*path, key))


def replaced(value, path, other):
    if not path:
        return other
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], other)
    return copy


@pytest.mark.parametrize("kind", ["kept", "fit.json", "init.json"])
def test_json_of_another_type_is_refused(written, kind, tmp_path, sample, tried):
    content, read = written[kind]
    record = json.loads(content)
    cases = sample([(path, other) for path in paths_in(record) for other in OTHERS], 60)
    changed = 0
    for path, other in cases:
        if json.dumps(broken := replaced(record, path, other)) != json.dumps(record):
            assert refused_or_read(tmp_path / kind, json.dumps(broken).encode(), read), (path, other)
            changed += 1
    tried("records with another type", changed)


WITHIN = ("stages", "settings", "family", "params", "start", "trace", "eta_scores", "outcome", "spread")
NONSENSE = (
    *OTHERS,
    0,
    0.5,
    -(10**12),
    10**12,
    "nan",
    *map(encode, (np.zeros(3), np.ones((2, 2)), np.array(["a"]))),
)


@pytest.mark.rotate
@pytest.mark.parametrize("kind", ["kept", "fit.json", "init.json"])
def test_nonsense_with_a_digest_of_its_own_is_refused_or_harmless(written, kind, tmp_path, sample, tried):
    content, read = written[kind]
    record = {name: value for name, value in json.loads(content).items() if name != "sha256"}
    paths = [path for path in paths_in(record) if path and path[0] in WITHIN]
    cases = sample([(path, other) for path in paths for other in NONSENSE], 60)
    refused = 0
    for path, other in cases:
        broken = json.dumps(with_checksum(replaced(record, path, other)))
        try:
            refused += refused_or_read(tmp_path / kind, broken.encode(), read)
        except ppl.InferenceError as error:
            # A count in a record that somebody made is as large as any: the memory for it is what is wrong.
            assert other == 10**12 and "memory" in str(error), (path, other)
            refused += 1
    assert kind == "init.json" or refused > len(cases) // 3
    tried("records of nonsense", len(cases))


NEVER_LEFT = {
    "an iteration before the first": lambda stages: run_of(stages).update(iteration=-(10**12)),
    "a seed with children without end": lambda stages: stages["start"]["generators"][0].update(
        children=10**12
    ),
    "a generator of another kind": lambda stages: stages["start"]["generators"][0].update(state={}),
    "a state of another stage": lambda stages: stages["loop end"].update(stages["start"]),
    "params of another size": lambda stages: run_of(stages).update(average=encode(np.ones(3))),
}


def run_of(stages):
    return stages["loop end"]["state"]["parts"]["run"]["parts"]


@pytest.mark.parametrize("what", NEVER_LEFT)
def test_a_state_that_no_run_left_is_refused(written, what, tmp_path):
    content, read = written["kept"]
    record = {name: value for name, value in json.loads(content).items() if name != "sha256"}
    del record["stages"]["end"]
    NEVER_LEFT[what](record["stages"])
    assert refused_or_read(tmp_path / "kept", json.dumps(with_checksum(record)).encode(), read)


@pytest.mark.parametrize("kind", ["kept", "fit.json", "init.json"])
def test_json_nested_too_deep_is_refused(written, kind, tmp_path):
    assert refused_or_read(tmp_path / kind, b"[" * 100_000, written[kind][1])


def test_the_digest_is_of_the_content_alone():
    assert with_checksum({"a": 1, "b": [2.5]})["sha256"] == with_checksum({"b": [2.5], "a": 1})["sha256"]
