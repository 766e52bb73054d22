"""Independence: programs rewritten by the terms of their target and the variables that each term reads."""
