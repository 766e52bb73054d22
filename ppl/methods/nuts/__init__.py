"""Chains of the No-U-Turn sampler by nutpie, and what they say of themselves."""
