"""Skewed and bounded posteriors with exact quantiles: whether fits are right, or say that they are not."""
