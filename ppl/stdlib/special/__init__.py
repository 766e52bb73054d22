"""Special functions that SciPy lacks, or whose derivatives autograd lacks."""
