"""The journal of a run as a file: written whole or not at all, and read to go on after an interruption."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from numpy.random import Generator

from ppl.density.log_density import LogDensity
from ppl.errors import DataError
from ppl.files import remove, write_whole
from ppl.kernel.advi.context import Journal
from ppl.kernel.advi.outcome import Listener, Progress
from ppl.late import LateModule, tempfile
from ppl.methods.run.settings import Settings
from ppl.records import asdict, dataclass, field, replace
from ppl.run.checksum import damage_reported, plain, read_record, with_checksum
from ppl.run.identity import identity, refuse_mismatch
from ppl.run.keywords import SECONDS_A_WRITE

state_json = LateModule("ppl.run.state_json")

FORMAT = "ppl checkpoint 2"

MOST_CHILDREN = 10_000
"""Children that the seed of a generator has at most: Sobol's sequences take a few dozen."""
WRITES_APART = 20
"""Times as long as a write took before the next one: 5% of a run goes into them at most."""
ANEW = "; start again without resuming"


@dataclass(frozen=True)
class CheckpointOptions:
    """Where a run keeps its checkpoint, whether it goes on from what is there, seconds between two writes."""

    path: Path
    resume: bool = False
    every: float = SECONDS_A_WRITE

    def of_run(self, k: int) -> "CheckpointOptions":
        """That of run 0, 1, ... of several."""
        return replace(self, path=self.path.with_name(f"{self.path.name}.{k + 1}"))

    def discard(self, runs: int) -> None:
        """Remove the checkpoint of the one run, or those of all."""
        for journal in [self] if runs == 1 else map(self.of_run, range(runs)):
            remove(journal.path)


class StoredStage(NamedTuple):
    """The state of a stage, and where each of its generators stood."""

    state: Any
    generators: tuple[Any, ...]


@dataclass
class Checkpoint(Journal):
    """A journal that writes itself to its file every so many seconds; None for nowhere.

    `owner` says whose run it is, when it is to be written: the data have to be gone through for that.
    `resumed` is the file that the stages are from. `written` is when the last write ended, `seconds` what it
    took, `trouble` why it failed: a run goes on without its checkpoint.
    """

    path: Path | None
    owner: Callable[[], Mapping[str, Any]] = dict
    every: float = SECONDS_A_WRITE
    stages: dict[str, StoredStage] = field(default_factory=dict)
    resumed: Path | None = None
    written: float = field(default_factory=monotonic)
    seconds: float = 0.0
    unwritten: bool = False
    trouble: OSError | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for the user where the file could not be written."""
        if self.trouble is None:
            return ()
        return (f"The checkpoint {self.path} could not be written ({self.trouble.strerror}).",)

    def recall(self, stage: str, *generators: Generator) -> Any:
        recorded = self.stages.get(stage)
        if recorded is None:
            return None
        for generator, place in zip(generators, recorded.generators, strict=True):
            _set(generator, place)
        return recorded.state

    def record(self, stage: str, state: Any, *generators: Generator) -> None:
        if self.path is None:
            return
        self.stages[stage] = StoredStage(state, tuple(map(_place, generators)))
        self.unwritten = True
        self.write_in_time()

    def write_in_time(self) -> None:
        """Write what is new if the last write is long enough ago: the next stage may take hours."""
        apart = max(self.every, WRITES_APART * self.seconds) if self.every else 0.0
        if self.unwritten and monotonic() - self.written >= apart:
            self.write()

    @contextmanager
    def following(self, listen: Listener) -> Iterator[Listener]:
        """A listener that writes a run in time, and if it is interrupted; refuses states of other runs."""

        def writing(report: Progress) -> None:
            self.write_in_time()
            listen(report)

        try:
            with damage_reported(self.resumed, ANEW):
                yield writing
        except (KeyboardInterrupt, SystemExit):
            self.write()
            raise

    def write(self) -> None:
        """Put everything recorded so far in the file; where that fails, an older one stays."""
        if self.path is None or not self.stages:
            return
        began = monotonic()
        try:
            self._write(self.path)
            self.trouble = None
        except OSError as error:
            self.trouble = error
        self.written, self.unwritten = monotonic(), False
        self.seconds = self.written - began

    def rescue(self) -> Path | None:
        """Keep the run where there is room: the file it is then in, or None.

        That is its own, in an older state if need be, or else one of the same name among temporary files.
        """
        if self.path is None or not self.stages:
            return None
        self.write()
        if self.path.exists():
            return self.path
        try:
            elsewhere = Path(tempfile.mkdtemp(prefix="ppl-")) / self.path.name
            self._write(elsewhere)
        except OSError:
            return None
        return elsewhere

    def _write(self, path: Path) -> None:
        write_whole(path, [as_text(self.owner(), self.stages), "\n"])


def _place(rng: Generator) -> dict[str, Any]:
    """Where a generator stands: its state, and how many children its seed has, for Sobol's takes one each."""
    bits: Any = rng.bit_generator
    return {"state": bits.state, "children": bits.seed_seq.n_children_spawned}


def _set(rng: Generator, place: Mapping[str, Any]) -> None:
    bits: Any = rng.bit_generator
    bits.state = place["state"]
    if place["children"] > MOST_CHILDREN:
        raise ValueError(f"children = {place['children']}")
    bits.seed_seq.spawn(place["children"] - bits.seed_seq.n_children_spawned)


def as_text(owner: Mapping[str, Any], stages: Mapping[str, StoredStage]) -> str:
    """One JSON object; `stages_of` has the stages back from it, to the last bit."""
    coded = {k: {"state": state_json.encode(s.state), "generators": s.generators} for k, s in stages.items()}
    return json.dumps(with_checksum({"format": FORMAT, **owner, "stages": coded}))


def stages_of(record: Mapping[str, Any]) -> dict[str, StoredStage]:
    """The stages in a record that was read; KeyError, TypeError or ValueError for one that is damaged."""
    return {
        k: StoredStage(state_json.decode(s["state"]), tuple(s["generators"]))
        for k, s in record["stages"].items()
    }


def journal_of(
    options: CheckpointOptions | None, settings: Settings, owner: Callable[[Settings], Mapping[str, Any]]
) -> Checkpoint:
    """The journal of a run: empty or, to resume, with what was left at the path where there is anything.

    Raises:
        DataError: the file is no checkpoint, or that of another program, other data or other settings.
    """
    if options is None:
        return Checkpoint(None)
    own, path = cache(lambda: owner(settings)), options.path
    left, writes = options.resume and path.exists(), True
    text = path.read_text("utf-8", errors="replace") if left else None
    if settings.sharded:
        from ppl.jax_backend.processes import from_first, is_first

        text = from_first(text)
        writes = is_first()
    stages = {} if text is None else _read(path, text, own())
    return Checkpoint(path if writes else None, own, options.every, stages, path if stages else None)


def _read(path: Path, text: str, owner: Mapping[str, Any]) -> dict[str, StoredStage]:
    """The stages in a checkpoint of this very run."""
    record = read_record(path, "checkpoint", FORMAT, text)
    with damage_reported(path, ANEW):
        refuse_mismatch(path, record, owner)
        _refuse_other_settings(path, record["settings"], owner["settings"])
        return stages_of(record)


def _refuse_other_settings(path: Path, theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> None:
    for name, value in mine.items():
        if theirs.get(name) != value:
            raise DataError(
                f"{path} belongs to a run with {name} = {theirs.get(name)}, not {value}. "
                "Resume with the settings of that run, or start again without resuming."
            )


def require_same_run(owner: Mapping[str, Any]) -> None:
    """Refuse to begin where another process of the run has another program, other data or other settings.

    Raises:
        InferenceError: one has; it is named.
    """
    from ppl.jax_backend.processes import require_same

    require_same(**{name: repr(value) for name, value in owner.items()})


def owner_of(posterior: LogDensity, settings: Settings) -> dict[str, Any]:
    """Whose run a checkpoint is."""
    decisive = replace(settings, cores=None)  # the same comes of any number
    own = identity(posterior)
    return {"program": posterior.model.source.name, **own, "settings": plain(asdict(decisive))}
