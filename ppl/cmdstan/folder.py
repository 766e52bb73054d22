"""A folder of the shape of CmdStan's, so that CmdStanPy and CmdStanR take ppl for one."""

from pathlib import Path

from ppl.cmdstan.help import FLAGS
from ppl.cmdstan.launcher import Launched
from ppl.files import write_whole
from ppl.results.files.config import STAN_VERSION

TOOLS = {"stanc": "stanc", "stansummary": "stansummary", "diagnose": "diagnose", "build": "make"}
"""The programs in the folder `bin`, and the module of ppl.cmdstan.tools that each runs."""

TOOL = """\
from ppl.cmdstan.tools.{module} import main
from ppl.cmdstan.tools.run import run

sys.exit(run(main, sys.argv))
"""

MAKEFILE = """\
# Written by `ppl build --cmdstan`. Clients read the version here; `make /path/to/model` makes an executable
# of /path/to/model.stan, as CmdStan's own makefile does. Its flags, such as STAN_THREADS=1, are words of
# `make` or lines of make/local.
CMDSTAN_VERSION := {version}

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
-include make/local
FLAGS := $(foreach flag,{flags},$(if $($(flag)),--flag=$(flag)))
.PHONY: build
build: ;
makefile make/local: ;
%.stan: ;

%: %.stan
\t./bin/build $(STANCFLAGS) $(FLAGS) $< $@
"""

BERNOULLI = {
    "bernoulli.stan": """\
data {
  int<lower=0> N;
  array[N] int<lower=0, upper=1> y;
}
parameters {
  real<lower=0, upper=1> theta;
}
model {
  theta ~ beta(1, 1);
  y ~ bernoulli(theta);
}
""",
    "bernoulli.data.json": '{"N": 10, "y": [0, 1, 0, 0, 0, 0, 0, 0, 0, 1]}\n',
}
"""The example that the documents of CmdStan's clients begin with."""


def write_folder(folder: Path) -> None:
    """Write makefile, tools and example into `folder`, which is made where it is not there.

    Raises:
        OSError: a file cannot be written.
    """
    example = folder / "examples" / "bernoulli"
    for each in (folder / "bin", example):
        each.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "makefile", [MAKEFILE.format(version=".".join(STAN_VERSION), flags=" ".join(FLAGS))])
    for name, module in TOOLS.items():
        Launched(TOOL.format(module=module)).write(folder / "bin" / name)
    for name, text in BERNOULLI.items():
        write_whole(example / name, [text])
