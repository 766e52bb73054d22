"""The pages that are made of the records."""

from pathlib import Path

from laws.every import every

from ppl.stdlib.constraints.table import CONSTRAINTS
from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.stdlib.library import standard
from ppl.stdlib.reference import location, one_line, reference

ROOT = Path(__file__).parents[2]


def test_every_word_has_a_page():
    words = {*standard().callees, *(d.name for d in DISTRIBUTIONS), *(c.keyword for c in CONSTRAINTS)}
    assert set(reference()) == words


@every("name", standard().callees)
def test_a_page_has_every_signature_and_fits_the_screen(name):
    lines = reference()[name].splitlines()
    callee = standard().callees[name]
    assert lines[0].startswith(f"{name}: ") and callee.record.meaning in lines[0]
    assert sum(f" {name}(" in line for line in lines[1:]) >= len({o.signature for o in callee.overloads})
    assert max(map(len, lines[1:])) <= 110


def test_the_code_that_is_named_is_there():
    for callee in standard().callees.values():
        for overload in callee.overloads:
            path, _, line = location(overload.impl).partition(":")
            text = (ROOT / path).read_text().splitlines()
            assert not line or any(
                w in " ".join(text[int(line) - 1 : int(line) + 8]) for w in ("def ", "lambda")
            )


def test_pages_read_as_they_should():
    assert reference()["normal_lpdf"].splitlines()[2] == "  real normal_lpdf(reals | reals, reals)"
    assert reference()["normal_rng"].startswith("normal_rng: a draw: normal with mean mu")
    assert "  sigma    is positive and finite" in reference()["normal"]
    assert "  y ~ normal(mu, sigma);" in reference()["normal"]
    assert reference()["beta"].count("Computed by") == 2, "a function and a distribution share the name"
    assert reference()["lower_upper"].splitlines()[2] == "  real<lower=a, upper=b> x;"
    assert one_line("logit") == "logit                        log(x / (1 - x))"
