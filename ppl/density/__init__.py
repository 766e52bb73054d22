"""The log density of a compiled program with its data, at one point or at many, and its variables."""
