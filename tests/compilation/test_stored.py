"""What is stored of a compilation is that of the program."""

import json
from pathlib import Path

import numpy as np
import pytest

from ppl.cmdstan.stored import FORMS, stored, stored_model
from ppl.compilation import phases, programs
from ppl.compilation.nodes_json import NotStored, at, decoded, encoded
from ppl.compile import compile_model
from ppl.errors import ModelError
from ppl.optimise.draw_by_draw import DrawByDraw

MODELS = Path(__file__).parents[2] / "models"
COMPLEX = "parameters { real x; } generated quantities { complex z = x + 2i; print(z, 1e400); }"
NAMES = ("eight_schools", "election88", "stochastic_volatility", "gaussian_mixture", "influenza_sir")
PROGRAMS = [MODELS / name / f"{name}.model" for name in NAMES]
PLAIN = "parameters { real x; } model { x ~ normal(0, 1); }"


def read(value, source):
    return decoded(json.loads(json.dumps(encoded(value, (source,)))), (source,))


@pytest.mark.parametrize("program", [*PROGRAMS, COMPLEX], ids=str)
def test_what_is_read_back_is_what_was_written(program):
    model = compile_model(program)
    assert read(model.lowered, model.source) == model.lowered
    assert read(model.traits, model.source) == model.traits
    for form in FORMS:
        try:
            emitted = model.code_of(form).emitted
        except DrawByDraw:
            continue
        assert read(emitted, model.source) == emitted


def test_a_model_read_back_computes_the_same(monkeypatch):
    (program, data) = (MODELS / "eight_schools" / f"eight_schools.{end}" for end in ("model", "data.json"))
    model, text = compile_model(program), stored(program)
    monkeypatch.setattr("ppl.programs.checked.analyse", None)  # no phase runs
    again = stored_model(program, text, softplus=False)
    assert again.traits == model.traits
    u = np.linspace(-1, 1, 10)
    one, other = (m.condition(data) for m in (model, again))
    assert one.log_density(u) == other.log_density(u)
    for a, b in zip(one.log_density_gradient(u, True), other.log_density_gradient(u, True), strict=True):
        assert np.array_equal(a, b)
    less, prior = other.without_prior("mu")
    assert less.log_density(u) != other.log_density(u) and prior.tolist() == [0]


def test_another_version_compiles_the_program():
    record = {**json.loads(stored(PLAIN)), "package": "another"}
    assert stored_model(PLAIN, json.dumps(record), softplus=True).compilation.record is None


def test_functions_made_for_a_program_are_not_stored():
    model = compile_model(MODELS / "gp_poisson" / "gp_poisson.model")
    with pytest.raises(NotStored):
        encoded(model.lowered, (model.source,))
    assert [*json.loads(stored(model.source.name))["parts"]] == ["has discrete", "traits"]


def test_a_distribution_is_addressed_by_its_own_module():
    """A table imports all of them: 60 modules."""
    model = compile_model("parameters { real<lower=0> x; } model { x ~ weibull(1, 2); }")
    addresses = str(encoded(model.lowered, (model.source,)))
    assert "distributions.weibull:" in addresses and ".table:" not in addresses


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_an_address_is_looked_for_in_the_modules_of_its_functions(program, monkeypatch):
    """In all modules it takes as long as to compile a program."""
    model = compile_model(program)
    monkeypatch.setattr("ppl.compilation.nodes_json.addresses", None)
    assert encoded(model.lowered, (model.source,))


def test_an_address_is_one_of_the_library():
    with pytest.raises(ValueError, match="is not in the library"):
        at("os:system")


# --- In the user's cache ---------------------------------------------------------------------------


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """A cache of its own, which this process uses."""
    monkeypatch.setenv("PPL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(phases, "in_cache", programs.in_cache)
    return tmp_path / "cache" / "compiled"


def is_compiled(program, monkeypatch, **settings):
    """Whether a phase of the compiler runs."""
    with monkeypatch.context() as patch:
        patch.setattr("ppl.programs.checked.analyse", None)
        try:
            compile_model(program, **settings)
        except TypeError:
            return True
        return False


def test_a_program_is_compiled_once_for_its_text_and_settings(cache, monkeypatch):
    scale = PLAIN.replace("real x;", "real<lower=0> x;")
    for program in (PLAIN, scale):
        compile_model(program)
    assert not is_compiled(PLAIN, monkeypatch)
    assert not is_compiled(PLAIN, monkeypatch, positive_transform="log")
    for settings in ({"positive_transform": "softplus"}, {"without": ["dead-code"]}, {"most_entries": 9}):
        assert is_compiled(scale, monkeypatch, **settings)
    assert is_compiled(f"{PLAIN} ", monkeypatch)
    monkeypatch.setattr(programs, "package", lambda: "another")
    assert is_compiled(PLAIN, monkeypatch)


def test_warnings_and_errors_come_again(cache, monkeypatch):
    unused = "parameters { real x; } model { real unused; x ~ normal(0, 1); }"
    texts = []
    for _ in range(2):
        with pytest.warns() as warned:
            compile_model(unused)
        texts.append([str(each.message) for each in warned])
    assert texts[0] == texts[1] and "PPL002" in texts[0][0]
    for _ in range(2):
        with pytest.raises(ModelError, match="PPL"):
            compile_model("parameters { real x; } model { x ~ normal(0, y); }")


def test_an_included_file_that_changes_is_read_again(cache, monkeypatch, tmp_path):
    (tmp_path / "f.stan").write_text("real f(real x) { return x + 1; }\n")
    program = tmp_path / "m.stan"
    program.write_text(f"functions {{\n#include f.stan\n}}\n{PLAIN.replace('normal(0', 'normal(f(0)')}")
    value = compile_model(program).condition({}).log_density([0.0])
    assert not is_compiled(program, monkeypatch)
    assert compile_model(program).condition({}).log_density([0.0]) == value
    (tmp_path / "f.stan").write_text("real f(real x) { return x + 2; }\n")
    assert is_compiled(program, monkeypatch)
    assert compile_model(program).condition({}).log_density([0.0]) == value - 1.5
    (tmp_path / "f.stan").unlink()
    with pytest.raises(ModelError, match="PPL180"):
        compile_model(program)


def test_a_place_in_an_included_file_is_read_back(cache, tmp_path):
    (tmp_path / "f.stan").write_text('\nreal f(real x) { reject("no"); return x; }\n')
    program = tmp_path / "m.stan"
    program.write_text(f"functions {{\n#include f.stan\n}}\n{PLAIN.replace('normal(0', 'normal(f(0)')}")
    said = {compile_model(program).condition({}).explain([0.0]) for _ in range(2)}
    assert len(said) == 1 and "f.stan:2" in said.pop()


def test_a_program_with_discrete_parameters_computes_the_same(cache):
    mixture = """
        data { int N; vector[N] y; }
        parameters { real m; array[N] int<lower=0, upper=1> z; }
        model { m ~ normal(0, 1); for (n in 1:N) { z[n] ~ bernoulli(0.3); y[n] ~ normal(m + z[n], 1); } }
    """
    data = {"N": 3, "y": [0.0, 1.0, 2.0]}
    one, other = (compile_model(mixture).condition(data) for _ in range(2))
    assert one.log_density([0.3]) == other.log_density([0.3])
    assert one.model.plan == other.model.plan


WRONG = [
    *("", "{}", "3", "null", "[]", '{"Const":[1]}', '{"Const":[1,2,3]}', '{"Nothing":[1]}'),
    *('{"at":"ppl.stdlib.nowhere:X"}', '{"at":"os:system"}', '{"at":7}', '{"source":9}', "[" * 5000),
]


@pytest.mark.parametrize("text", WRONG, ids=lambda text: text[:20])
def test_wrong_content_is_compiled_again(text, cache, monkeypatch):
    """With its own key: whatever is wrong with the cache costs time and nothing else."""
    right = compile_model(PLAIN)
    monkeypatch.setattr("ppl.cache.StoredParts.read", lambda self, part: text)
    again = compile_model(PLAIN)
    assert again.condition({}).log_density([0.7]) == right.condition({}).log_density([0.7])
    assert again.traits == right.traits
    assert again.plan == right.plan


def test_programs_as_deep_as_can_be_compute_the_same(cache):
    values = {}
    with pytest.raises(ModelError, match="nested too deeply"):
        for depth in range(60, 1000, 8):
            negated = f"{'-(1 + ' * depth}x{')' * depth}"
            program = f"parameters {{ real x; }} model {{ x ~ normal({negated}, 1); }}"
            one, other = (compile_model(program).condition({}).log_density([0.7]) for _ in range(2))
            values[depth] = one, other
    assert values and all(one == other for one, other in values.values())


def test_what_a_user_adds_to_the_library_is_not_stored(cache):
    from ppl.extend import unary
    from ppl.stdlib.library import standard

    values = []
    for shift in (0.0, 1.0):
        own = unary("shifted", "x + shift", lambda xp, x, shift=shift: x + shift)
        program = "parameters { real x; } model { target += -square(shifted(x)); }"
        model = compile_model(program, library=standard().extended(functions=[own]))
        values.append(model.condition({}).log_density([0.0]))
    assert values == [0.0, -1.0]
