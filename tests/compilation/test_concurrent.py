"""Programs are compiled to the same bytes while other processes use and damage the cache."""

import json
import os
import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

MODELS = Path(__file__).parents[2] / "models"
PROGRAMS = sorted(str(path) for path in MODELS.glob("*/*.model"))[:20]
PROCESSES, RUNS = 8, 25
CODE = """
import json, random, sys
from hashlib import sha256
from pathlib import Path
from ppl.cmdstan.stored import FORMS
from ppl.compile import model_of
from ppl.optimise.draw_by_draw import DrawByDraw

def compiled(program):
    model, parts = model_of(Path(program)), []
    for form in FORMS:
        try:
            parts.append(model.code_of(form).emitted.text)
        except DrawByDraw as error:
            parts.append(str(error))
    return sha256("".join([*parts, repr(model.lowered), repr(model.traits)]).encode()).hexdigest()

programs, runs, seed = json.loads(sys.argv[1])
order = programs if seed is None else random.Random(seed).choices(programs, k=runs)
print(json.dumps([(program, compiled(program)) for program in order]))
"""


def process(folder, *arguments):
    environment = {**os.environ, "PPL_CACHE": str(folder)}
    command = [sys.executable, "-c", CODE, json.dumps(arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def damage(folder, rng):
    """Delete, truncate or exchange entries of the cache, some of which may be gone meanwhile."""
    entries = [path for path in folder.glob("compiled/*") if path.name != "key"]
    if len(entries) < 2:
        return 0
    one, other = rng.sample(entries, 2)
    with suppress(FileNotFoundError):
        match rng.randrange(3):
            case 0:
                one.unlink()
            case 1:
                os.truncate(one, rng.randrange(one.stat().st_size + 1))
            case 2:
                held = one.read_bytes(), other.read_bytes()
                one.write_bytes(held[1]), other.write_bytes(held[0])
        return 1
    return 0


@pytest.mark.whole
@pytest.mark.long
def test_a_cache_that_is_damaged_meanwhile_gives_the_same_bytes(tmp_path):
    rng, damaged = random.Random(1), 0
    alone, _ = process("", PROGRAMS, len(PROGRAMS), None).communicate()
    expected = dict(json.loads(alone))
    running = [process(tmp_path, PROGRAMS, RUNS, seed) for seed in range(PROCESSES)]
    while any(each.poll() is None for each in running):
        damaged += damage(tmp_path, rng)
        with suppress(subprocess.TimeoutExpired):
            running[0].wait(timeout=0.05)
    seen = [pair for each in running for pair in json.loads(each.communicate()[0])]
    assert len(expected) == 20 and len(seen) == PROCESSES * RUNS and damaged > 100
    assert [program for program, compiled in seen if compiled != expected[program]] == []
