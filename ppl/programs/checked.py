"""Programs checked, their syntax errors explained."""

from functools import partial

from ppl.kernel.language import check
from ppl.programs.explained import read

analyse = partial(check.analyse, read=read)
examine = partial(check.examine, read=read)
