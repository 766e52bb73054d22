"""The context of every stage of a fit, beside its target."""

from ppl.kernel.advi import context
from ppl.methods.run.settings import Settings

Context = context.Context[Settings]
