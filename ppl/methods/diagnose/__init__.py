"""The quality of a fit: Pareto k-hat, R-hat, other modes, the verdict."""
