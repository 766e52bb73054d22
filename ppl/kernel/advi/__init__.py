"""ADVI: families, estimators, step rules, stopping rules, and the one stochastic loop."""
