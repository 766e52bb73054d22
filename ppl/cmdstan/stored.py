"""The compilation that `ppl build` stores in an executable, so that its runs load no grammar and no checker.

The `ppl` that built the executable uses it; any other compiles the program, whose text is there too.
"""

import json
from contextlib import suppress
from pathlib import Path

from ppl.compilation.phases import Compilation
from ppl.compilation.programs import Record, StoredProgram, package
from ppl.kernel.language.include import read_source
from ppl.model import Model
from ppl.optimise.draw_by_draw import DrawByDraw
from ppl.optimise.forms import DRAWS, GRADIENT, POINTS_GRADIENT, POINTS_PROPTO, PROPTO, VALUES

FORMS = (VALUES, GRADIENT, PROPTO, POINTS_GRADIENT, POINTS_PROPTO, DRAWS)
"""The forms that CmdStan's methods run."""


def stored(program: str | Path) -> str:
    """JSON of the parts of a program's compilation.

    Raises:
        ModelError: the program is refused.
    """
    from ppl.compile import build_model

    source, record = read_source(program), Record()
    model = build_model(Compilation(source, record=StoredProgram(record, (source,))))
    for form in FORMS:
        with suppress(DrawByDraw):
            model.code_of(form)
    assert model.traits
    return json.dumps({"package": package(), "parts": record.parts}, separators=(",", ":"))


def stored_model(program: str | Path, text: str, softplus: bool) -> Model:
    """The model of a program: as `text`, which is that of `stored`, has it, or compiled.

    Raises:
        ModelError: the program is refused.
    """
    held = json.loads(text) if text else {}
    if held.get("package") != package():
        from ppl.compile import model_of

        return model_of(program, positive_transform="softplus" if softplus else "log")
    source = read_source(program)
    return Model(Compilation(source, softplus, record=StoredProgram(Record(held["parts"]), (source,))))
