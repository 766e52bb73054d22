"""The No-U-Turn sampler: chains by nutpie, and what they say of themselves."""
