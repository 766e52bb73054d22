"""What `ppl build` keeps of a compilation in an executable, so that its runs load no grammar and no checker.

The `ppl` that built the executable uses it; any other compiles the program, whose text is there too.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ppl.backend.load import Code
from ppl.cmdstan.stored_json import NotStored, decoded, encoded
from ppl.distribution import VERSION
from ppl.ir.draw_by_draw import DrawByDraw
from ppl.ir.forms import DRAWS, GRADIENT, POINTS_KERNELS, POINTS_PROPTO, PROPTO, VALUES, Form
from ppl.ir.nodes import Program
from ppl.model import Model
from ppl.phases import Compilation
from ppl.program_text import read_source

FORMS = (VALUES, GRADIENT, PROPTO, POINTS_KERNELS, POINTS_PROPTO, DRAWS)
"""The forms that CmdStan's methods run."""
FACTS = ("calls_by_row", "calls_of_a_step", "solves_equations")
"""Properties of a model that are found by its passes."""


@dataclass(frozen=True, repr=False)
class Stored(Compilation):
    """A compilation whose last phases are those of an earlier one, read when they are first asked for."""

    discrete = None
    record: Mapping[str, Any] = field(default_factory=dict, kw_only=True, compare=False)

    @cached_property
    def lowered(self) -> Program:
        """The program as IR, before any pass."""
        lowered: Program = decoded(self.record["lowered"], self.source)
        return lowered

    def code(self, form: Form = VALUES) -> Code:
        """A form as Python code."""
        if form.name in self.record["forms"] and form.name not in self.codes:
            emitted = decoded(self.record["forms"][form.name], self.source)
            self.codes[form.name] = Code.of(emitted, self.source.name, self.softplus)
        return super().code(form)


def stored(model: Model) -> str:
    """JSON of a model's compilation; "" where there is none to keep.

    That is where it depends on data, calls functions that are made for it, or nests too deeply to be read.
    """
    if model.discrete is not None:
        return ""
    try:
        record = _record(model)
        text = json.dumps(record, separators=(",", ":"))
        decoded(json.loads(text)["lowered"], model.source)
    except (NotStored, RecursionError):
        return ""
    return text


def _record(model: Model) -> dict[str, Any]:
    forms, unavailable = {}, []
    for form in FORMS:
        try:
            forms[form.name] = encoded(model.code(form).emitted)
        except DrawByDraw:
            unavailable.append(form.name)
    return {
        "package": package(),
        "lowered": encoded(model.lowered),
        "forms": forms,
        "unavailable": unavailable,
        "facts": {name: getattr(model, name) for name in FACTS},
        "most_entries": model.compilation.most_entries,
    }


def stored_model(program: str | Path, text: str, softplus: bool) -> Model:
    """The model of a program: as `text`, which is that of `stored`, has it, or compiled.

    Raises:
        ModelError: the program is refused.
    """
    record = json.loads(text) if text else {}
    source = read_source(program)
    if record.get("package") != package():
        from ppl.compile import model_of

        return model_of(program, positive_transform="softplus" if softplus else "log")
    model = Model(Stored(source, softplus, most_entries=record["most_entries"], record=record))
    model.unavailable.update(record["unavailable"])
    vars(model).update(record["facts"])
    return model


def package() -> str:
    """A digest of the version, and of the size and time of each of the package's files."""
    files = "\n".join(_files(Path(__file__).parents[1]))
    return hashlib.sha256(f"{VERSION}\n{files}".encode()).hexdigest()


def _files(root: Path) -> Iterator[str]:
    for folder, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            if name.endswith(".py"):
                found = os.stat(os.path.join(folder, name))
                yield f"{name} {found.st_size} {found.st_mtime_ns}"
