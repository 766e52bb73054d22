"""What was run, as CmdStan's configuration has it, and the shapes of the program's variables."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ppl.density.log_density import LogDensity
from ppl.results.files.config import Config, as_json


@dataclass(frozen=True)
class Metadata:
    """What was run, by CmdStan's names.

    `cmdstan_config` is the content of its `_config.json`, `stan_vars` the shape of each variable by name.
    """

    cmdstan_config: Mapping[str, Any]
    stan_vars: Mapping[str, tuple[int, ...]]


def metadata_of(posterior: LogDensity, config: Config) -> Metadata:
    shapes = {v.name: v.shape for v in posterior.declared(include_tp=True, include_gq=True)}
    return Metadata(json.loads(as_json(config)), shapes)
