"""Programs that ask for more than there is: each is refused with its place, none is called a bug."""

import subprocess
import sys

import pytest

import ppl
from ppl import memory
from ppl.errors import InferenceError, ModelError
from ppl.programs.format import format_program
from ppl.source import SourceText
from ppl.stages import STAGES, show_stage

REAL_Y = "parameters { real y; } "
MODEL = "model { y ~ normal(0, 1); "
TOO_LARGE = {
    "a loop": REAL_Y + MODEL + "\n\n for (i in 1:2000000000) target += y * i; }",
    "a loop with a branch": REAL_Y + MODEL + "\n\n for (i in 1:2000000000) if (y > i) target += y; }",
    "a loop in transformed data": "transformed data { real s = 0;\n\n for (i in 1:2000000000) s += i; }"
    + REAL_Y + MODEL + "}",
    "a vector of parameters": "parameters {\n\n vector[1000000000] y; }" + MODEL + "}",
    "a simplex": "parameters {\n\n simplex[1000000000] y; }",
    "a matrix of parameters": "parameters {\n\n matrix[100000, 100000] y; }",
    "an array of parameters": "parameters {\n\n array[1000, 1000] vector[1000] y; }",
    "a local vector": REAL_Y + MODEL + "\n\n vector[1000000000] x; x[1] = y; target += x[1]; }",
    "a local int array": REAL_Y + MODEL + "\n\n array[1000000000] int x; x[1] = 1; target += x[1]; }",
    "a transformed parameter": REAL_Y + "transformed parameters {\n\n vector[1000000000] x; x[1] = y; }",
    "a generated quantity": REAL_Y + MODEL + "} generated quantities {\n\n vector[1000000000] x; x[1] = y; }",
    "transformed data": "transformed data { int N = 100000;\n\n matrix[N, N] m; }" + REAL_Y + MODEL + "}",
    "a fill": "data { int N; }" + REAL_Y + MODEL + "\n\n target += sum(rep_matrix(y, N, N)); }",
    "an identity": "data { int N; }" + REAL_Y + MODEL + "\n\n target += y * trace(identity_matrix(N)); }",
}  # fmt: skip


@pytest.fixture
def one_gigabyte(monkeypatch):
    monkeypatch.setattr(memory, "limits", lambda: iter([1 << 30]))


@pytest.mark.parametrize("what", TOO_LARGE)
def test_what_is_too_large_is_refused_with_its_line_and_size(what, one_gigabyte):
    with pytest.raises(InferenceError, match=r"needs \d.* [GT]iB of memory, and 1.0 GiB are free") as refused:
        ppl.compile_model(TOO_LARGE[what]).condition({"N": 100_000}).log_density_gradient([0.5])
    assert refused.value.code == "PPL977"
    assert "<string>:3:" in str(refused.value)


@pytest.mark.rotate
def test_memory_that_cannot_be_had_all_the_same_has_its_place():
    """What no size in the program tells: the product of two vectors, of 80 TB."""
    program = (
        "data { int N; }" + REAL_Y + "model {\n target += sum(rep_vector(y, N) * rep_row_vector(y, N)); }"
    )
    posterior = ppl.compile_model(program).condition({"N": 10_000_000})
    with pytest.raises(InferenceError, match=r"<string>:2:[\s\S]*nable to allocate 728\. TiB") as refused:
        posterior.log_density([0.5])
    assert refused.value.code == "PPL977"


ENDLESS = "functions {\n real f(real x) {\n  return f(x + 1); } }\n"


@pytest.mark.parametrize(
    "rest",
    [
        "parameters { real y; } model { y ~ normal(f(y), 1); }",
        "parameters { real y; } transformed parameters { real z = f(y); } model { z ~ normal(0, 1); }",
        "transformed data { real z = f(1); } parameters { real y; } model { y ~ normal(z, 1); }",
        "parameters { real y; } model { y ~ normal(0, 1); } generated quantities { real z = f(y); }",
    ],
)
def test_a_function_that_calls_itself_without_an_end_has_its_place(rest):
    with pytest.raises(InferenceError, match=r"The recursion does not end") as refused:
        posterior = ppl.compile_model(ENDLESS + rest).condition({})
        posterior.log_density_gradient([0.5])
        posterior.param_constrain([0.5], include_tp=True, include_gq=True)
    assert refused.value.code == "PPL977" and "<string>:" in str(refused.value)


def test_a_recursion_that_ends_does():
    factorial = "functions { real f(int n) { return n < 2 ? 1 : n * f(n - 1); } }\n"
    program = factorial + "parameters { real y; } model { target += y * f(100); }"
    assert ppl.compile_model(program).condition({}).log_density([1.0]) == pytest.approx(9.33262154439441e157)


NESTED = {
    "braces": "{" * 1000 + "}" * 1000,
    "ifs": "if (y > 0) {" * 300 + "target += y;" + "}" * 300,
    "else ifs": "if (y > 0) target += 1; else " * 1500 + "target += y;",
    "loops": "for (i in 1:2) " * 400 + "target += y;",
    "signs": f"target += {'-' * 3000}y;",
    "terms": f"target += {' + '.join(['y'] * 3000)};",
    "ternaries": f"target += {'y > 0 ? 1 : ' * 1500}y;",
    "brackets": f"target += sum({'[' * 1000}y{']' * 1000});",
}


@pytest.mark.rotate
@pytest.mark.parametrize("what", NESTED)
def test_what_is_nested_too_deeply_has_its_place(what):
    program = f"parameters {{ real y; }}\nmodel {{\n {NESTED[what]} }}\n"
    with pytest.raises(ModelError) as refused:
        ppl.compile_model(program)
    assert refused.value.code in ("PPL190", "PPL200", "PPL240") or refused.value.line == 3
    for stage in STAGES:
        with pytest.raises(ModelError):
            show_stage(program, stage)


@pytest.mark.rotate
@pytest.mark.parametrize("what", NESTED)
def test_what_is_nested_deeply_is_formatted_or_refused(what):
    source = SourceText(f"parameters {{ real y; }}\nmodel {{\n {NESTED[what]} }}\n")
    try:
        assert format_program(source).split() != []
    except ModelError as refused:
        assert refused.line == 3


@pytest.mark.rotate
@pytest.mark.parametrize("program", [TOO_LARGE["a local vector"], ENDLESS + "model { target += f(1); }"])
def test_the_command_says_so_and_writes_no_report(program, tmp_path):
    (tmp_path / "m.model").write_text(program)
    line = "import resource; resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)); "
    line += "from ppl.cli.main import main; main(['variational', 'm.model'])"
    ran = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 3 and "error PPL977: m.model:" in ran.stderr, ran.stderr
    assert not (tmp_path / "ppl-internal-error.txt").exists()
