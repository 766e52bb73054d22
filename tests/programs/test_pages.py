"""Every code has a page, its wrong example gives that code and its right example none; golden messages.

`PPL_UPDATE_GOLDEN=1 pytest tests/programs/test_pages.py` writes the messages in tests/golden/bad anew.
"""

import os
import re
from pathlib import Path

import pytest
from laws.every import every

import ppl
from ppl.errors import DataError, ModelError
from ppl.programs.pages import Page, pages
from ppl.programs.pedantic import lints
from ppl.source import SourceText
from ppl.structure.discrete.check import checked

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "bad"
WITH_PROGRAMS = [p for p in pages().values() if "wrong" in p.examples and "program" not in p.examples]
WITH_DATA = [p for p in pages().values() if "program" in p.examples]
OF_THE_DOCTOR = {p.code for p in pages().values() if "before" in p.examples}
"""Findings about a program with its data (tests/results/doctor)."""
WITHOUT_EXAMPLE = {
    "PPL182",
    "PPL184",
    "PPL190",
    "PPL900",
    "PPL905",
    "PPL970",
    "PPL971",
    "PPL972",
    "PPL973",
    "PPL974",
    "PPL975",
    "PPL976",
    "PPL977",
    "PPL978",
    "PPL979",
    "PPL980",
    "PPL981",
    "PPL982",
}
"""Bytes, a thousand brackets, and troubles of a run, which no program shows alone."""


def reported(text: str, name: str) -> tuple[list[str], str]:
    """The codes of all errors and lints, and how they read."""
    try:
        found = lints(*checked(SourceText(text, name)))
    except ModelError as error:
        return [e.code for e in (error, *error.others)], str(error)
    return [c.code for c in found], "\n\n".join(c.describe() for c in found)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a file to include."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "part.stan").write_text("parameters {\n  real mu;\n}\n")
    return tmp_path


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    sources = [*ROOT.glob("ppl/**/*.py"), *ROOT.glob("cli/*.py"), *ROOT.glob("cli/commands/*.py")]
    used = {code for file in sources for code in re.findall(r'"(PPL\d{3})"', file.read_text())}
    assert used == set(pages())


@every("page", pages().values())
def test_a_page_has_a_paragraph_and_both_examples(page: Page) -> None:
    assert page.title and page.text.endswith(".")
    if page.code not in WITHOUT_EXAMPLE | OF_THE_DOCTOR:
        assert {"wrong", "right"} <= set(page.examples)


@every("page", WITH_PROGRAMS)
def test_the_wrong_example_gives_the_code(page: Page, folder: Path) -> None:
    name = f"{page.code}.model"
    (folder / name).write_text(page.examples["wrong"])
    codes, text = reported(page.examples["wrong"], name)
    errors = [code for code in codes if not code.startswith("PPL0")]
    assert (errors or codes) == [page.code]
    hold(page.code, text)


@pytest.mark.rotate
@every("page", WITH_PROGRAMS)
def test_the_right_example_compiles(page: Page, folder: Path) -> None:
    (folder / f"{page.code}.model").write_text(page.examples["right"])
    codes, text = reported(page.examples["right"], f"{page.code}.model")
    assert page.code not in codes and all(code.startswith("PPL0") for code in codes), text
    ppl.compile_model(page.examples["right"]) if "#include" not in page.examples["right"] else None


@pytest.mark.parametrize("page", WITH_DATA, ids=lambda page: page.code)
def test_wrong_data_are_refused_under_the_code_and_right_data_taken(page: Page, folder: Path) -> None:
    model = ppl.compile_model(page.examples["program"])
    Path("right.json").write_text(page.examples["right"])
    model.condition("right.json")
    Path("wrong.json").write_text(page.examples["wrong"])
    with pytest.raises(DataError) as caught:
        model.condition("wrong.json")
    assert caught.value.code == page.code
    hold(page.code, str(caught.value))


POSITIVE = "parameters { real<lower=0> mu; } model { mu ~ exponential(1); }"
SUMMED = "parameters { real mu; } model { mu ~ normal(0, 1); }"


def fit(program: str, **settings: object) -> None:
    ppl.compile_model(program).condition({}).variational(seed=1, **settings)


FAILURES = {
    "PPL182": lambda: (
        Path("m.model").write_bytes(b"model { } // \xe9"),
        ppl.compile_model("m.model"),
    ),
    "PPL184": lambda: (
        Path("m.model").write_text("#include part.stan\n" * 1001),
        ppl.compile_model("m.model"),
    ),
    "PPL190": lambda: ppl.compile_model(f"model {{\n  target += {'-' * 4000}1;\n}}\n"),
    "PPL900": lambda: ppl.compile_model(POSITIVE).condition({}).param_unconstrain({"mu": -1.0}),
    "PPL905": lambda: ppl.compile_model(SUMMED).condition("data.xlsx"),
    "PPL970": lambda: fit(SUMMED, grad_samples=0),
    "PPL971": lambda: fit("parameters { real mu; }\nmodel {\n  1 ~ normal(mu, -1);\n}\n"),
    "PPL972": lambda: (
        ppl.compile_model('parameters { real mu; }\ntransformed parameters {\n  reject("mu is ", mu);\n}\n')
        .condition({})
        .param_constrain([0.0], include_tp=True)
    ),
    "PPL973": lambda: fit("parameters { vector[2] mu; }\nmodel {\n  target += mu[3];\n}\n"),
    "PPL974": lambda: fit(SUMMED, minibatch=2),
    "PPL975": lambda: fit(SUMMED, algorithm="lowrank", noise="logistic"),
    "PPL977": lambda: ppl.compile_model(
        "functions {\n  real f(real x) {\n    return f(x);\n  }\n}\ntransformed data {\n  real z = f(1);\n}\n"
    ).condition({}),
    "PPL976": lambda: fit("parameters { real mu; }\nmodel {\n}\n"),
    "PPL978": lambda: fit(SUMMED, algoritm="fullrank"),
    "PPL979": lambda: ppl.compile_model("parameters {\n  real mu;\n}\n").sbc({}),
    "PPL980": lambda: (
        ppl.compile_model("data { real y; } parameters { real mu; }\nmodel {\n  y - mu ~ normal(0, 1);\n}\n")
        .condition({"y": 1})
        .variational(draws=2)
        .log_lik()
    ),
    "PPL981": lambda: (
        ppl.compile_model("data { real y; } parameters { real mu; }\nmodel {\n  log(y) ~ normal(mu, 1);\n}\n")
        .condition({"y": 1})
        .variational(draws=2)
        .predictive()
    ),
    "PPL982": lambda: ppl.compile_model(
        "data {\n  real x;\n}\nparameters {\n  real mu;\n}\nmodel {\n  mu ~ normal(x, 1);\n}\n"
    ).condition({"x": None}, missing="model"),
}


@pytest.mark.parametrize("code", FAILURES)
def test_what_no_program_shows_alone_has_its_code(code: str, folder: Path) -> None:
    with pytest.raises(ppl.PPLError) as caught:
        FAILURES[code]()
    assert caught.value.code == code
    hold(code, str(caught.value))


def test_every_code_has_a_golden_message() -> None:
    assert (
        {file.stem for file in GOLDEN.glob("*.txt")}
        == set(pages()) - OF_THE_DOCTOR
        == set(FAILURES) | {page.code for page in [*WITH_PROGRAMS, *WITH_DATA]}
    )


def hold(code: str, text: str) -> None:
    """Hold a message to its golden file, or write that anew."""
    golden = GOLDEN / f"{code}.txt"
    if os.environ.get("PPL_UPDATE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(f"{text}\n")
    assert f"{text}\n" == golden.read_text()


@pytest.mark.parametrize(
    "deep", ["-" * 400 + "a", "+".join("a" * 400), "+".join("a" * 9000), "exp(" * 400 + "a" + ")" * 400]
)
def test_what_is_nested_too_deep_has_its_code(deep: str) -> None:
    with pytest.raises(ModelError) as caught:
        ppl.compile_model(f"parameters {{ real a; }}\nmodel {{\n  target += {deep};\n}}\n")
    assert (caught.value.code, caught.value.line) == ("PPL190", 3)
