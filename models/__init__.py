"""Programs with small data, as package data: what `ppl new --example NAME` writes."""
