"""No variable has the axis of a loop besides one that the loop's iterations number."""

from contextlib import suppress

import pytest
from laws.cost.everyday import TEXTS
from laws.verifier.compilation import Verified
from laws.verifier.verify import Malformed

from ppl.model import Model
from ppl.optimise.draw_by_draw import DrawByDraw
from ppl.optimise.forms import FORMS
from ppl.optimise.passes import privatise
from ppl.source import SourceText

TWICE = (
    "an entry set and read by its iteration",
    "a row filled by an inner loop",
    "scratch of a branch, read in the loop",
    "quantities by row",
)


def in_every_form(text: str) -> None:
    model = Model(Verified(SourceText(text)))
    for form in FORMS.values():
        with suppress(DrawByDraw):
            model.program(form)


@pytest.mark.rotate
@pytest.mark.parametrize("name", TEXTS)
def test_everyday_loops_have_their_axis_once(name: str) -> None:
    in_every_form(TEXTS[name])


@pytest.mark.parametrize("name", TWICE)
def test_an_array_along_the_loop_that_is_taken_for_scratch_is_noticed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(privatise, "has_own_entries", lambda s, name: False)
    with pytest.raises(Malformed, match="an axis of the loop besides"):
        in_every_form(TEXTS[name])
