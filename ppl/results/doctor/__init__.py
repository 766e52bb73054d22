"""Examines a model against its data without a reference: `ppl doctor`, `fit.doctor()`."""
