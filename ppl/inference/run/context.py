"""What every stage of a fit is given beside its target."""

from ppl.inference.run.settings import Settings
from ppl.kernel.advi import context

Context = context.Context[Settings]
