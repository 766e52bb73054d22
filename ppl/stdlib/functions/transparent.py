"""Functions whose results depend on the shapes of their arguments alone."""

from ppl.stdlib.functions import fills, sizes

TRANSPARENT = frozenset({fills.rep_array, *(o.impl for f in sizes.FUNCTIONS for o in f.overloads)})
"""What asks for shapes alone or is made of operators: any value that has those will do."""
