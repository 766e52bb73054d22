"""What `ppl build` keeps of a compilation in an executable, so that its runs load no grammar and no checker.

The `ppl` that built the executable uses it; any other compiles the program, whose text is there too.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ppl.backend.load import Code
from ppl.backend.stored import NotStored, decoded, encoded
from ppl.distribution import VERSION
from ppl.ir.draw_by_draw import DrawByDraw
from ppl.ir.forms import DRAWS, GRADIENT, OF_POINTS, PROPTO, PROPTO_OF_POINTS, VALUES, Form
from ppl.model import Model
from ppl.source import read_source

FORMS = (VALUES, GRADIENT, PROPTO, OF_POINTS, PROPTO_OF_POINTS, DRAWS)
"""The forms that CmdStan's methods run."""
FACTS = ("calls_by_row", "calls_of_a_step", "solves_equations")
"""Properties of a model that are found by its passes."""


@dataclass(frozen=True, repr=False)
class Stored(Model):
    """A model whose forms are those of an earlier compilation, read when they are first asked for."""

    forms: Mapping[str, Any] = field(default_factory=dict, repr=False, kw_only=True)

    def code(self, form: Form) -> Code:
        """A form as Python code."""
        whole = self.origin is not None and not self.parted  # else it is another program
        if whole and form.name in self.forms and form.name not in self.codes:
            emitted = decoded(self.forms[form.name], self.source)
            self.codes[form.name] = Code.of(emitted, self.source.name, self.softplus)
        return super().code(form)


def stored(model: Model) -> str:
    """JSON of a model's compilation; "" where there is none to keep.

    That is where it depends on data, calls functions that are made for it, or nests too deeply to be read.
    """
    if model.discrete is not None or model.origin is None:
        return ""
    try:
        record = _record(model)
        text = json.dumps(record, separators=(",", ":"))
        decoded(json.loads(text)["lowered"], model.source)
    except (NotStored, RecursionError):
        return ""
    return text


def _record(model: Model) -> dict[str, Any]:
    forms, missing = {}, []
    for form in FORMS:
        try:
            forms[form.name] = encoded(model.code(form).emitted)
        except DrawByDraw:
            missing.append(form.name)
    return {
        "package": package(),
        "lowered": encoded(model.lowered),
        "forms": forms,
        "missing": missing,
        "facts": {name: getattr(model, name) for name in FACTS},
        "most": model.origin[1][4] if model.origin else None,
    }


def compiled(program: str | Path, text: str, softplus: bool) -> Model:
    """The model of a program: as `text`, which is that of `stored`, has it, or compiled.

    Raises:
        ModelError: the program is refused.
    """
    record = json.loads(text) if text else {}
    source = read_source(program)
    if record.get("package") != package():
        from ppl.compile import model_of

        return model_of(program, positive_transform="softplus" if softplus else "log")
    origin: Any = compiled_anew, (source, softplus, frozenset(), None, record["most"])
    lowered = decoded(record["lowered"], source)
    model = Stored(source, lowered, softplus, origin=origin, forms=record["forms"])
    model.missing.update(record["missing"])
    vars(model).update(record["facts"])
    return model


def compiled_anew(*args: Any) -> Model:
    """See `compile.compile_source`: copies of a model are compiled."""
    from ppl.compile import compile_source

    return compile_source(*args)


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
