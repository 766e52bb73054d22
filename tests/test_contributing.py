"""The recipes of CONTRIBUTING and of the pages beside the code, followed in a copy of the package."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ppl.records import dataclass

ROOT = Path(__file__).parents[1]
PAGES = (
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("ppl/**/README.md")),
    ROOT / "tests" / "README.md",
    ROOT / "cli" / "README.md",
)
CONTRIBUTING = "\n".join(page.read_text("utf-8") for page in PAGES)
Edit = Callable[[str], str]


def before(*places: tuple[str, str]) -> Edit:
    """Put texts before others, wherever these stand."""

    def edit(text: str) -> str:
        for line, new in places:
            assert line in text, line
            text = text.replace(line, new + line)
        return text

    return edit


@dataclass(frozen=True)
class Recipe:
    """Its heading, a new file, what goes into others, and a script that runs with the copy."""

    heading: str
    file: str
    text: str
    edits: Mapping[str, Edit]
    works: str


DECREASING = """
from ppl.arrays import NUMPY
from ppl.stdlib.constraints.conditions import Condition, constraint
from ppl.stdlib.constraints.ordered import ORDERED
from ppl.stdlib.constraints.record import ConstraintPage


def constrain(xp, u, shape):
    x, log_jacobian = ORDERED.constrain(xp, u, shape)
    return -x, log_jacobian


def unconstrain(x, shape, xp=NUMPY):
    return ORDERED.unconstrain(-x, shape, xp=xp)


FALLS = Condition(lambda xp, x: x[..., 1:] < x[..., :-1], lambda x, k: f"rises after [{k[0] + 1}]")
DECREASING = constraint(
    keyword="decreasing",
    meaning="a decreasing vector",
    constrain=constrain,
    unconstrain=unconstrain,
    conditions=(FALLS,),
    value="vector",
    page=ConstraintPage("decreasing[K] x;", "K", ("x = -y, where y is ordered",), "that of y", (3,)),
)
"""
ADDS_A_CONSTRAINT = '''
import numpy as np
import ppl
from ppl.cli.lsp.expected import WORDS
from ppl.errors import DataError, ModelError

model = ppl.compile_model("""
data { decreasing[2] d; }
parameters { decreasing[3] x; }
transformed parameters {
  decreasing[3] y = decreasing_jacobian(decreasing_unconstrain(x));
}
model { x ~ normal(0, 1); }
""")
said = []
for mistake in (
    lambda: model.condition({"d": [1.0, 2.0]}), lambda: ppl.compile_model("data { decreasing x; }")
):
    try:
        mistake()
    except (DataError, ModelError) as error:
        said.append(str(error))
assert "rises after [1]" in said[0] and "`decreasing` needs its size" in said[1], said
posterior = model.condition({"d": [2.0, 1.0]})
x = posterior.param_constrain(np.array([0.1, 0.2, 0.3]), include_tp=True)
assert (np.diff(x[:3]) < 0).all() and np.allclose(x[:3], x[3:]) and "decreasing" in WORDS
'''

HALVED = """
from ppl.stdlib.record import Function, unary

FUNCTIONS: tuple[Function, ...] = (unary("halved", "x / 2", lambda xp, x: x / 2.0),)
"""
ADDS_A_FUNCTION = """
import numpy as np
import ppl

model = ppl.compile_model("parameters { vector[2] x; } model { halved(x) ~ normal(0, 1); }")
assert np.allclose(model.condition({}).log_density_gradient([2.0, 4.0])[1], [-0.5, -1.0])
"""

TRIANGLE = """
from ppl.stdlib.record import continuous, guarded, supported


def log_density(xp, y, width):
    inside = xp.np.abs(y) < width
    height = xp.np.where(inside, width - xp.np.abs(y), 1.0)
    return guarded(xp, width > 0, supported(xp, inside, xp.np.log(height) - 2.0 * xp.np.log(width)))


TRIANGLE = continuous(
    name="triangle",
    meaning="a triangle around zero",
    args=(("y", "real"), ("width", "positive")),
    log_density=log_density,
    rng=lambda rng, width: rng.triangular(-width, 0.0, width),
)
"""
ADDS_A_DISTRIBUTION = """
import numpy as np
import ppl
from ppl.cli.site.densities import PICTURES
from ppl.stdlib.reference import reference
model = ppl.compile_model("parameters { real y; } model { y ~ triangle(2); }")
assert np.isclose(model.condition({}).log_density([1.0]), np.log(0.25))
assert "log(width - abs(y))" in reference()["triangle"] and "triangle" in PICTURES
"""

HARMONIC = """
from ppl.records import dataclass

from ppl.arrays import NUMPY


@dataclass(frozen=True)
class Harmonic:
    eta: float

    def init(self, params):
        return 0

    def step(self, state, params, gradient, xp=NUMPY):
        return params + self.eta / (state + 1) * gradient, state + 1
"""
ADDS_A_STEP_RULE = """
import ppl
posterior = ppl.compile_model("parameters { real y; } model { y ~ normal(1, 1); }").condition({})
fit = posterior.variational(algorithm="meanfield", step_rule="harmonic", iter=200, eta=0.5, seed=1)
assert abs(fit.stan_variable("y").mean() - 1) < 0.5
"""

STDLIB = "ppl/stdlib"
RECIPES = (
    Recipe(
        "Adding a constraint",
        f"{STDLIB}/constraints/decreasing.py",
        DECREASING,
        {
            f"{STDLIB}/constraints/table.py": before(
                (
                    "from ppl.stdlib.constraints.identity",
                    "from ppl.stdlib.constraints.decreasing import DECREASING\n",
                ),
                ("POSITIVE_ORDERED, SIMPLEX", "DECREASING, "),
            ),
            "grammar/model.lark": before(
                ("ordered|positive_ordered", "decreasing|"), ("(positive_)?ordered", "decreasing|")
            ),
            "grammar/ppl.tmLanguage.json": before(("(positive_)?ordered", "decreasing|")),
        },
        ADDS_A_CONSTRAINT,
    ),
    Recipe(
        "Adding a function",
        f"{STDLIB}/functions/halves.py",
        HALVED,
        {f"{STDLIB}/functions/table.py": before(("    hmm,\n", "    halves,\n"), (" hmm),\n", " halves,"))},
        ADDS_A_FUNCTION,
    ),
    Recipe(
        "Adding a distribution",
        f"{STDLIB}/distributions/triangle.py",
        TRIANGLE,
        {
            f"{STDLIB}/distributions/table.py": before(
                (
                    "from ppl.stdlib.distributions.uniform",
                    "from ppl.stdlib.distributions.triangle import TRIANGLE\n",
                ),
                ("UNIFORM,", "TRIANGLE, "),
            ),
            f"{STDLIB}/distributions/formulas.py": before(
                ('    "normal":', '    "triangle": "log(width - abs(y)) - 2 * log(width)",\n')
            ),
            "cli/site/distributions.toml": before(
                ("std_normal =", "triangle = { low = -3, high = 3, curves = [[1], [2]] }\n")
            ),
        },
        ADDS_A_DISTRIBUTION,
    ),
    Recipe(
        "Adding a step rule or a stopping rule",
        "ppl/kernel/advi/steps/harmonic.py",
        HARMONIC,
        {
            "ppl/kernel/advi/steps/__init__.py": before(
                (
                    "from ppl.kernel.advi.steps.adaptive",
                    "from ppl.kernel.advi.steps.harmonic import Harmonic\n",
                ),
                ('    "adam": Adam', '    "harmonic": Harmonic,\n'),
            ),
            "ppl/methods/run/settings.py": before(('"adam", "rmsprop"', '"harmonic", ')),
        },
        ADDS_A_STEP_RULE,
    ),
)


def test_contributing_is_short():
    assert len(PAGES[0].read_text("utf-8").split()) <= 1500


def section(heading: str) -> str:
    return CONTRIBUTING.partition(f"## {heading}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda r: r.heading)
def test_a_recipe_names_every_place(recipe):
    """A path by itself, or its end after a path of the section: `formulas.py` there."""
    named = re.findall(r"`([\w./]+)`", section(recipe.heading))
    assert f"{Path(recipe.file).parent}/" in named
    for path in recipe.edits:
        assert any(path.endswith(name) and name for name in named), f"{recipe.heading} does not name {path}"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The package as it is installed, with every new member."""
    folder = tmp_path_factory.mktemp("package")
    for source, target in (("ppl", "ppl"), ("cli", "ppl/cli"), ("grammar", "ppl/grammar")):
        shutil.copytree(ROOT / source, folder / target)
    for recipe in RECIPES:
        for path, edit in {**recipe.edits, recipe.file: lambda _, text=recipe.text: text}.items():
            file = folder / re.sub(r"^(cli|grammar)/", r"ppl/\1/", path)
            file.write_text(edit(file.read_text("utf-8") if file.exists() else ""), "utf-8")
    json.loads((folder / "ppl/grammar/ppl.tmLanguage.json").read_text("utf-8"))
    return folder


@pytest.mark.rotate
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda r: r.heading)
def test_nothing_else_is_needed(recipe, copy):
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(copy)!r})\n{recipe.works}"],
        cwd=copy,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_the_files_that_it_names_are_there():
    named = re.findall(r"`((?:ppl|cli|grammar|tests|models)/[\w./-]+)`", CONTRIBUTING)
    assert len(named) > 100
    assert [name for name in named if not (ROOT / name).exists() and not re.search("[A-Z]{4}", name)] == []
