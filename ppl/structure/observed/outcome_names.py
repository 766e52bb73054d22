"""Names of outcomes, for what reads results without the compiler."""

JOINED = " + "
"""Between the names of outcomes whose densities are added up by row."""
