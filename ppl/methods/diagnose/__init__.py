"""What a fit is worth: Pareto k-hat, R-hat, other modes, the verdict."""
